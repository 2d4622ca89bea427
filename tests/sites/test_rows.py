"""What a visit changed is found row by row, and is enough to make its end again."""

from __future__ import annotations

import sqlite3

import pytest

from agent_envs.errors import TaskError
from agent_envs.sites import apply, changes


def database(*statements: str) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.row_factory = sqlite3.Row
    made.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
    made.execute('CREATE TABLE "odd ""name" (a TEXT, b BLOB, PRIMARY KEY (b, a))')
    made.execute("CREATE TABLE log (line TEXT PRIMARY KEY)")
    made.executemany("INSERT INTO items VALUES (?, ?, ?)", [(1, "kettle", 20.0), (2, "pan", 30.0), (3, None, None)])
    for statement in statements:
        made.execute(statement)
    return made


EDITS = (
    "UPDATE items SET price = 19.5 WHERE id = 1",
    "DELETE FROM items WHERE id = 2",
    "INSERT INTO items VALUES (4, 'pot', 1.0)",
    "INSERT INTO \"odd \"\"name\" VALUES ('x', 'y')",
    "INSERT INTO log VALUES ('seen')",
)


def test_added_removed_and_changed_rows_are_told_apart() -> None:
    found = changes(database(), database(*EDITS), but={"log"})
    assert found == {
        "items": {
            "added": [{"id": 4, "name": "pot", "price": 1.0}],
            "removed": [{"id": 2, "name": "pan", "price": 30.0}],
            "changed": [
                {
                    "before": {"id": 1, "name": "kettle", "price": 20.0},
                    "after": {"id": 1, "name": "kettle", "price": 19.5},
                }
            ],
        },
        'odd "name': {"added": [{"a": "x", "b": "y"}]},
    }


def test_the_end_can_be_made_again_from_the_beginning() -> None:
    again = database()
    apply(again, changes(database(), database(*EDITS)))
    assert changes(database(*EDITS), again) == {}


def test_a_table_without_a_key_is_refused() -> None:
    keyless = database("CREATE TABLE loose (a TEXT)")
    with pytest.raises(TaskError, match="'loose' has no primary key"):
        changes(keyless, keyless)


def test_tables_that_come_or_go_are_refused() -> None:
    with pytest.raises(TaskError, match="only their rows may"):
        changes(database(), database("DROP TABLE log"))
