"""Schemas in a small language, for files: one field a line, `number: name kind[] = default`."""

from __future__ import annotations

import ast
import re
from typing import Any

from wiretap.errors import SchemaError
from wiretap.schema import Field, Schema

_OPEN = re.compile(r"message\s+(\w+)\s*\{")
_FIELD = re.compile(r"(\d+)\s*:\s*(\w+)\s+(\w+)(\[\])?(?:\s*=\s*(.+))?")


def parse_schemas(text: str) -> dict[str, Schema]:
    """The schemas of a text by name; one may use those above it as kinds."""
    schemas: dict[str, Schema] = {}
    name, fields = "", list[Field]()
    for number, full in enumerate(text.splitlines(), start=1):
        line = full.split("#")[0].strip()
        try:
            if not line:
                continue
            if not name and (opening := _OPEN.fullmatch(line)):
                name, fields = opening[1], []
            elif name and line == "}":
                schemas[name] = Schema(name, fields)
                name = ""
            elif name and (match := _FIELD.fullmatch(line)):
                fields.append(_field(match, schemas))
            else:
                raise SchemaError(f"{line!r} cannot be read")
        except SchemaError as cause:
            raise SchemaError(f"line {number}: {cause}") from cause
    if name:
        raise SchemaError(f"message {name} is not closed")
    return schemas


def _field(match: re.Match[str], schemas: dict[str, Schema]) -> Field:
    number, name, kind, repeated, text = match.groups()
    default = _constant(text) if text else None
    return Field(int(number), name, schemas.get(kind, kind), repeated=bool(repeated), default=default)


def _constant(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as cause:
        raise SchemaError(f"{text!r} is no constant") from cause
