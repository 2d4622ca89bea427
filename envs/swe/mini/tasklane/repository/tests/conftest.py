import pytest

from tasklane import Backoff, Queue, Registry, Store, Worker


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def queue(clock):
    return Queue(Store(), clock=clock, backoff=Backoff(first_s=10, factor=2, limit_s=60), lease_s=30)


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def worker(queue, registry):
    return Worker(queue, registry)
