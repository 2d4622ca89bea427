"""Reading the fields of a message one after another, without knowing what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wiretap.errors import Corrupt, Truncated
from wiretap.kinds import FIXED, SIZED, VARINT
from wiretap.varint import decode_varint, encode_varint

FIXED_SIZE = 8


class RawField(NamedTuple):
    """A field as it travels: a number for the wire type VARINT, bytes for the others."""

    number: int
    wire: int
    value: int | bytes
    position: int
    """Where the value starts."""


def raw_fields(data: bytes) -> Iterator[RawField]:
    """Every field of a message, in the order of the bytes."""
    position = 0
    while position < len(data):
        start = position
        key, position = decode_varint(data, position)
        number, wire = divmod(key, 8)
        if not number:
            raise Corrupt("a field has the number 0", start)
        value: int | bytes
        if wire == VARINT:
            place = position
            value, position = decode_varint(data, position)
        elif wire in (FIXED, SIZED):
            size, place = (FIXED_SIZE, position) if wire == FIXED else decode_varint(data, position)
            value, position = take(data, place, size), place + size
        else:
            raise Corrupt(f"field {number} has the wire type {wire}", start)
        yield RawField(number, wire, value, place)


def take(data: bytes, position: int, size: int) -> bytes:
    """So many bytes from this position."""
    if position + size > len(data):
        raise Truncated(f"{size} bytes announced, {len(data) - position} left", position)
    return data[position : position + size]


def raw_bytes(number: int, wire: int, value: int | bytes) -> bytes:
    """A field as bytes."""
    key = encode_varint(number * 8 + wire)
    if isinstance(value, int):
        return key + encode_varint(value)
    return key + (encode_varint(len(value)) if wire == SIZED else b"") + value
