"""What another process does to the file while `claim` is at work: it acts before any one of the statements that reach it,
at every look at the clock, and while what was read is made a job."""

import json
import sqlite3
import threading

import pytest

from tasklane import Queue, State, Store

NEXT = " (SELECT id FROM jobs WHERE {} ORDER BY priority DESC, due, id LIMIT 1)"
TAKE = "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = 9e9 WHERE id =" + NEXT + " RETURNING id"
CLAIMABLE = "(state = 'ready' AND due <= {0}) OR (state = 'running' AND lease_until <= {0})"


class OtherProcess:
    """A plain connection to the file, which waits for nobody."""

    def __init__(self, path, clock):
        self.clock = clock
        self.connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        self.taken = []

    def act(self, statement):
        """Whether the file was free for this statement."""
        try:
            self.taken += [row[0] for row in self.connection.execute(statement).fetchall()]
        except sqlite3.OperationalError:
            return False
        return True

    def take(self):
        """Claim the job that comes next, as long as the file is not locked."""
        return self.act(TAKE.format(CLAIMABLE.format(self.clock.now)))

    def take_all(self):
        """The ids of all jobs that it ever took, when there is nothing left to take."""
        before = None
        while before != len(self.taken):
            before = len(self.taken)
            self.take()
        return self.taken

    def take_and_fail(self):
        """Claim the job that comes next, and have it ready again for another attempt, which is not due."""
        if self.take():
            self.act("UPDATE jobs SET state = 'ready', due = 5000, lease_until = NULL WHERE state = 'running'")

    def remove(self):
        """Finish the job that comes next and purge it."""
        self.act("DELETE FROM jobs WHERE id =" + NEXT.format(CLAIMABLE.format(self.clock.now)))


class Moments:
    """Calls `act` once, at the n-th statement that a watched connection is about to begin."""

    def __init__(self):
        self.left, self.act = 0, None

    def watch(self, connection):
        connection.set_trace_callback(self.passed)
        return connection

    def passed(self, statement):
        self.left -= 1
        if self.left == 0:
            self.act()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jobs.db"


@pytest.fixture
def moments(monkeypatch):
    seen, connect = Moments(), sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **words: seen.watch(connect(*args, **words)))
    return seen


@pytest.fixture
def other(path, clock, queue, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", sqlite3.Connection)
        return OtherProcess(path, clock)


@pytest.fixture
def queue(path, clock, moments):
    return Queue(Store(path, timeout_s=60), clock=clock, lease_s=30)


def claimed(queue, moments, moment, act):
    """What `claim` returns where somebody acts before its n-th statement."""
    moments.left, moments.act = moment, act
    job = queue.claim()
    moments.left = 0
    return job


def interrupted(queue, moment, act):
    """What `claim` returns where somebody acts at the n-th time that the queue looks at its clock."""
    seen, clock = [], queue.clock

    def looked():
        seen.append(1)
        if len(seen) == moment:
            act()
        return clock()

    queue.clock = looked
    job = queue.claim()
    queue.clock = clock
    return job


def ids(job):
    return [job.id] if job else []


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5])
def test_one_job_is_given_to_one_process(queue, other, moments, moment):
    put = queue.put("job")
    job = claimed(queue, moments, moment, other.take)
    assert [*ids(job), *other.taken] == [1]
    assert queue.get(put.id).attempts == 1


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("count", [2, 3])
def test_every_job_is_given_once_and_to_one_process(queue, other, moments, count, moment):
    for _ in range(count):
        queue.put("job")
    job = claimed(queue, moments, moment, other.take)
    assert job is not None
    assert sorted([*ids(job), *other.take_all()]) == list(range(1, count + 1))
    assert [queue.get(number).attempts for number in range(1, count + 1)] == [1] * count


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5])
def test_a_lease_that_ran_out_is_given_to_one_process(queue, other, moments, clock, moment):
    queue.put("job")
    assert queue.claim().attempts == 1
    clock.advance(30)
    job = claimed(queue, moments, moment, other.take)
    assert [*ids(job), *other.taken] == [1]
    assert queue.get(1).attempts == 2


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5])
def test_who_comes_too_late_for_a_lease_gets_the_next_one(queue, other, moments, clock, moment):
    for _ in range(2):
        queue.put("job")
        queue.claim()
    clock.advance(30)
    job = claimed(queue, moments, moment, other.take)
    assert job is not None
    assert sorted([*ids(job), *other.take_all()]) == [1, 2]
    assert [queue.get(number).attempts for number in (1, 2)] == [2, 2]


