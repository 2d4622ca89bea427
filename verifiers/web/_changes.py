"""Changed rows, and what a task says of them: wanted ones and free ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._check import TableChanges
from agent_envs.verifiers.web._matchers import contradictions, equal, mismatches

from agent_envs.json_lines import JsonObject

Kind = Literal["added", "removed", "changed"]


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rows that must have changed."""

    table: str
    kind: Kind
    count: int = 1
    where: JsonObject = {}
    """The row; of a changed one, as it is now. Its columns that are not named here must be as they were."""
    where_before: JsonObject = {}
    """Of a changed row: as it was."""

    def contradictions(self, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        if self.count < 1:
            yield f"`count` is {self.count}; leave the row out where none may change"
        if self.kind != "changed" and self.where_before:
            yield f"`where_before` is for changed rows, and this one is {self.kind}; use `where`"
        if self.kind == "changed" and not self.where:
            yield "a changed row needs `where`: the columns that may differ afterwards, and how"
        yield from _unknown(self.table, [*self.where, *self.where_before], columns)
        for name, matcher in [*self.where.items(), *self.where_before.items()]:
            if is_link(matcher):
                continue
            if isinstance(matcher, list):
                yield f'`{name}` is a list, which no column holds; did you mean {{"in": [...]}}?'
            yield from (f"`{name}` {problem}" for problem in contradictions(matcher))


class Free(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What may change as it likes."""

    table: str
    columns: list[str] = []
    """Of its rows, only these; empty: the whole table, with rows that come and go."""

    def contradictions(self, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        yield from _unknown(self.table, self.columns, columns)


@dataclass(frozen=True, slots=True)
class Change:
    """One row that is not as it was."""

    table: str
    kind: Kind
    before: JsonObject
    after: JsonObject
    differ: frozenset[str] = frozenset()
    """Of a changed row: the columns that differ and are not free."""

    def meets(self, wanted: Wanted) -> bool:
        """Whether it is one of the wanted rows."""
        if (self.table, self.kind) != (wanted.table, wanted.kind):
            return False
        if self.kind == "changed" and not self.differ <= wanted.where.keys():
            return False
        return not mismatches(wanted.where, self.row) and not mismatches(wanted.where_before, self.before)

    @property
    def row(self) -> JsonObject:
        """The row that `where` is about."""
        return self.before if self.kind == "removed" else self.after

    def shown(self) -> JsonObject:
        """The change as a reader of a verdict sees it."""
        if self.kind != "changed":
            return {"table": self.table, self.kind: short(self.row)}
        kept = {name: value for name, value in self.after.items() if name not in self.differ}
        edits = {name: [self.before.get(name), self.after.get(name)] for name in sorted(self.differ)}
        return {"table": self.table, "changed": short(edits), "of": short(kept)}


def is_link(matcher: object) -> bool:
    """Whether a value must be `{"same": name}`: equal to all others of that name."""
    return isinstance(matcher, dict) and matcher.keys() == {"same"} and isinstance(matcher["same"], str)


def counted_changes(tables: Mapping[str, TableChanges], free: Sequence[Free]) -> Iterator[Change]:
    """Every change that counts."""
    whole = {one.table for one in free if not one.columns}
    for table, changes in tables.items():
        if table in whole:
            continue
        columns = {name for one in free if one.table == table for name in one.columns}
        yield from (Change(table, "added", {}, row) for row in changes.added)
        yield from (Change(table, "removed", row, {}) for row in changes.removed)
        for pair in changes.changed:
            names = pair.before.keys() | pair.after.keys()
            differ = {name for name in names if not equal(pair.before.get(name), pair.after.get(name))}
            if differ - columns:
                yield Change(table, "changed", pair.before, pair.after, frozenset(differ - columns))


def _unknown(table: str, names: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if table not in columns:
        yield f"`table` is {table!r}, which the site does not have or does not judge{_hint(table, columns)}"
        return
    for name in names:
        if name not in columns[table]:
            yield f"the table {table!r} has no column {name!r}{_hint(name, columns[table])}"


def _hint(name: str, known: Any) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; it has: {', '.join(sorted(known))}"


def short(row: Mapping[str, Any]) -> JsonObject:
    """The row with its longest texts cut."""
    return {name: clipped(value, 200) if isinstance(value, str) else value for name, value in row.items()}
