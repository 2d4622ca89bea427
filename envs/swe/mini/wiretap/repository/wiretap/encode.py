"""Messages to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiretap.kinds import Kind
from wiretap.message import Message
from wiretap.schema import Field
from wiretap.wire import raw_bytes


def encode(message: Message) -> bytes:
    """The bytes of a message, its fields in the order of their numbers."""
    # The sort is stable: the values of a repeated field stay in their order, known or not.
    parts = sorted([*_known(message), *_unknown(message)], key=lambda part: part[0])
    return b"".join(data for _, data in parts)


def _known(message: Message) -> Iterator[tuple[int, bytes]]:
    for field in message.schema.fields:
        value = message[field.name]
        if value == field.default:
            continue
        for one in value if field.repeated else [value]:
            yield field.number, raw_bytes(field.number, field.wire, _to_wire(field, one))


def _unknown(message: Message) -> Iterator[tuple[int, bytes]]:
    for number, wire, value in message.unknown:
        yield number, raw_bytes(number, wire, value)


def _to_wire(field: Field, value: Any) -> int | bytes:
    if not isinstance(field.kind, Kind):
        return encode(value)
    travels: int | bytes = field.kind.to_wire(value)
    return travels