@pytest.mark.parametrize("moment", [2, 3, 4, 5])
def test_an_attempt_that_failed_meanwhile_is_counted(queue, other, moments, moment):
    queue.put("job")
    job = claimed(queue, moments, moment, other.take_and_fail)
    found = queue.get(1)
    assert found.attempts == 1
    assert (found.state, found.due) == ((State.RUNNING, 1000.0) if job else (State.READY, 5000.0))


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5])
def test_a_job_that_is_removed_meanwhile_is_not_given(queue, other, moments, moment):
    for _ in range(2):
        queue.put("job")
    job = claimed(queue, moments, moment, other.remove)
    assert queue.get(job.id) == job
    assert (job.state, job.attempts, job.lease_until) == (State.RUNNING, 1, 1030.0)


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_a_file_that_is_held_for_a_moment_is_waited_for(queue, other, moments, path, moment):
    """Somebody begins to write, and ends it a little later from a thread."""
    holder = sqlite3.Connection(path, timeout=60, isolation_level=None, check_same_thread=False)
    holder.execute("PRAGMA busy_timeout = 0")
    ending = threading.Timer(0.05, lambda: holder.execute("COMMIT"))

    def hold():
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return
        holder.execute("PRAGMA busy_timeout = 60000")
        ending.start()

    queue.put("job")
    job = claimed(queue, moments, moment, hold)
    if ending.ident:
        ending.join()
    holder.close()
    assert (job.id, job.state, job.attempts) == (1, State.RUNNING, 1)
    assert queue.get(1) == job


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_the_clock_is_no_moment_either(queue, other, moment):
    put = queue.put("job")
    job = interrupted(queue, moment, other.take)
    assert [*ids(job), *other.taken] == [1]
    assert queue.get(put.id).attempts == 1


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_who_comes_too_late_gets_the_next_job(queue, other, moment):
    for _ in range(3):
        queue.put("job")
    job = interrupted(queue, moment, other.take)
    assert job is not None
    assert sorted([*ids(job), *other.take_all()]) == [1, 2, 3]


@pytest.mark.parametrize("moment", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2])
def test_a_job_is_not_taken_while_it_is_read(queue, other, monkeypatch, count, moment):
    seen = []
    for number in range(count):
        queue.put("job", {"n": number})
    loads = json.loads

    def interrupted_loads(text):
        seen.append(text)
        if len(seen) == moment:
            other.take()
        return loads(text)

    monkeypatch.setattr(json, "loads", interrupted_loads)
    job = queue.claim()
    monkeypatch.undo()
    assert sorted([*ids(job), *other.take_all()]) == list(range(1, count + 1))
    assert [queue.get(number).attempts for number in range(1, count + 1)] == [1] * count


def test_the_order_stays(queue):
    for priority in (1, 5, 3):
        queue.put("job", priority=priority)
    assert [queue.claim().priority for _ in range(3)] == [5, 3, 1]
    assert queue.claim() is None


def test_a_lease_that_ran_out_is_claimed_again(queue, clock):
    queue.put("job")
    assert queue.claim().attempts == 1
    clock.advance(30)
    job = queue.claim()
    assert (job.state, job.attempts, job.lease_until) == (State.RUNNING, 2, 1060.0)
    assert queue.get(job.id) == job


def test_the_file_is_free_after_a_claim(queue, other):
    queue.put("job")
    queue.put("job")
    assert queue.claim().id == 1
    other.take()
    assert other.taken == [2]


def test_the_file_is_free_after_a_claim_of_nothing(queue, other):
    assert queue.claim() is None
    assert other.act("INSERT INTO jobs SELECT 7, 'job', 'null', 0, 'ready', 0, 3, 0, 0, NULL, NULL, ''") is True
    assert queue.claim().id == 7
