"""The SQLite file: every statement of the package is here, and each is complete in itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from tasklane.errors import StoreBusy
from tasklane.job import Job, State

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    created REAL NOT NULL,
    due REAL NOT NULL,
    lease_until REAL,
    finished REAL,
    error TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_in_order ON jobs (state, priority DESC, due, id);
"""
COLUMNS = [field.name for field in fields(Job)]
CLAIMABLE = "((state = 'ready' AND due <= :now) OR (state = 'running' AND lease_until <= :now))"
ORDER = "priority DESC, due, id"


class Store:
    """The jobs of one file. One object serves one thread; open the file again for another."""

    def __init__(self, path: str | Path = ":memory:", *, timeout_s: float = 5.0) -> None:
        self._connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(SCHEMA)

    def insert(self, job: Job) -> int:
        """Add a job and return its id."""
        names = [name for name in COLUMNS if name != "id"]
        marks = ", ".join(f":{name}" for name in names)
        cursor = self._run(f"INSERT INTO jobs ({', '.join(names)}) VALUES ({marks})", _row(job))
        return int(cursor.lastrowid or 0)

    def get(self, job_id: int) -> Job | None:
        """The job with this id."""
        row = self._run("SELECT * FROM jobs WHERE id = :id", {"id": job_id}).fetchone()
        return _job(row) if row else None

    def claim(self, now: float, lease_until: float) -> Job | None:
        """Mark the job that comes next as running, in one statement, and return it as it is then."""
        row = self._run(
            "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = :lease_until"
            f" WHERE id = (SELECT id FROM jobs WHERE {CLAIMABLE} ORDER BY {ORDER} LIMIT 1) RETURNING *",
            {"now": now, "lease_until": lease_until},
        ).fetchall()
        return _job(row[0]) if row else None

    def finish(self, job: Job) -> bool:
        """Save the end of an attempt, unless another attempt has begun since; whether it was saved."""
        changes = ", ".join(f"{name} = :{name}" for name in COLUMNS if name != "id")
        cursor = self._run(
            f"UPDATE jobs SET {changes} WHERE id = :id AND state = 'running' AND attempts = :attempts", _row(job)
        )
        return cursor.rowcount == 1

    def revive(self, job_id: int, now: float) -> bool:
        """Make a dead job ready; whether there was one."""
        cursor = self._run(
            "UPDATE jobs SET state = 'ready', attempts = 0, due = :now, finished = NULL"
            " WHERE id = :id AND state = 'dead'",
            {"id": job_id, "now": now},
        )
        return cursor.rowcount == 1

    def purge(self, before: float, states: list[State]) -> int:
        """Remove jobs that reached one of these states at this time or before; how many."""
        marks = ", ".join(f"'{state.value}'" for state in states)
        return self._run(
            f"DELETE FROM jobs WHERE state IN ({marks}) AND finished <= :before", {"before": before}
        ).rowcount

    def jobs(self, state: State | None = None) -> Iterator[Job]:
        """All jobs, or those in one state, in the order in which they are claimed."""
        where = "" if state is None else "WHERE state = :state"
        values = {} if state is None else {"state": state.value}
        for row in self._run(f"SELECT * FROM jobs {where} ORDER BY {ORDER}", values).fetchall():
            yield _job(row)

    def counts(self) -> dict[State, int]:
        """How many jobs are in every state."""
        found = dict(self._run("SELECT state, COUNT(*) FROM jobs GROUP BY state", {}).fetchall())
        return {state: found.get(state.value, 0) for state in State}

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, values: dict[str, Any]) -> sqlite3.Cursor:
        with _busy():
            return self._connection.execute(statement, values)


@contextmanager
def _busy() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as cause:
        if "locked" in str(cause):
            raise StoreBusy(f"the file is in use by another process: {cause}; try again") from cause
        raise


def _row(job: Job) -> dict[str, Any]:
    row = {name: getattr(job, name) for name in COLUMNS}
    return {**row, "payload": json.dumps(job.payload), "state": job.state.value}


def _job(row: sqlite3.Row) -> Job:
    values = dict(row)
    return Job(**{**values, "payload": json.loads(values["payload"]), "state": State(values["state"])})
