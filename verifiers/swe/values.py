"""What the runner tells of a value, read on the trusted side: plain data, or the name of a type and its fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

# Whoever tells a value may be out for the host's time: no exponent that fills the memory, no nesting that exhausts the
# stack, and no members that all have the same hash.
_DECIMAL = re.compile(r"-?\d{0,400}(\.\d{0,400})?(E[+-]?\d{1,3})?", re.ASCII)
_FRACTION = re.compile(r"-?\d{1,400}(/\d{1,400})?", re.ASCII)
_DEEPEST = 60
_SAME_HASH = 16
_POSIX_PATH = re.compile(r"\w*PosixPath(?=\()")

BROKEN = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What may happen to whoever looks at a value that somebody has made up."""


@dataclass(frozen=True, slots=True, eq=False)
class Unreadable:
    """A value that is equal to nothing."""

    what: str
    truth: bool | None = None
    """Whether it counts as true, where that was told."""


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An object of a type that only the sandbox knows, by that type's name and its fields."""

    kind: str
    fields: dict[str, object] = field(default_factory=dict)
    wanted: bool = False
    """Whether it is what a test expects; then what it is compared with may have further fields."""
    loose: bool = False
    """Whether its type has an idea of its own of what equality means: it may be as wanted, but equals nothing else."""
    truth: bool | None = True

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]


class TextMember(str):
    """A member of an enumeration that is a text as well."""

    __slots__ = ("member",)
    member: Thing


class NumberMember(int):
    """A member of an enumeration that is a whole number as well."""

    member: Thing


class FloatMember(float):
    """A member of an enumeration that is another number as well."""

    member: Thing


Member = TextMember | NumberMember | FloatMember


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """A set or a dict with things among its keys, which are compared by `matched`."""

    keys: list[object]
    values: list[object] | None = None
    """None of a set."""

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[object]:
        return iter(self.keys)


def read(told: Any, *, wanted: bool = False) -> object:
    """The value as the runner tells it; the process that told it is nobody to be trusted."""
    try:
        return _value_of(told, wanted, _DEEPEST)
    except BROKEN as problem:
        return Unreadable(str(problem)[:100])


def shown(value: object) -> str:
    """A value for whoever reads why a test has failed."""
    try:
        return f"{value!r:.200}"
    except BROKEN:
        return f"a {type(value).__name__}"


def _value_of(told: Any, wanted: bool, deeper: int) -> object:
    match told:
        case ["n"]:
            return None
        case ["B", bool(flag)]:
            return flag
        case ["i", str(digits)]:
            return int(digits)
        case ["f", str(digits)]:
            return float(digits)
        case ["s", str(words)]:
            return words
        case ["b", str(words)]:
            return words.encode("latin-1")
        case ["x", "Decimal", str(digits)] if _DECIMAL.fullmatch(digits):
            return Decimal(digits)
        case ["x", "Fraction", str(digits)] if _FRACTION.fullmatch(digits):
            return Fraction(digits)
        case ["?", str(what), bool(truth)]:
            return Unreadable(what[:100], truth)
    if deeper <= 0:
        return Unreadable("too deep")
    return _collection_of(told, wanted, deeper - 1)


def _collection_of(told: Any, wanted: bool, deeper: int) -> object:
    match told:
        case ["l", list(parts)]:
            return [_value_of(part, wanted, deeper) for part in parts]
        case ["t", list(parts)]:
            return tuple(_value_of(part, wanted, deeper) for part in parts)
        case ["S", list(parts)]:
            members = [_value_of(part, wanted, deeper) for part in parts]
            return set(members) if _are_plain(members) else Keyed(members)
        case ["D", list(pairs)]:
            keys = [_value_of(key, wanted, deeper) for key, _ in pairs]
            values = [_value_of(value, wanted, deeper) for _, value in pairs]
            return dict(zip(keys, values, strict=True)) if _are_plain(keys) else Keyed(keys, values)
        case ["e", plain, str(name), str(kind), *_]:
            member = Thing(kind, {"is": name}, wanted)
            return _member(_value_of(plain, wanted, deeper), member)
        case ["o" | "p" as tag, list(pairs), str(kind), *truth]:
            fields = {str(name): _value_of(value, wanted, deeper) for name, value in pairs}
            return _thing(kind, fields, wanted, loose=tag == "p", truth=truth[0] if truth else True)
    # No text of its own: there may be a million of them.
    return Unreadable(type(told).__name__)


def _thing(kind: str, fields: dict[str, object], wanted: bool, *, loose: bool, truth: Any) -> Thing:
    match fields:
        case {"is": str(path)} if _POSIX_PATH.match(path):
            # Pure or not, they are equal.
            kind, fields = "PosixPath", {"is": _POSIX_PATH.sub("PosixPath", path, count=1)}
    return Thing(kind, fields, wanted, loose, truth if isinstance(truth, bool) else None)


def _member(plain: object, member: Thing) -> object:
    found: Member
    match plain:
        case str():
            found = TextMember(plain)
        case int():
            found = NumberMember(plain)
        case float():
            found = FloatMember(plain)
        case _:
            return member
    found.member = member
    return found


def _are_plain(members: list[object]) -> bool:
    """Whether nothing that is told by its fields is among them; those that are hashed must not all be hashed alike."""
    if not all(map(_is_plain, members)):
        return False
    if max(Counter(map(hash, members)).values(), default=0) > _SAME_HASH:
        raise ValueError("a collection of members that all have the same hash")
    return True


def _is_plain(member: object) -> bool:
    return all(map(_is_plain, member)) if isinstance(member, tuple) else not isinstance(member, Thing)


