import sqlite3

import pytest

import tasklane
from tasklane import Queue, State, Store, TasklaneError


def end(queue, how, job):
    return queue.done(job) if how == "done" else queue.failed(job, "too late")


def test_the_error_belongs_to_the_package():
    assert issubclass(tasklane.LeaseLost, TasklaneError)


@pytest.mark.parametrize("how", ["done", "failed"])
def test_a_late_worker_changes_nothing(queue, clock, how):
    queue.put("job")
    late = queue.claim()
    clock.advance(30)
    current = queue.claim()
    with pytest.raises(tasklane.LeaseLost):
        end(queue, how, late)
    assert queue.get(current.id) == current
    assert queue.claim() is None


@pytest.mark.parametrize("how", ["done", "failed"])
def test_the_current_worker_can_still_end_it(queue, clock, how):
    queue.put("job")
    late = queue.claim()
    clock.advance(30)
    current = queue.claim()
    with pytest.raises(tasklane.LeaseLost):
        end(queue, how, late)
    assert queue.failed(current, "no luck").state is State.READY
    assert queue.get(current.id).attempts == 2


@pytest.mark.parametrize(("first", "second"), [("done", "done"), ("done", "failed"), ("failed", "done")])
def test_an_attempt_ends_once(queue, first, second):
    queue.put("job")
    job = queue.claim()
    ended = end(queue, first, job)
    with pytest.raises(tasklane.LeaseLost):
        end(queue, second, job)
    assert queue.get(job.id) == ended


def test_a_job_that_is_gone(queue, clock):
    queue.put("job")
    job = queue.claim()
    queue.done(job)
    clock.advance(100)
    assert queue.purge(50) == 1
    with pytest.raises(tasklane.LeaseLost):
        queue.failed(job, "too late")
    assert queue.counts() == {"ready": 0, "running": 0, "done": 0, "dead": 0}


@pytest.mark.parametrize(("how", "state"), [("done", State.DONE), ("failed", State.READY)])
def test_late_but_not_replaced(queue, clock, how, state):
    queue.put("job")
    job = queue.claim()
    clock.advance(300)
    assert end(queue, how, job).state is state
    assert queue.get(job.id).state is state


@pytest.mark.parametrize("fails", [False, True])
def test_the_worker_goes_on(queue, clock, registry, worker, fails):
    @registry.handler("slow")
    def slow(payload):
        clock.advance(60)
        queue.claim()
        if fails:
            raise RuntimeError("no luck")

    registry.handler("quick")(lambda payload: None)
    queue.put("slow", priority=1)
    queue.put("quick", delay=60)
    job = worker.run_one()
    assert (job.kind, job.state, job.attempts, job.error) == ("slow", State.RUNNING, 2, "")
    assert worker.run_one().state is State.DONE


@pytest.fixture
def contested(tmp_path, clock, monkeypatch):
    """A queue whose job was claimed and left alone too long, and a way to claim it again before the n-th statement."""
    connect, moments = sqlite3.connect, {"left": 0, "taken": 0}
    other = connect(tmp_path / "jobs.db", timeout=0, isolation_level=None)

    def passed(statement):
        moments["left"] -= 1
        if moments["left"] == 0:
            try:
                moments["taken"] += other.execute(
                    "UPDATE jobs SET attempts = attempts + 1, lease_until = 9e9 WHERE state = 'running'"
                ).rowcount
            except sqlite3.OperationalError:
                pass

    def watched(*args, **words):
        connection = connect(*args, **words)
        connection.set_trace_callback(passed)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    queue = Queue(Store(tmp_path / "jobs.db"), clock=clock, lease_s=30)
    queue.put("job")
    late = queue.claim()
    clock.advance(30)
    return queue, late, moments


def ended_while(contested, how, moment):
    """Whether the job was claimed again, how the late end went, and what the job is then."""
    queue, late, moments = contested
    moments["left"] = moment
    try:
        end(queue, how, late)
        outcome = "ended"
    except tasklane.LeaseLost:
        outcome = "lost"
    moments["left"] = 0
    found = queue.get(late.id)
    return moments["taken"], outcome, found.state.value, found.attempts


@pytest.mark.parametrize("how", ["done", "failed"])
def test_a_job_that_is_claimed_again_before_the_end(contested, how):
    assert ended_while(contested, how, 1) == (1, "lost", "running", 2)


@pytest.mark.parametrize("moment", [2, 3, 4, 5])
@pytest.mark.parametrize(("how", "state"), [("done", "done"), ("failed", "ready")])
def test_a_job_that_is_claimed_again_at_the_last_moment(contested, how, state, moment):
    assert ended_while(contested, how, moment) in ((1, "lost", "running", 2), (0, "ended", state, 1))


def test_the_worker_goes_on_when_its_job_is_gone(queue, clock, registry, worker):
    @registry.handler("slow")
    def slow(payload):
        clock.advance(60)
        assert queue.done(queue.claim()).attempts == 2
        clock.advance(100)
        assert queue.purge(50) == 1

    registry.handler("quick")(lambda payload: None)
    queue.put("slow", priority=1)
    queue.put("quick", delay=100)
    assert worker.run_one().kind == "slow"
    job = worker.run_one()
    assert (job.kind, job.state) == ("quick", State.DONE)
    assert worker.run_one() is None


@pytest.mark.parametrize("how", ["done", "failed"])
def test_a_late_end_of_a_job_that_waits_again(queue, clock, how):
    queue.put("job")
    late = queue.claim()
    clock.advance(30)
    waiting = queue.failed(queue.claim(), "no luck", retry_after=100)
    with pytest.raises(tasklane.LeaseLost):
        end(queue, how, late)
    found = queue.get(late.id)
    assert (found.state, found.attempts, found.due, found.error) == (State.READY, 2, 1130.0, "no luck")
    assert waiting.state is State.READY
    clock.advance(100)
    assert end(queue, "done", queue.claim()).attempts == 3
