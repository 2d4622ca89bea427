"""What a message consists of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiretap.errors import EncodeError, SchemaError
from wiretap.kinds import KINDS, SIZED, Kind


class Field:
    """One field: a number for the wire, a name for people, and a kind, which may be another schema."""

    def __init__(
        self, number: int, name: str, kind: str | Schema, *, repeated: bool = False, default: Any = None
    ) -> None:
        if not 1 <= number < 1 << 29:
            raise SchemaError(f"field {name} has the number {number}; expected one from 1 to 2^29 - 1")
        if isinstance(kind, str) and kind not in KINDS:
            raise SchemaError(f"field {name} is of the kind {kind!r}; there are {', '.join(KINDS)}")
        if default is not None and (repeated or isinstance(kind, Schema)):
            raise SchemaError(f"field {name} cannot have a default; only single values of a simple kind can")
        self.number = number
        self.name = name
        self.kind: Kind | Schema = KINDS[kind] if isinstance(kind, str) else kind
        self.repeated = repeated
        self._default = default
        if default is not None:
            try:
                self.check(default)
            except EncodeError as cause:
                raise SchemaError(f"the default of field {name}: {cause}") from cause

    @property
    def wire(self) -> int:
        return self.kind.wire if isinstance(self.kind, Kind) else SIZED

    @property
    def default(self) -> Any:
        """What the field is when nothing is written: an empty list, no message, or the default of the kind."""
        if self.repeated:
            return []
        if isinstance(self.kind, Schema):
            return None
        return self.kind.default if self._default is None else self._default

    def check(self, value: Any) -> None:
        """Raise `EncodeError` unless this can be one value of the field."""
        if isinstance(self.kind, Kind):
            self.kind.check(value)
        elif getattr(value, "schema", None) is not self.kind:
            raise EncodeError(f"{value!r} is not a {self.kind.name}")


class Schema:
    """The fields of a kind of message, by name and by number."""

    def __init__(self, name: str, fields: Iterable[Field]) -> None:
        self.name = name
        self.fields = tuple(sorted(fields, key=lambda field: field.number))
        self.by_name = {field.name: field for field in self.fields}
        self.by_number = {field.number: field for field in self.fields}
        if len(self.by_name) < len(self.fields):
            raise SchemaError(f"two fields of {name} have the same name")
        if len(self.by_number) < len(self.fields):
            raise SchemaError(f"two fields of {name} have the same number")

    def __repr__(self) -> str:
        return f"Schema({self.name!r})"
