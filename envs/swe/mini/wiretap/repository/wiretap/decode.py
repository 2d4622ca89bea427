"""Bytes to messages."""

from __future__ import annotations

from typing import Any

from wiretap.errors import Corrupt
from wiretap.kinds import Kind
from wiretap.message import Message
from wiretap.schema import Field, Schema
from wiretap.wire import RawField, raw_fields


def decode(schema: Schema, data: bytes) -> Message:
    """The message in these bytes. Of a single field that comes several times the last one counts."""
    values: dict[str, Any] = {}
    unknown = []
    for raw in raw_fields(data):
        field = schema.by_number.get(raw.number)
        if field is None:
            unknown.append(raw)
        elif field.repeated:
            values.setdefault(field.name, []).append(_value(field, raw))
        else:
            values[field.name] = _value(field, raw)
    return Message.received(schema, values, unknown)


def _value(field: Field, raw: RawField) -> Any:
    if raw.wire != field.wire:
        raise Corrupt(f"field {field.name} has the wire type {raw.wire}; expected {field.wire}", raw.position)
    if isinstance(field.kind, Kind):
        return field.kind.from_wire(raw.value, raw.position)
    return decode(field.kind, bytes(raw.value) if isinstance(raw.value, bytes) else b"")
