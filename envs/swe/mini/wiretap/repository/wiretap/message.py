"""A message: values for the fields of a schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiretap.errors import EncodeError, SchemaError
from wiretap.schema import Schema
from wiretap.wire import RawField


class Message:
    """Values by the names of the fields; a field that is not given has its default. Messages do not change."""

    def __init__(self, schema: Schema, /, **values: Any) -> None:
        self.schema = schema
        self._values: dict[str, Any] = {}
        self._unknown: tuple[tuple[int, int, int | bytes], ...] = ()
        for name, value in values.items():
            field = schema.by_name.get(name)
            if field is None:
                raise SchemaError(f"{schema.name} has no field {name!r}; it has {', '.join(schema.by_name)}")
            try:
                for one in value if field.repeated else [value]:
                    field.check(one)
            except EncodeError as cause:
                raise EncodeError(f"field {name} of {schema.name}: {cause}") from cause
            self._values[name] = list(value) if field.repeated else value

    @classmethod
    def received(cls, schema: Schema, values: dict[str, Any], unknown: Iterable[RawField]) -> Message:
        """A message with fields that its schema does not know; they are kept for whoever gets it next."""
        message = cls(schema, **values)
        message._unknown = tuple((raw.number, raw.wire, raw.value) for raw in unknown)
        return message

    @property
    def unknown(self) -> tuple[tuple[int, int, int | bytes], ...]:
        """Number, wire type and value of the fields that the schema does not know, as they came."""
        return self._unknown

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        try:
            return self.schema.by_name[name].default
        except KeyError:
            raise SchemaError(f"{self.schema.name} has no field {name!r}") from None

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, defaults included; messages within become dictionaries too."""
        return {field.name: _plain(self[field.name]) for field in self.schema.fields}

    def replace(self, **changes: Any) -> Message:
        """The same message with other values for some of its fields."""
        message = Message(self.schema, **{**self._values, **changes})
        message._unknown = self._unknown
        return message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return (
            self.schema is other.schema
            and sorted(self._unknown, key=_number) == sorted(other._unknown, key=_number)
            and all(self[field.name] == other[field.name] for field in self.schema.fields)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{self.schema.name}({values})"


def _number(unknown: tuple[int, int, int | bytes]) -> int:
    return unknown[0]


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, list) else value