def same(left: object, right: object, *, related: bool = False) -> bool:
    """Whether Python would call two values equal, as far as it was told; the work grows with their size only.

    `related`: objects with an idea of their own of equality have been asked, and said yes; here their fields are.
    """
    pairs: list[tuple[object, object]] | None = None
    match left, right:
        case (list(one), list(other)) | (tuple(one), tuple(other)):
            pairs = list(zip(one, other, strict=True)) if len(one) == len(other) else None
        case (set() | dict() | Keyed(), set() | dict() | Keyed()):
            pairs = matched(left, right, related=related)
        case (Keyed(), _) | (_, Keyed()):
            return False
        case (Thing(), _) | (_, Thing()):
            thing, counterpart = thing_of(left), thing_of(right)
            if thing is None or counterpart is None:
                return False
            return _same_fields(thing, counterpart, related=related)
        case _:
            return bool(left == right)
    return pairs is not None and all(same(*pair, related=related) for pair in pairs)


def thing_of(value: object) -> Thing | None:
    """What is known by its fields: an object, or a member of an enumeration whatever it is besides."""
    return value.member if isinstance(value, Member) else value if isinstance(value, Thing) else None


def _same_fields(left: Thing, right: Thing, *, related: bool) -> bool:
    if left.kind != right.kind:
        return False
    if left.wanted != right.wanted:
        model, found = (left, right) if left.wanted else (right, left)
        return all(name in found.fields and same(found.fields[name], value) for name, value in model.fields.items())
    loose = left.loose or right.loose
    if left.fields.keys() != right.fields.keys() or (loose and not related):
        return False
    pairs = [(value, right.fields[name]) for name, value in left.fields.items()]
    if loose:
        # Of what cannot be told there is only the answer that it gave.
        pairs = [pair for pair in pairs if not all(isinstance(one, Unreadable) for one in pair)]
    return bool(pairs or not loose) and all(same(one, other, related=related) for one, other in pairs)


def members_of(value: set[Any] | dict[Any, Any] | Keyed) -> list[tuple[object, object]]:
    """The keys of a collection and their values; None where it is a set."""
    match value:
        case Keyed(keys=keys, values=values):
            return [(key, None) for key in keys] if values is None else list(zip(keys, values, strict=True))
        case dict():
            return list(value.items())
    return [(key, None) for key in value]


def matched(left: Any, right: Any, *, related: bool = False) -> list[tuple[object, object]] | None:
    """The values under keys that are equal; None where a key has no partner, or where one is no set like the other."""
    if len(left) != len(right) or _is_set(left) != _is_set(right):
        return None
    shapes: dict[str, list[str]] = {}
    for key, _ in (*members_of(left), *members_of(right)):
        _note_shapes(key, shapes)
    ours = {_Key(shapes, related).of(key): value for key, value in members_of(left)}
    theirs = {_Key(shapes, related).of(key): value for key, value in members_of(right)}
    if len(ours) != len(left) or ours.keys() != theirs.keys():
        return None
    return [(value, theirs[key]) for key, value in ours.items()]


def _is_set(value: object) -> bool:
    return isinstance(value, set) or (isinstance(value, Keyed) and value.values is None)


def _note_shapes(value: object, shapes: dict[str, list[str]]) -> None:
    """By which fields the things of a kind are known, where one is wanted."""
    match value:
        case Thing(wanted=True):
            shapes.setdefault(value.kind, list(value.fields))
            for part in value.fields.values():
                _note_shapes(part, shapes)
        case tuple() | list() | set() | Keyed():
            for part in value:
                _note_shapes(part, shapes)
        case dict():
            for pair in value.items():
                _note_shapes(pair, shapes)


class _Key:
    """What is equal for equal values, and hashed so that nobody can make up many of the same hash."""

    def __init__(self, shapes: Mapping[str, list[str]], related: bool) -> None:
        self._shapes, self._related = shapes, related

    def of(self, value: Any) -> object:
        match value:
            case TextMember() | NumberMember() | FloatMember() if value.member.kind in self._shapes:
                return self._of_thing(value.member)
            case int() | float() | Decimal() | Fraction():
                return _number(value)
            case list() | tuple():
                return (type(value).__name__, *map(self.of, value))
            case set() | dict() | Keyed():
                pairs = frozenset((self.of(key), self.of(part)) for key, part in members_of(value))
                return (_is_set(value), len(value), pairs)
            case Thing():
                return self._of_thing(value)
        return value

    def _of_thing(self, thing: Thing) -> object:
        if thing.loose and not self._related and thing.kind not in self._shapes:
            return object()
        names = self._shapes.get(thing.kind) or sorted(thing.fields)
        missing = object()
        return (Thing, thing.kind, *((name, self.of(thing.fields.get(name, missing))) for name in names))


def _number(value: Any) -> object:
    try:
        above, below = value.as_integer_ratio()
    except (OverflowError, ValueError):
        # Infinite, or not a number, which is equal to nothing.
        return value if value == value else object()
    return (int, f"{above:x}/{below:x}")


def is_readable(value: object) -> bool:
    """Whether every part of a value is one that was told."""
    match value:
        case Unreadable():
            return False
        case Thing(fields=parts):
            return all(map(is_readable, parts.values()))
        case dict() | Keyed():
            return all(is_readable(key) and is_readable(part) for key, part in members_of(value))
        case list() | tuple() | set():
            return all(map(is_readable, value))
    return True


def is_loose(value: object) -> bool:
    """Whether there is something in it that has an idea of its own of equality."""
    match value:
        case Thing(loose=loose, fields=parts):
            return loose or any(map(is_loose, parts.values()))
        case dict() | Keyed():
            return any(is_loose(key) or is_loose(part) for key, part in members_of(value))
        case list() | tuple() | set():
            return any(map(is_loose, value))
    return False
