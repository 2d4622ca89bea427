import pytest

from tasklane import State

DAY = 86400


def test_a_delayed_job_survives_and_is_run(queue, clock):
    job = queue.put("reminder", delay="30d")
    clock.advance(8 * DAY)
    assert queue.purge("7d") == 0
    clock.advance(22 * DAY)
    assert queue.claim().id == job.id


def test_a_job_that_is_ready_and_overdue_survives(queue, clock):
    job = queue.put("job")
    clock.advance(100 * DAY)
    assert queue.purge("7d") == 0
    assert queue.purge("7d", dead=True) == 0
    assert queue.get(job.id).state is State.READY


def test_a_running_job_survives(queue, clock):
    queue.put("job")
    job = queue.claim()
    clock.advance(100 * DAY)
    assert queue.purge("7d", dead=True) == 0
    assert queue.get(job.id).state is State.RUNNING


def test_a_job_that_waits_for_its_next_attempt_survives(queue, clock):
    queue.put("job")
    job = queue.failed(queue.claim(), "no luck")
    clock.advance(100 * DAY)
    assert queue.purge("7d") == 0
    assert queue.get(job.id).error == "no luck"


@pytest.mark.parametrize(("dead", "left"), [(False, 1), (True, 0)])
def test_dead_jobs_go_only_when_asked_for(queue, clock, dead, left):
    queue.put("job")
    queue.failed(queue.claim(), "no luck", last=True)
    clock.advance(30 * DAY)
    assert queue.purge("7d", dead=dead) == 1 - left
    assert queue.counts()["dead"] == left


@pytest.mark.parametrize(
    ("waited", "removed"), [(DAY, 0), (7 * DAY - 1, 0), (7 * DAY, 1), (8 * DAY, 1)]
)
def test_the_age_counts_from_the_end(queue, clock, waited, removed):
    queue.put("job", delay="14d")
    clock.advance(14 * DAY)
    queue.done(queue.claim())
    clock.advance(waited)
    assert queue.purge("7d") == removed
    assert queue.counts()["done"] == 1 - removed


def test_the_time_of_the_end_is_kept(queue, clock):
    queue.put("job")
    job = queue.claim()
    clock.advance(5)
    assert queue.done(job).finished == 1005.0
    assert queue.get(job.id).finished == 1005.0


def test_a_revived_job_is_safe(queue, clock):
    queue.put("job")
    job = queue.failed(queue.claim(), "no luck", last=True)
    clock.advance(30 * DAY)
    queue.revive(job.id)
    assert queue.purge("7d", dead=True) == 0


@pytest.mark.parametrize(("waited", "removed"), [(0, 0), (DAY, 0), (7 * DAY - 1, 0), (7 * DAY, 1), (8 * DAY, 1)])
def test_the_age_of_a_dead_job_counts_from_its_end(queue, clock, waited, removed):
    queue.put("job", delay="14d")
    clock.advance(14 * DAY)
    queue.failed(queue.claim(), "no luck", last=True)
    clock.advance(waited)
    assert queue.purge("7d", dead=True) == removed
    assert queue.counts() == {"ready": 0, "running": 0, "done": 0, "dead": 1 - removed}


def test_the_age_counts_from_the_last_attempt(queue, clock):
    job = queue.put("job", max_attempts=2)
    queue.failed(queue.claim(), "no luck", retry_after="20d")
    clock.advance(20 * DAY)
    dead = queue.failed(queue.claim(), "no luck again")
    assert (dead.state, dead.finished) == (State.DEAD, 1000.0 + 20 * DAY)
    assert queue.purge("7d", dead=True) == 0
    assert queue.get(job.id).error == "no luck again"
    clock.advance(7 * DAY)
    assert queue.purge("7d") == 0
    assert queue.purge("7d", dead=True) == 1


def test_a_revived_job_counts_from_its_second_end(queue, clock):
    job = queue.put("job")
    queue.failed(queue.claim(), "no luck", last=True)
    clock.advance(30 * DAY)
    queue.revive(job.id)
    assert queue.done(queue.claim()).finished == 1000.0 + 30 * DAY
    assert queue.purge("7d", dead=True) == 0
    clock.advance(7 * DAY)
    assert queue.purge("7d") == 1
    assert queue.counts() == {"ready": 0, "running": 0, "done": 0, "dead": 0}


def test_a_job_of_every_state(queue, clock):
    """Done and dead long ago, done and dead yesterday, running, ready, and waiting for its next attempt."""
    for _ in range(2):
        for _ in range(2):
            queue.put("job", priority=1)
        queue.done(queue.claim())
        queue.failed(queue.claim(), "no luck", last=True)
        clock.advance(10 * DAY)
    for _ in range(3):
        queue.put("job")
    queue.claim()
    queue.failed(queue.claim(), "no luck")
    assert queue.purge("15d") == 1
    assert queue.counts() == {"ready": 2, "running": 1, "done": 1, "dead": 2}
    assert queue.purge("15d", dead=True) == 1
    assert queue.counts() == {"ready": 2, "running": 1, "done": 1, "dead": 1}
    assert queue.purge("10d", dead=True) == 2
    assert queue.counts() == {"ready": 2, "running": 1, "done": 0, "dead": 0}
    assert queue.purge(0, dead=True) == 0
