"""The worker: claims jobs and runs their handlers."""

from __future__ import annotations

from tasklane.errors import LeaseLost, UnknownHandler
from tasklane.job import Job
from tasklane.queue import Queue
from tasklane.registry import Registry


class Retry(Exception):
    """Raised by a handler that wants to be tried again after a time of its own choice."""

    def __init__(self, after: float | str, reason: str = "the handler asked for a retry") -> None:
        super().__init__(reason)
        self.after = after


class Discard(Exception):
    """Raised by a handler that knows that no further attempt can succeed."""


class Worker:
    """Runs jobs one after the other. An error of a handler is an error of its job, not of the worker."""

    def __init__(self, queue: Queue, registry: Registry) -> None:
        self.queue = queue
        self.registry = registry

    def run_one(self) -> Job | None:
        """Run the job that comes next; as it is afterwards, or None where nothing is due."""
        job = self.queue.claim()
        if job is None:
            return None
        try:
            return self._attempt(job)
        except LeaseLost:
            return self.queue.store.get(job.id) or job

    def run_until_empty(self, limit: int = 10_000) -> int:
        """Run jobs until nothing is due; how many attempts were made."""
        for count in range(limit):
            if self.run_one() is None:
                return count
        return limit

    def _attempt(self, job: Job) -> Job:
        try:
            handler = self.registry[job.kind]
            handler(job.payload)
        except Retry as wish:
            return self.queue.failed(job, str(wish), retry_after=wish.after)
        except (Discard, UnknownHandler) as cause:
            return self.queue.failed(job, describe(cause), last=True)
        except Exception as cause:
            return self.queue.failed(job, describe(cause))
        return self.queue.done(job)


def describe(error: Exception) -> str:
    """An error as one line."""
    return f"{type(error).__name__}: {error}".rstrip(": ")
