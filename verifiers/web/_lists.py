"""Answers that are several values of one kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agent_envs.verifiers.web._kind import Kind, Unreadable, quoted, whole
from agent_envs.verifiers.web._numbers import Money, Number
from agent_envs.verifiers.web._texts import Boolean, Text
from agent_envs.verifiers.web._times import Date, Duration, Time

_LONGEST = 1000
_BULLET = re.compile(r"(?:[-*\u2022]|[0-9]{1,4}[.)])\s+")

Single = Text | Boolean | Number | Money | Date | Time | Duration
"""The kinds that a list can be of."""


class List(Kind, frozen=True, tag="list"):
    """Several values: a JSON array, one a line (with or without bullets), or divided by `;`, else by commas.

    Every value must be there as often as expected, and no other one.
    """

    of: Single
    ordered: bool = False
    """Whether the order counts."""

    def contradictions(self) -> Iterator[str]:
        """Those of its items."""
        yield from (f"`of`: {problem}" for problem in self.of.contradictions())

    def read(self, text: str) -> list[Any]:
        """The values, where one way to divide the text makes each of them readable."""
        reason: Unreadable | None = None
        for items in _divisions(whole(text), of_words=isinstance(self.of, Text)):
            if len(items) > _LONGEST:
                raise Unreadable(f"a list of {len(items)} items is longer than any that is expected")
            try:
                return [self.of.read(item) for item in items]
            except Unreadable as cause:
                reason = reason or cause
        raise reason or Unreadable("the list is empty")

    def gold(self, expected: object) -> list[Any]:
        """A list of JSON, each item as it would be expected alone."""
        if not isinstance(expected, list) or not 0 < len(expected) <= _LONGEST:
            raise Unreadable(f"expected a list of 1 to {_LONGEST} items, not {quoted(repr(expected))}")
        return [self.of.gold(item) for item in expected]

    def same(self, answer: Any, expected: Any) -> bool:
        """Item by item; in any order unless the order counts."""
        if len(answer) != len(expected):
            return False
        # Sorted, the two meet item by item even within tolerances: both ends of a tolerance grow with its value.
        pairs = (
            zip(answer, expected, strict=True) if self.ordered else zip(sorted(answer), sorted(expected), strict=True)
        )
        return all(self.of.same(one, other) for one, other in pairs)


def _divisions(text: str, *, of_words: bool) -> Iterator[Sequence[str]]:
    """The ways in which a text can be a list, the plainest first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if text.startswith("["):
        yield _array(text)
    elif len(lines) > 1:
        bullets = all(map(_BULLET.match, lines))
        yield [(_BULLET.sub("", line, count=1) if bullets else line).rstrip(",;") for line in lines]
    elif ";" in text:
        yield [item for item in text.split(";") if item.strip()]
    elif of_words:  # `and` may be part of a name
        yield re.split(r",\s*(?:and\s)?", text)
    else:
        yield re.split(r",\s+(?:and\s)?|\sand\s", text)
        yield text.split(",")  # `10,20,30`; where commas can group digits instead, they do
        yield [text]


def _array(text: str) -> list[str]:
    try:
        items = json.loads(text, parse_float=str, parse_int=str, parse_constant=_refused)
    except (ValueError, RecursionError) as cause:
        raise Unreadable(f"{quoted(text)} is no JSON array: {cause}") from None
    if any(isinstance(item, dict | list) or item is None for item in items):
        raise Unreadable("the array holds something other than texts, numbers and booleans")
    return [item if isinstance(item, str) else json.dumps(item) for item in items]


def _refused(name: str) -> str:
    raise ValueError(f"{name} is no JSON")
