"""Conditions as the trusted side holds them: what a test wants of values that it is only told about."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_envs.verifiers.swe.values import (
    BROKEN,
    Keyed,
    Thing,
    Unreadable,
    is_loose,
    is_readable,
    matched,
    same,
    thing_of,
)

_MATCHED = 2_000
"""Characters of an exception's text that a pattern is tried on."""
_SLOW = re.compile(r"[+*}]\)+[+*{]")


@dataclass(frozen=True, slots=True)
class Told:
    """What the sandbox tells, by its position among the values of one report."""

    position: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is written in the test itself."""

    value: Any


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was found, at admission, to be meant by an expression that does not depend on the code under test."""

    position: int


Operand = Told | Fixed | Recorded


@dataclass(frozen=True, slots=True)
class Compared:
    """`left operator right`."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Close:
    """`value == pytest.approx(wanted, rel, abs)`."""

    value: Operand
    wanted: Operand
    rel: float
    within: float


@dataclass(frozen=True, slots=True)
class Answers:
    """A method of a text says yes, for instance `value.startswith("x")`."""

    value: Operand
    method: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class IsTrue:
    """The value counts as true."""

    value: Operand


@dataclass(frozen=True, slots=True)
class Named:
    """Among the names of a type and of those it derives from is one of these."""

    value: Operand
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of one of these types, whose text has this pattern."""

    value: Operand
    types: Operand
    pattern: Operand | None = None


@dataclass(frozen=True, slots=True)
class Negated:
    """`not part`."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """All of them."""

    parts: tuple[Condition, ...]


Condition = Compared | Close | Answers | IsTrue | Named | Raised | Negated | Every

METHODS = ("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isidentifier")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": same,
    "NotEq": lambda left, right: not same(left, right),
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda left, right: _in(left, right),
    "NotIn": lambda left, right: not _in(left, right),
    "Is": lambda left, right: _is(left, right),
    "IsNot": lambda left, right: not _is(left, right),
}


@dataclass(frozen=True, slots=True)
class Said:
    """What two objects with an idea of their own of equality have answered in the sandbox: no proof, but its limit."""

    equal: bool = False
    within: bool = False
    """Whether the first is in the second."""


def holds(
    condition: Condition, told: Sequence[object], recorded: Sequence[object], said: Sequence[Said | None] = ()
) -> bool:
    """Whether the condition is true of these values; one that cannot even be asked of them is not.

    `said` is what each of the told values, where that is something of its own, has answered about the next one.
    """

    def of(operand: Operand) -> Any:
        match operand:
            case Told(position=position):
                return told[position]
            case Recorded(position=position):
                return recorded[position]
        return operand.value

    def related(left: Operand, right: Operand) -> Said | None:
        match (left, right):
            case (Told(position=one), Told(position=other)) if other == one + 1 and one < len(said):
                return said[one]
        return None

    try:
        return _holds(condition, of, related)
    except (*BROKEN, re.error):
        return False


def pins(condition: Condition) -> bool:
    """Whether one thing only meets it, which the sandbox is not told: no bound, and no relation of what is told."""
    match condition:
        case Every(parts=parts):
            return any(map(pins, parts))
        case Compared(operator="Eq" | "Is", left=left, right=right):
            return not (isinstance(left, Told) and isinstance(right, Told))
    return isinstance(condition, Close | Raised)


_Of = Callable[[Operand], Any]
_Related = Callable[[Operand, Operand], Said | None]


def _holds(condition: Condition, of: _Of, related: _Related) -> bool:
    match condition:
        case Every(parts=parts):
            return all(_holds(part, of, related) for part in parts)
        case Negated(part=part):
            return _is_sayable(part, of) and not _holds(part, of, related)
        case Compared(operator=name, left=left, right=right):
            return _compared(name, of(left), of(right), related(left, right))
        case IsTrue(value=value):
            return _truth(of(value))
        case Close():
            return _close(of(condition.value), of(condition.wanted), condition)
        case Answers(value=value, method=method, args=args):
            return isinstance(of(value), str) and bool(getattr(of(value), method)(*map(of, args)))
        case Named(value=value, names=names):
            return bool(set(names) & {name for name in of(value) if isinstance(name, str)})
    raised, text = of(condition.value)
    pattern = "" if condition.pattern is None else of(condition.pattern)
    return bool(_names(of(condition.types)) & set(raised)) and _found(pattern, text)


def _names(types: Any) -> set[str]:
    """The names of types, written out or recorded."""
    each = types if isinstance(types, tuple) else (types,)
    return {str(one.fields["is"]) if isinstance(one, Thing) else str(one) for one in each}


def _is_sayable(condition: Condition, of: _Of) -> bool:
    """Whether it makes sense to say that this is not so: of a value of the wrong kind, nothing is."""
    match condition:
        case IsTrue(value=value):
            told = of(value)
            return not isinstance(told, Unreadable | Thing) or told.truth is not None
        case Answers(value=value):
            return isinstance(of(value), str)
        case Named(value=value):
            return isinstance(of(value), list)
        case Compared(operator=name, left=left, right=right):
            return name in ("Is", "IsNot") or (is_readable(of(left)) and is_readable(of(right)))
    return True


def _compared(name: str, left: Any, right: Any, said: Said | None) -> bool:
    if said is not None and name in ("Eq", "NotEq", "In", "NotIn") and _is_related(name, left, right, said):
        return name in ("Eq", "In")
    if name not in ("Is", "IsNot") and not (is_readable(left) and is_readable(right)):
        return False
    return bool(_OPERATORS[name](left, right))


def _is_related(name: str, left: Any, right: Any, said: Said) -> bool:
    """Whether objects that say of themselves that they are equal have the fields to show for it."""
    if name in ("Eq", "NotEq"):
        return said.equal and same(left, right, related=True)
    return said.within and any(same(left, member, related=True) for member in right)


def _in(left: Any, right: Any) -> bool:
    if isinstance(right, str | bytes):
        return bool(left in right)
    return any(same(left, member) for member in right)


def _is(left: Any, right: Any) -> bool:
    """Of what there is only once: None, True, False, the members of an enumeration."""
    if left is None or isinstance(left, bool):
        return left is right
    one, other = thing_of(left), thing_of(right)
    return one is not None and not is_loose(one) and same(one, other)


def _truth(value: Any) -> bool:
    return value.truth is True if isinstance(value, Unreadable | Thing) else bool(value)


def _close(value: Any, wanted: Any, to: Close) -> bool:
    match wanted:
        case dict() | Keyed():
            pairs = matched(value, wanted)
            return pairs is not None and all(_close(*pair, to) for pair in pairs)
        case list() | tuple():
            return len(value) == len(wanted) and all(_close(*pair, to) for pair in zip(value, wanted, strict=True))
        case int() | float() if not isinstance(wanted, bool) and isinstance(value, (int, float)):
            return bool(value == wanted or abs(value - wanted) <= max(to.within, to.rel * abs(wanted)))
    return same(value, wanted)


def _found(pattern: str, text: str) -> bool:
    """Whether a text has the pattern. Whoever wrote the text may be out for the host's time."""
    return not pattern or (not _SLOW.search(pattern) and re.search(pattern, text[:_MATCHED]) is not None)
