"""The queue: what may happen to a job, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tasklane.backoff import Backoff
from tasklane.durations import parse_duration
from tasklane.errors import JobMissing, LeaseLost
from tasklane.job import Job, State
from tasklane.store import Store


class Queue:
    """Jobs of one store. All times come from `clock`."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        backoff: Backoff = Backoff(),
        lease_s: float = 60.0,
    ) -> None:
        self.store = store
        self.clock = clock
        self.backoff = backoff
        self.lease_s = lease_s

    def put(
        self, kind: str, payload: Any = None, *, priority: int = 0, delay: float | str = 0, max_attempts: int = 3
    ) -> Job:
        """Add a job, due after a delay; `TypeError` where the payload is not JSON."""
        if max_attempts < 1:
            raise ValueError(f"max_attempts is {max_attempts}; expected at least 1")
        now = self.clock()
        job = Job(
            kind=kind,
            payload=payload,
            priority=priority,
            max_attempts=max_attempts,
            created=now,
            due=now + parse_duration(delay),
        )
        return replace(job, id=self.store.insert(job))

    def get(self, job_id: int) -> Job:
        """The job as it is now; raises `JobMissing`."""
        job = self.store.get(job_id)
        if job is None:
            raise JobMissing(f"there is no job {job_id}; it may have been purged")
        return job

    def claim(self) -> Job | None:
        """The job that comes next, now running; None where nothing is due."""
        now = self.clock()
        return self.store.claim(now, now + self.lease_s)

    def done(self, job: Job) -> Job:
        """The attempt succeeded; raises `LeaseLost`."""
        return self._ended(replace(job, state=State.DONE, finished=self.clock(), lease_until=None))

    def failed(self, job: Job, error: str, *, retry_after: float | str | None = None, last: bool = False) -> Job:
        """The attempt failed: ready again after a pause, or dead where it was the last; raises `LeaseLost`."""
        now = self.clock()
        if last or job.attempts >= job.max_attempts:
            return self._ended(replace(job, state=State.DEAD, finished=now, lease_until=None, error=error))
        pause = self.backoff.pause(job.attempts) if retry_after is None else parse_duration(retry_after)
        return self._ended(replace(job, state=State.READY, due=now + pause, lease_until=None, error=error))

    def revive(self, job_id: int) -> Job:
        """Give a dead job all its attempts again; raises `JobMissing` where it is not dead."""
        if not self.store.revive(job_id, self.clock()):
            raise JobMissing(f"job {job_id} is not dead; only dead jobs can be revived")
        return self.get(job_id)

    def purge(self, older: float | str, *, dead: bool = False) -> int:
        """Remove jobs that were done at least this long ago, and dead ones where asked for; how many."""
        states = [State.DONE, State.DEAD] if dead else [State.DONE]
        return self.store.purge(self.clock() - parse_duration(older), states)

    def counts(self) -> dict[str, int]:
        """How many jobs are in every state, by its name."""
        return {state.value: count for state, count in self.store.counts().items()}

    def _ended(self, job: Job) -> Job:
        if not self.store.finish(job):
            raise LeaseLost(f"attempt {job.attempts} of job {job.id} is over; it was claimed again or removed")
        return job
