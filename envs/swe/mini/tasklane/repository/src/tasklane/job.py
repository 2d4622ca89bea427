"""One unit of work and where it is in its life."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class State(Enum):
    """Where a job is in its life."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the file says about a job at one moment; times are seconds of the queue's clock."""

    id: int = 0
    kind: str
    payload: Any = None
    priority: int = 0
    state: State = State.READY
    attempts: int = 0
    max_attempts: int = 3
    created: float
    due: float
    lease_until: float | None = None
    finished: float | None = None
    """When it became done or dead."""
    error: str = ""
    """Of the last attempt that failed."""
