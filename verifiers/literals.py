"""Typed literals: the only form in which values cross between a candidate's process, a checker's process and the host.

Only exact builtin types exist in it, so an object that lies about `==` cannot be written, and none can be read.
This text also runs inside guests, in both directions; it therefore imports nothing that a bare interpreter lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

MAX_BYTES = 4 << 20
"""The longest encoding that is written or read."""
MAX_DEPTH = 100
"""How deep containers may nest; a container that holds itself is deeper than that."""
MAX_NODES = 500_000
"""How many values one encoding may hold: a list of lists of the same list grows faster than its depth."""

Number = TypeVar("Number", int, float)


class LiteralRefused(ValueError):
    """A value has no typed literal; the message says which type and why."""


class LiteralMalformed(ValueError):
    """Bytes are not the encoding of any value."""


def encode(value: object) -> bytes:
    """The encoding of a value made of exact builtin types; raises `LiteralRefused` for anything else."""
    parts: list[bytes] = []
    _write(value, parts, 0)
    encoded = b"".join(parts)
    if len(encoded) > MAX_BYTES:
        raise LiteralRefused(f"a value of {len(encoded)} bytes is larger than {MAX_BYTES}")
    return encoded


def decode(encoded: bytes) -> Any:
    """The value of an encoding; raises `LiteralMalformed` for anything that `encode` would not have written."""
    if len(encoded) > MAX_BYTES:
        raise LiteralMalformed(f"{len(encoded)} bytes are more than {MAX_BYTES}")
    reader = _Reader(encoded)
    try:
        value = reader.value(0)
    except (ValueError, TypeError, OverflowError) as cause:  # not hexadecimal, not UTF-8, not hashable
        raise LiteralMalformed(f"byte {reader.at}: {cause}") from None
    if reader.at != len(encoded):
        raise LiteralMalformed(f"{len(encoded) - reader.at} bytes follow the value")
    return value


def _write(value: object, parts: list[bytes], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LiteralRefused(f"a value nests deeper than {MAX_DEPTH}")
    if len(parts) > 2 * MAX_NODES:
        raise LiteralRefused(f"a value holds more than {MAX_NODES} values")
    kind = type(value)
    write = _SCALARS.get(kind)
    if write is not None:
        parts.append(write(value))
    elif kind in _TAGS:
        parts.append(b"%b%d:" % (_TAGS[kind], len(value)))  # type: ignore[arg-type]
        for item in value.items() if kind is dict else value:  # type: ignore[attr-defined,union-attr]
            for member in item if kind is dict else (item,):
                _write(member, parts, depth + 1)
    else:
        _write(_canonical(value), parts, depth + 1)


def _canonical(value: object) -> object:
    """The plain equal of a standard container or a NumPy scalar; everything else is refused by name."""
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if name in ("collections.OrderedDict", "collections.defaultdict", "collections.Counter") and isinstance(
        value, dict
    ):
        return dict(dict.items(value))
    bases = {base.__name__: base for base in type(value).__mro__}
    if name.startswith("numpy.") and "generic" in bases:
        plain = vars(bases["generic"])["item"](value)
        if type(plain) in _SCALARS:  # a longdouble stays what it was
            return plain
    raise LiteralRefused(
        f"a value of type {name} cannot be graded; expected None, bool, int, float, complex, str, bytes, "
        "list, tuple, dict, set or frozenset"
    )


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(raw), raw)


_SCALARS: dict[type, Callable[..., bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"T" if value else b"F",
    int: lambda value: b"i%x;" % value,
    float: lambda value: b"f%b;" % repr(value).encode(),
    complex: lambda value: b"c%b;%b;" % (repr(value.real).encode(), repr(value.imag).encode()),
    str: _text,
    bytes: lambda value: b"b%d:%b" % (len(value), value),
}
_DICTS = ("collections.OrderedDict", "collections.defaultdict", "collections.Counter")
_TAGS: dict[type, bytes] = {list: b"l", tuple: b"t", dict: b"d", set: b"S", frozenset: b"Z"}
_CONTAINERS: dict[bytes, Callable[[list[object]], object]] = {b"l": list, b"t": tuple, b"S": set, b"Z": frozenset}


class _Reader:
    def __init__(self, encoded: bytes) -> None:
        self.encoded, self.at, self.nodes = encoded, 0, 0

    def value(self, depth: int) -> object:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise LiteralMalformed("too deep or too many values")
        tag = self._take(1)
        if tag in b"NTF":
            return {b"N": None, b"T": True, b"F": False}[tag]
        if tag == b"i":
            return self._exact(lambda raw: int(raw, 16), lambda number: b"%x" % number)
        if tag == b"f":
            return self._float()
        if tag == b"c":
            return complex(self._float(), self._float())
        if tag in b"sb":
            raw = self._take(self._count())
            return raw if tag == b"b" else raw.decode("utf-8", "surrogatepass")
        return self._container(tag, depth)

    def _container(self, tag: bytes, depth: int) -> object:
        count = self._count()
        if tag == b"d":
            pairs = [(self.value(depth + 1), self.value(depth + 1)) for _ in range(count)]
            return self._whole(dict(pairs), count)
        if tag not in _CONTAINERS:
            raise LiteralMalformed(f"unknown tag {tag!r}")
        return self._whole(_CONTAINERS[tag]([self.value(depth + 1) for _ in range(count)]), count)

    @staticmethod
    def _whole(container: object, count: int) -> object:
        if len(container) != count:  # type: ignore[arg-type]
            raise LiteralMalformed("a member occurs twice")
        return container

    def _take(self, count: int) -> bytes:
        taken = self.encoded[self.at : self.at + count]
        if len(taken) != count:
            raise LiteralMalformed("the value is cut short")
        self.at += count
        return taken

    def _until(self, end: bytes) -> bytes:
        stop = self.encoded.find(end, self.at)
        if stop < 0:
            raise LiteralMalformed(f"no {end!r} follows")
        raw, self.at = self.encoded[self.at : stop], stop + 1
        return raw

    def _exact(self, read: Callable[[bytes], Number], write: Callable[[Number], bytes]) -> Number:
        raw = self._until(b";")
        value = read(raw)
        if write(value) != raw:  # one value, one spelling: no blanks, underscores, signs or zeros of anyone's own
            raise LiteralMalformed(f"{raw[:20]!r} is not how it is written")
        return value

    def _float(self) -> float:
        return self._exact(float, lambda number: repr(number).encode())

    def _count(self) -> int:
        raw = self._until(b":")
        if not raw.isdigit() or len(raw) > 9 or int(raw) > len(self.encoded):
            raise LiteralMalformed(f"{raw[:20]!r} is no length")
        return int(raw)
