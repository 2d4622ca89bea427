import pytest

from tasklane import JobMissing, Queue, State, Store


def test_what_is_put_is_claimed(queue):
    put = queue.put("mail", {"to": "ann"})
    job = queue.claim()
    assert (job.id, job.kind, job.payload) == (put.id, "mail", {"to": "ann"})
    assert (job.state, job.attempts, job.lease_until) == (State.RUNNING, 1, 1030.0)
    assert queue.get(job.id) == job


def test_an_empty_queue_gives_nothing(queue):
    assert queue.claim() is None


def test_the_higher_priority_comes_first(queue):
    for priority in (1, 5, 3):
        queue.put("job", priority=priority)
    assert [queue.claim().priority for _ in range(3)] == [5, 3, 1]


def test_jobs_of_one_priority_come_as_they_were_put(queue):
    ids = [queue.put("job").id for _ in range(4)]
    assert [queue.claim().id for _ in range(4)] == ids


def test_a_delayed_job_waits(queue, clock):
    queue.put("later", delay="1m")
    assert queue.claim() is None
    clock.advance(60)
    assert queue.claim().kind == "later"


def test_what_was_due_first_comes_first(queue, clock):
    queue.put("second", delay=20)
    queue.put("first", delay=10)
    clock.advance(30)
    assert [queue.claim().kind for _ in range(2)] == ["first", "second"]


def test_a_job_that_is_done_is_not_claimed_again(queue, clock):
    queue.put("job")
    queue.done(queue.claim())
    clock.advance(1000)
    assert queue.claim() is None
    assert queue.counts() == {"ready": 0, "running": 0, "done": 1, "dead": 0}


def test_a_failed_job_waits_longer_every_time(queue, clock):
    job = queue.put("job", max_attempts=4)
    waits = []
    for _ in range(3):
        failed = queue.failed(queue.claim(), "no luck")
        waits.append(failed.due - clock.now)
        clock.advance(failed.due - clock.now)
    assert waits == [10, 20, 40]
    assert queue.get(job.id).error == "no luck"


def test_after_the_last_attempt_the_job_is_dead(queue, clock):
    queue.put("job", max_attempts=1)
    dead = queue.failed(queue.claim(), "no luck")
    assert (dead.state, dead.error, dead.finished) == (State.DEAD, "no luck", 1000.0)
    clock.advance(1000)
    assert queue.claim() is None


def test_a_dead_job_is_revived_with_all_attempts(queue):
    job = queue.put("job", max_attempts=2)
    queue.failed(queue.claim(), "no luck", last=True)
    revived = queue.revive(job.id)
    assert (revived.state, revived.attempts, revived.finished) == (State.READY, 0, None)
    assert queue.claim().id == job.id


def test_only_dead_jobs_are_revived(queue):
    job = queue.put("job")
    with pytest.raises(JobMissing, match="not dead"):
        queue.revive(job.id)


def test_a_lease_that_ran_out_frees_the_job(queue, clock):
    queue.put("job")
    first = queue.claim()
    clock.advance(29)
    assert queue.claim() is None
    clock.advance(1)
    second = queue.claim()
    assert (second.id, second.attempts) == (first.id, 2)


def test_jobs_outlive_the_process(tmp_path, clock):
    path = tmp_path / "jobs.db"
    queue = Queue(Store(path), clock=clock)
    queue.put("job", [1, {"a": None}], priority=2)
    queue.store.close()
    again = Queue(Store(path), clock=clock).claim()
    assert (again.payload, again.priority) == ([1, {"a": None}], 2)


def test_a_payload_that_is_not_json_is_refused(queue):
    with pytest.raises(TypeError):
        queue.put("job", {1, 2})
    assert queue.counts()["ready"] == 0


@pytest.mark.parametrize("count", [0, -1])
def test_a_job_needs_an_attempt(queue, count):
    with pytest.raises(ValueError, match="at least 1"):
        queue.put("job", max_attempts=count)


def test_a_missing_job_is_named(queue):
    with pytest.raises(JobMissing, match="no job 17"):
        queue.get(17)
