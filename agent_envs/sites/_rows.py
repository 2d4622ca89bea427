"""What a visit changed in a database, row by row, as data from which the end can be made again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from agent_envs.errors import TaskError

Row = dict[str, Any]
Changes = dict[str, dict[str, list[Any]]]
"""table -> {"added": [row], "removed": [row], "changed": [{"before": row, "after": row}]}, without empty ones."""


def changes(before: sqlite3.Connection, after: sqlite3.Connection, *, but: Iterable[str] = ()) -> Changes:
    """The rows that differ, found by primary key; `but` names the tables that do not count.

    Raises `TaskError` where a table has no primary key, or has come or gone.
    """
    left_out = set(but)
    tables = _tables(before)
    if tables != _tables(after):
        raise TaskError("the tables of a site's database have changed during a visit; only their rows may")
    found: Changes = {}
    for table in tables:
        if table not in left_out and (differ := _compare(table, before, after)):
            found[table] = differ
    return found


def apply(database: sqlite3.Connection, changed: Mapping[str, Mapping[str, list[Any]]]) -> None:
    """Make the database what it was at the end of a visit, from where the visit began."""
    database.execute("PRAGMA foreign_keys = OFF")
    for table, kinds in changed.items():
        keys = _keys(database, table)
        gone = [*kinds.get("removed", ()), *(pair["before"] for pair in kinds.get("changed", ()))]
        come = [*kinds.get("added", ()), *(pair["after"] for pair in kinds.get("changed", ()))]
        for row in gone:
            where = " AND ".join(f"{_name(key)} IS ?" for key in keys)
            database.execute(f"DELETE FROM {_name(table)} WHERE {where}", [row[key] for key in keys])
        for row in come:
            columns = ", ".join(map(_name, row))
            holes = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {_name(table)} ({columns}) VALUES ({holes})", list(row.values()))
    database.execute("PRAGMA foreign_keys = ON")


def _compare(table: str, before: sqlite3.Connection, after: sqlite3.Connection) -> dict[str, list[Any]]:
    keys = _keys(before, table)
    (names, begun), (_, ended) = _rows(before, table, keys), _rows(after, table, keys)
    if begun == ended:
        return {}
    old, new = _by_key(names, begun, keys), _by_key(names, ended, keys)
    kinds = {
        "added": [row for key, row in new.items() if key not in old],
        "removed": [row for key, row in old.items() if key not in new],
        "changed": [{"before": old[key], "after": row} for key, row in new.items() if key in old and old[key] != row],
    }
    return {kind: rows for kind, rows in kinds.items() if rows}


def _tables(database: sqlite3.Connection) -> list[str]:
    found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return sorted(row[0] for row in found)


def _keys(database: sqlite3.Connection, table: str) -> list[str]:
    columns = database.execute(f"PRAGMA table_info({_name(table)})").fetchall()
    keys = [row[1] for row in sorted((row for row in columns if row[5]), key=lambda row: row[5])]
    if not keys:
        raise TaskError(f"table {table!r} has no primary key, so its rows cannot be told apart; give it one")
    return keys


def _rows(database: sqlite3.Connection, table: str, keys: list[str]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the rows in the order of their keys."""
    cursor = database.cursor()
    cursor.row_factory = None
    cursor.execute(f"SELECT * FROM {_name(table)} ORDER BY {', '.join(map(_name, keys))}")
    return [column[0] for column in cursor.description], cursor.fetchall()


def _by_key(names: list[str], rows: list[tuple[Any, ...]], keys: list[str]) -> dict[tuple[Any, ...], Row]:
    found = (dict(zip(names, row, strict=True)) for row in rows)
    return {tuple(row[key] for key in keys): row for row in found}


def _name(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
