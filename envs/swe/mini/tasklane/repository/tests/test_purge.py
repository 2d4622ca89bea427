def test_old_jobs_that_are_done_are_removed(queue, clock):
    job = queue.put("job")
    queue.done(queue.claim())
    clock.advance(3600)
    assert queue.purge("1h") == 1
    assert queue.store.get(job.id) is None


def test_young_jobs_stay(queue, clock):
    queue.put("job")
    queue.done(queue.claim())
    clock.advance(3599)
    assert queue.purge("1h") == 0
    assert queue.counts()["done"] == 1
