"""A small job queue in one SQLite file."""

from tasklane.backoff import Backoff
from tasklane.durations import format_duration, parse_duration
from tasklane.errors import BadDuration, JobMissing, LeaseLost, StoreBusy, TasklaneError, UnknownHandler
from tasklane.job import Job, State
from tasklane.queue import Queue
from tasklane.registry import Registry
from tasklane.store import Store
from tasklane.worker import Discard, Retry, Worker

__all__ = [
    "Backoff",
    "BadDuration",
    "Discard",
    "Job",
    "JobMissing",
    "LeaseLost",
    "Queue",
    "Registry",
    "Retry",
    "State",
    "Store",
    "StoreBusy",
    "TasklaneError",
    "UnknownHandler",
    "Worker",
    "format_duration",
    "parse_duration",
]
