"""The kinds of single values: what they default to, their wire type, and their way to bytes and back."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wiretap.errors import Corrupt, EncodeError
from wiretap.varint import unzigzag, zigzag

VARINT, FIXED, SIZED = 0, 1, 2
"""Wire types."""


@dataclass(frozen=True)
class Kind:
    """One kind of value. What travels is a number for the wire type VARINT and bytes for the others."""

    name: str
    wire: int
    python: type
    default: Any
    to_wire: Callable[[Any], Any]
    from_wire: Callable[[Any, int], Any]
    """Takes what travelled and its position, for the error."""

    def check(self, value: Any) -> None:
        """Raise `EncodeError` unless the value is of this kind."""
        allowed = (int, float) if self.python is float else (self.python,)
        # True is an int to Python, and a mistake to everybody who reads the other end.
        if not isinstance(value, allowed) or (isinstance(value, bool) and self.python is not bool):
            raise EncodeError(f"{value!r} is not a {self.name}")


def _same(value: Any, position: int = 0) -> Any:
    return value


def _to_bool(number: int, position: int) -> bool:
    if number > 1:
        raise Corrupt(f"{number} is neither true nor false", position)
    return bool(number)


def _to_text(data: bytes, position: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise Corrupt("a text is not UTF-8", position + cause.start) from cause


def _from_double(data: bytes, position: int) -> float:
    (number,) = struct.unpack("<d", data)
    return float(number)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("uint", VARINT, int, 0, _same, _same),
        Kind("int", VARINT, int, 0, zigzag, lambda number, _: unzigzag(number)),
        Kind("bool", VARINT, bool, False, int, _to_bool),
        Kind("f64", FIXED, float, 0.0, lambda number: struct.pack("<d", number), _from_double),
        Kind("text", SIZED, str, "", lambda text: text.encode("utf-8"), _to_text),
        Kind("bytes", SIZED, bytes, b"", _same, _same),
    )
}
