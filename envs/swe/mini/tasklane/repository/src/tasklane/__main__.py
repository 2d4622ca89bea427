"""`python -m tasklane FILE`: what is in a file."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tasklane.durations import format_duration
from tasklane.job import Job, State
from tasklane.store import Store


def line(job: Job, now: float) -> str:
    """One line about a job."""
    wait = f" due in {format_duration(job.due - now)}" if job.state is State.READY and job.due > now else ""
    error = f" ({job.error})" if job.error else ""
    return f"{job.id:>6} {job.state.value:<8} {job.kind} {job.attempts}/{job.max_attempts}{wait}{error}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tasklane", description="Print the jobs of a file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--state", choices=[state.value for state in State])
    chosen = parser.parse_args(arguments)
    if not chosen.file.is_file():
        print(f"there is no file {chosen.file}", file=sys.stderr)
        return 2
    now = time.time()
    for job in Store(chosen.file).jobs(State(chosen.state) if chosen.state else None):
        print(line(job, now))
    return 0


if __name__ == "__main__":
    sys.exit(main())
