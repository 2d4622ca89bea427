r"""Matchers: which values will do. Data: a literal, or one of `{"in": [...]}`, `{"between": [a, b]}`,
`{"matches": "regex"}`, `{"any": true}`.

Values come from a database, a form or an address, and an agent may have written them. So a value is only compared,
never run, and one regular expression cannot take long on any text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_envs.verifiers.numerals import NotANumber, exact

_LONGEST_TEXT = 1000
"""Longer values match no regular expression: the time of the worst ones grows with a power of the length."""
_KINDS = ("in", "between", "matches", "any")
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{\d*,\d*\}|\{\d+\})")


def contradictions(matcher: object) -> Iterator[str]:
    """What is wrong with a matcher, as the end of a sentence."""
    if isinstance(matcher, float) and not math.isfinite(matcher):
        yield f"is {matcher}, which equals nothing; write a finite number"
    if not isinstance(matcher, dict):
        return
    if len(matcher) != 1 or next(iter(matcher)) not in _KINDS:
        yield f"is {matcher!r}; a matcher is a literal or exactly one of {', '.join(map(repr, _KINDS))}"
        return
    ((kind, wish),) = matcher.items()
    if kind == "in" and not (isinstance(wish, list) and wish and not any(isinstance(one, dict) for one in wish)):
        yield "needs a list of literals for 'in', such as {\"in\": [1, 2]}"
    elif kind == "between" and not _is_range(wish):
        yield "needs two numbers or two texts for 'between', the smaller first, such as {\"between\": [1, 5]}"
    elif kind == "any" and wish is not True:
        yield 'is written {"any": true}'
    elif kind == "matches":
        yield from pattern_contradictions(wish)


def pattern_contradictions(pattern: object) -> Iterator[str]:
    """What is wrong with a regular expression, as the end of a sentence."""
    if not isinstance(pattern, str):
        yield f"needs a regular expression as text, not {pattern!r}"
        return
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as cause:
        yield f"has a regular expression that cannot be read ({cause}): {pattern!r}"
        return
    if _repeats_a_choice(pattern):
        yield (
            f"repeats a group that itself holds a choice or a repetition, {pattern!r}: a hostile text could keep it"
            " busy for years; write it without, such as [ab]* for (a|b)*"
        )


def matches(matcher: object, value: object) -> bool:
    """Whether a value of a database will do."""
    if not isinstance(matcher, dict):
        return equal(matcher, value)
    ((kind, wish),) = matcher.items()
    if kind == "in":
        return any(equal(one, value) for one in wish)
    if kind == "between":
        low, high = wish
        return _comparable(low, value) and bool(low <= value <= high)
    if kind == "matches":
        return isinstance(value, str) and len(value) <= _LONGEST_TEXT and re.fullmatch(wish, value) is not None
    return True


def matches_text(matcher: object, value: object) -> bool:
    """Whether a value of a form or an address will do, where every number is written as text."""
    if not isinstance(value, str):
        return matches(matcher, value)
    if isinstance(matcher, dict) and "in" in matcher:
        return any(matches_text(one, value) for one in matcher["in"])
    if isinstance(matcher, dict) and "between" in matcher and not isinstance(matcher["between"][0], str):
        number = _number(value)
        return number is not None and bool(matcher["between"][0] <= number <= matcher["between"][1])
    if isinstance(matcher, int | float) and not isinstance(matcher, bool):
        return bool(_number(value) == matcher)
    return matches(matcher, value)


def mismatches(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """The names whose value will not do, or is missing."""
    return [name for name, matcher in wanted.items() if name not in found or not matches(matcher, found[name])]


def equal(one: object, other: object) -> bool:
    """Equality of database values: 12 is 12.0, and True is 1 (SQLite has no booleans), but "12" is not 12."""
    return one == other


def _number(text: str) -> Any:
    try:
        return exact(text)
    except NotANumber:
        return None


def _comparable(bound: object, value: object) -> bool:
    if isinstance(bound, str):
        return isinstance(value, str)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_range(wish: object) -> bool:
    if not (isinstance(wish, list) and len(wish) == 2):
        return False
    low, high = wish
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in wish)
    return bool((numbers or all(isinstance(end, str) for end in wish)) and low <= high)


def _repeats_a_choice(pattern: str) -> bool:
    """Whether a repeated group holds `|` or a repetition: the shape behind every exponential match."""
    bare = re.sub(r"\\.", "x", pattern, flags=re.DOTALL)
    bare = re.sub(r"\[\^?\]?[^\]]*\]", "x", bare)
    open_groups: list[int] = []
    for place, sign in enumerate(bare):
        if sign == "(":
            open_groups.append(place)
        elif sign == ")" and open_groups:
            inside = bare[open_groups.pop() + 1 : place].removeprefix("?:")
            if _REPEATED_GROUP.match(bare, place) and re.search(r"[*+?|]|\{\d*,", inside):
                return True
    return False
