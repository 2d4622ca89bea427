"""What a visit did to a database: the wanted rows changed, and nothing else did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
from agent_envs.verifiers.web._assignment import assign
from agent_envs.verifiers.web._changes import Change, Free, Wanted, counted_changes, short
from agent_envs.verifiers.web._check import Check, Contradiction, End, Finding, Stage
from agent_envs.verifiers.web._links import bindings, lonely_links
from agent_envs.verifiers.web._matchers import mismatches

from agent_envs.json_lines import JsonObject

_SHOWN = 10
_COMPARED = 2000
"""Of more changed rows than this, only so many are held against what was wanted: they are too many in any case."""


class Rows(Check, frozen=True, tag="rows"):
    """The wanted rows of a site's database changed, and nothing else did."""

    host: str
    wanted: list[Wanted]
    free: list[Free] = msgspec.field(default_factory=list)

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        try:
            columns = stage.columns(self.host)
        except Contradiction as problem:
            yield f"`host`: {problem}"
            return
        whole = {free.table for free in self.free if not free.columns}
        for number, free in enumerate(self.free, start=1):
            yield from (f"`free` {number}: {problem}" for problem in free.contradictions(columns))
        for number, wanted in enumerate(self.wanted, start=1):
            yield from (f"`wanted` {number}: {problem}" for problem in wanted.contradictions(columns))
            if wanted.table in whole:
                yield f"`wanted` {number}: the table {wanted.table!r} is free as a whole; name its free columns"
        for name in lonely_links(self.wanted):
            yield f'`{{"same": {name!r}}}` is there once, so it says nothing; use it in two places, or {{"any": true}}'

    def demands(self, stage: Stage) -> bool:
        """Whether anything must have changed."""
        return bool(self.wanted)

    def judge(self, end: End) -> Finding:
        """Whether every change is a wanted one and every wanted one is there."""
        found = list(counted_changes(end.changes(self.host), self.free))
        if len(found) > _COMPARED:
            due = sum(wanted.count for wanted in self.wanted)
            shown = [change.shown() for change in found[:_SHOWN]]
            return Finding(False, f"{len(found)} rows changed, expected {due}", {"unexpected": shown})
        placed = [_placed(found, wanted) for wanted in bindings(self.wanted, found)]
        best = min(placed, key=lambda one: len(one.surplus) + len(one.missing))
        if not best.surplus and not best.missing:
            return Finding(True, evidence={"rows": [change.shown() for change in found[:_SHOWN]]})
        return _failure(best)


@dataclass(frozen=True, slots=True)
class _Placed:
    """How the changes fit what was wanted."""

    surplus: Sequence[Change]
    missing: Sequence[tuple[Wanted, int]]


def _placed(found: Sequence[Change], wanted: Sequence[Wanted]) -> _Placed:
    fits = [[number for number, one in enumerate(wanted) if change.meets(one)] for change in found]
    taken = assign(fits, [one.count for one in wanted])
    surplus = [change for change, place in zip(found, taken, strict=True) if place is None]
    missing = [(one, one.count - taken.count(number)) for number, one in enumerate(wanted)]
    return _Placed(surplus, [pair for pair in missing if pair[1]])


def _failure(placed: _Placed) -> Finding:
    surplus, missing = placed.surplus, placed.missing
    reasons = []
    if missing:
        reasons.append(f"{sum(count for _, count in missing)} wanted change(s) did not happen")
    if surplus:
        reasons.append(f"{len(surplus)} change(s) that nobody asked for")
    evidence: JsonObject = {
        "missing": [{"missing": count} | _said(one) for one, count in missing[:_SHOWN]],
        "unexpected": [change.shown() | _nearest(change, missing) for change in surplus[:_SHOWN]],
    }
    return Finding(False, ", ".join(reasons), evidence)


def _said(wanted: Wanted) -> JsonObject:
    plain: JsonObject = msgspec.to_builtins(wanted)
    return {name: value for name, value in plain.items() if name != "count" and value != {}}


def _nearest(change: Change, missing: Sequence[tuple[Wanted, int]]) -> JsonObject:
    """What sets an unexpected row apart from the missing one that it is most like."""
    alike = [one for one, _ in missing if (one.table, one.kind) == (change.table, change.kind)]
    differences = [difference for one in alike if (difference := _difference(change, one))]
    return {"differs": min(differences, key=len)} if differences else {}


def _difference(change: Change, wanted: Wanted) -> JsonObject:
    wrong = {name: wanted.where[name] for name in mismatches(wanted.where, change.row)}
    earlier = {f"{name} (before)": wanted.where_before[name] for name in mismatches(wanted.where_before, change.before)}
    also = dict.fromkeys(sorted(change.differ - wanted.where.keys()), "as it was") if change.kind == "changed" else {}
    return short({**wrong, **earlier, **also})
