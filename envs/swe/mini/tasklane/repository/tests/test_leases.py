import pytest

from tasklane import LeaseLost, State


@pytest.mark.parametrize("end", ["done", "failed"])
def test_a_worker_that_lost_its_lease_is_told(queue, clock, end):
    queue.put("job")
    late = queue.claim()
    clock.advance(30)
    current = queue.claim()
    with pytest.raises(LeaseLost, match="attempt 1"):
        queue.done(late) if end == "done" else queue.failed(late, "too late")
    assert queue.get(current.id) == current


def test_a_late_worker_that_nobody_replaced_may_finish(queue, clock):
    queue.put("job")
    late = queue.claim()
    clock.advance(300)
    assert queue.done(late).state is State.DONE


def test_a_worker_that_lost_its_lease_goes_on(queue, clock, registry, worker):
    @registry.handler("slow")
    def slow(payload):
        clock.advance(60)
        queue.claim()

    queue.put("slow")
    job = worker.run_one()
    assert (job.state, job.attempts) == (State.RUNNING, 2)
