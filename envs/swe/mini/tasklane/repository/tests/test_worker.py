import pytest

from tasklane import Discard, Registry, Retry, State, UnknownHandler


def test_a_job_is_run_and_done(queue, registry, worker):
    seen = []
    registry.handler("mail")(seen.append)
    queue.put("mail", {"to": "ann"})
    assert worker.run_one().state is State.DONE
    assert seen == [{"to": "ann"}]


def test_nothing_due(worker):
    assert worker.run_one() is None


def test_an_error_is_kept_and_the_job_is_tried_again(queue, registry, worker):
    @registry.handler("bad")
    def bad(payload):
        raise KeyError("to")

    queue.put("bad")
    job = worker.run_one()
    assert (job.state, job.error, job.due) == (State.READY, "KeyError: 'to'", 1010.0)


def test_a_handler_chooses_its_pause(queue, registry, worker):
    @registry.handler("slow")
    def slow(payload):
        raise Retry("2m", "the server is down")

    queue.put("slow")
    job = worker.run_one()
    assert (job.state, job.due, job.error) == (State.READY, 1120.0, "the server is down")


def test_a_handler_gives_up(queue, registry, worker):
    @registry.handler("broken")
    def broken(payload):
        raise Discard("no such address")

    queue.put("broken")
    job = worker.run_one()
    assert (job.state, job.error) == (State.DEAD, "Discard: no such address")


def test_a_job_without_a_handler_is_dead(queue, registry, worker):
    registry.handler("mail")(print)
    queue.put("mial")
    job = worker.run_one()
    assert job.state is State.DEAD
    assert job.error == "UnknownHandler: no handler for 'mial'; did you mean 'mail'?"


def test_run_until_empty_counts_attempts(queue, registry, worker):
    registry.handler("job")(lambda payload: None)
    for _ in range(5):
        queue.put("job")
    queue.put("job", delay=60)
    assert worker.run_until_empty() == 5
    assert worker.run_until_empty(limit=3) == 0


def test_a_kind_has_one_handler():
    registry = Registry()
    registry.handler("job")(print)
    with pytest.raises(ValueError, match="already"):
        registry.handler("job")(print)
    with pytest.raises(UnknownHandler):
        registry["other"]
