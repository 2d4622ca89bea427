"""How a typed Python signature becomes a JSON schema and a validator: everything `agent_envs.tools` knows of msgspec.

Only types whose JSON form is the obvious one are accepted, so that what the schema promises is what the function gets.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import msgspec.inspect as types

from agent_envs.errors import ToolDefinitionError
from agent_envs.json_lines import JsonObject
from agent_envs.tools._arguments import kind_of

_PLAIN = (
    types.AnyType,
    types.NoneType,
    types.BoolType,
    types.IntType,
    types.FloatType,
    types.StrType,
    types.LiteralType,
    types.EnumType,
    types.ListType,
    types.VarTupleType,
    types.CollectionType,
    types.TupleType,
    types.DictType,
    types.UnionType,
    types.StructType,
    types.DataclassType,
    types.TypedDictType,
    types.NamedTupleType,
    types.Field,
)
_SUPPORTED = (
    "str, int, float, bool, None, list, tuple, dict with str keys, Literal, Enum, unions of these, dataclasses, "
    "TypedDict and msgspec.Struct"
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ARGS_HEADER = re.compile(r"^(?:Args|Arguments|Parameters):\s*$")
_ARG_ENTRY = re.compile(r"^(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
_EXAMPLE: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function looks like to an agent."""

    description: str
    """The first paragraph of the docstring, on one line."""
    schema: JsonObject
    """JSON schema of the arguments object."""
    arguments: type[msgspec.Struct]
    """The type that validates them."""


def read_signature(function: Callable[..., object], name: str, *, method: bool) -> Signature:
    """The signature of `function` as a schema and a validator, or `ToolDefinitionError` saying what it lacks."""
    where = f"tool `{name}` ({function.__qualname__})"
    if not _NAME.fullmatch(name):
        raise ToolDefinitionError(
            f"{where}: a tool name is 1 to 64 of A-Z a-z 0-9 _ -; pass another with @tool(name=...)"
        )
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f"{where} is async, tools are called synchronously; write a plain `def`")
    description, documented = read_docstring(inspect.getdoc(function) or "")
    if not description:
        raise ToolDefinitionError(
            f"{where} has no docstring, and the agent reads it; add one sentence that says what it does"
        )
    fields = _read_parameters(function, where, method=method)
    for parameter in documented.keys() - {field[0] for field in fields}:
        raise ToolDefinitionError(
            f"{where}: the docstring describes `{parameter}`, which is no parameter; rename or remove it"
        )
    arguments = _define_arguments(name, fields, where)
    schema = _flat_schema(arguments)
    for parameter, text in documented.items():
        schema["properties"][parameter] = {
            "description": text,
            **_without(schema["properties"][parameter], "description"),
        }
    return Signature(description, schema, arguments)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The first paragraph on one line, and the entries of its Google-style `Args:` section."""
    lines = text.strip().splitlines()
    first = " ".join(line.strip() for line in _until_blank(lines))
    start = next((n for n, line in enumerate(lines) if _ARGS_HEADER.match(line)), len(lines))
    entries: dict[str, str] = {}
    indent, current = 0, ""
    for line in lines[start + 1 :]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth == 0:
            break
        indent = indent or depth
        entry = _ARG_ENTRY.match(line.strip()) if depth == indent else None
        if entry:
            current = entry[1]
            entries[current] = entry[2]
        elif current and line.strip():
            entries[current] = f"{entries[current]} {line.strip()}".strip()
    return first, entries


def json_kinds(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types a value of `schema` may have; `{"any"}` where it says nothing."""
    schema = resolve(schema, root)
    if "anyOf" in schema:
        return frozenset().union(*(json_kinds(option, root) for option in schema["anyOf"]))
    if "enum" in schema:
        return frozenset(kind_of(value) for value in schema["enum"])
    return frozenset({schema.get("type", "any")})


def describe(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """A few words for a schema: `integer`, `"a" | "b"`, `array of string | null`, `object {x: integer, y?: string}`."""
    return _describe(schema, root, ())


def _describe(schema: Mapping[str, Any], root: Mapping[str, Any], above: tuple[str, ...]) -> str:
    reference: str = schema.get("$ref", "")
    if reference in above:
        return "object"
    above = (*above, reference) if reference else above
    schema = resolve(schema, root)
    if "anyOf" in schema:
        return " | ".join(_describe(option, root, above) for option in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    kind: str = schema.get("type", "any")
    if "prefixItems" in schema:
        return f"array [{', '.join(_describe(item, root, above) for item in schema['prefixItems'])}]"
    if items := schema.get("items") or schema.get("additionalProperties"):
        return f"{kind} of {_describe(items, root, above)}"
    if properties := schema.get("properties"):
        optional = properties.keys() - set(schema.get("required", ()))
        parts = (f"{name}{'?' * (name in optional)}: {_describe(sub, root, above)}" for name, sub in properties.items())
        return f"{kind} {{{', '.join(parts)}}}"
    return kind + "".join(f" {sign} {schema[key]}" for key, sign in _BOUNDS.items() if key in schema)


def resolve(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """`schema` itself, or what its `$ref` points to in `root`."""
    reference: str | None = schema.get("$ref")
    while reference is not None:
        schema = root["$defs"][reference.removeprefix("#/$defs/")]
        reference = schema.get("$ref")
    return schema


def _until_blank(lines: list[str]) -> list[str]:
    for n, line in enumerate(lines):
        if not line.strip() or _ARGS_HEADER.match(line):
            return lines[:n]
    return lines


def _read_parameters(function: Callable[..., object], where: str, *, method: bool) -> list[tuple[str, Any, Any]]:
    """(name, type, default or NODEFAULT) of every parameter the agent fills in."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as cause:
        raise ToolDefinitionError(
            f"{where}: {cause}; an annotation must be importable at run time, not under TYPE_CHECKING or in a function"
        ) from cause
    parameters = list(inspect.signature(function).parameters.values())
    fields = []
    for parameter in parameters[1:] if method else parameters:
        if stars := _EXAMPLE.get(parameter.kind, ""):
            raise ToolDefinitionError(f"{where}: {stars}{parameter.name} has no schema; name every parameter")
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise ToolDefinitionError(f"{where}: `{parameter.name}` is positional-only; agents pass arguments by name")
        if parameter.name not in hints:
            raise ToolDefinitionError(
                f"{where}: `{parameter.name}` has no annotation; add one, for example `{parameter.name}: str`"
            )
        default = msgspec.NODEFAULT if parameter.default is inspect.Parameter.empty else parameter.default
        fields.append((parameter.name, hints[parameter.name], default))
    return fields


def _define_arguments(name: str, fields: list[tuple[str, Any, Any]], where: str) -> type[msgspec.Struct]:
    for parameter, annotation, _ in fields:
        _check_annotation(annotation, f"{where}: `{parameter}: {_show(annotation)}`")
    arguments = msgspec.defstruct(
        re.sub(r"\W", "_", name),
        [(parameter, annotation, _as_field(default)) for parameter, annotation, default in fields],
        forbid_unknown_fields=True,
        kw_only=True,
    )
    for parameter, annotation, default in fields:
        if default is msgspec.NODEFAULT:
            continue
        try:
            msgspec.convert(msgspec.to_builtins(default), annotation)
        except (TypeError, msgspec.ValidationError) as cause:
            raise ToolDefinitionError(
                f"{where}: the default of `{parameter}` is {default!r}, which is no {_show(annotation)}; change either"
            ) from cause
    return arguments


def _as_field(default: Any) -> Any:
    if isinstance(default, (list, dict)):
        return msgspec.field(default_factory=lambda: copy.deepcopy(default))
    return msgspec.field(default=default)


def _show(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).removeprefix("typing.")


def _check_annotation(annotation: object, where: str) -> None:
    """Refuse what has no obvious JSON form, and what msgspec cannot handle at all."""
    try:
        todo: list[object] = [types.type_info(annotation)]
        msgspec.json.schema(annotation)
    except (TypeError, ValueError, NameError) as cause:
        raise ToolDefinitionError(
            f"{where} cannot be read from JSON ({str(cause).splitlines()[-1]}); use {_SUPPORTED}"
        ) from cause
    seen: list[object] = []
    while todo:
        node = todo.pop()
        if any(node is other for other in seen):
            continue
        seen.append(node)
        plain = isinstance(node, _PLAIN) and not (isinstance(node, types.StrType) and node.pattern is not None)
        if not plain or (isinstance(node, types.DictType) and not isinstance(node.key_type, types.StrType)):
            raise ToolDefinitionError(
                f"{where} holds {type(node).__name__}, which is not plain JSON; use {_SUPPORTED}, "
                "and check the rest in the tool (raise ToolFailed to tell the agent)"
            )
        for value in msgspec.structs.asdict(typing.cast(msgspec.Struct, node)).values():
            todo.extend(_nodes(value))


def _nodes(value: object) -> list[object]:
    if isinstance(value, (types.Type, types.Field)):
        return [value]
    return [v for v in value if isinstance(v, (types.Type, types.Field))] if isinstance(value, tuple) else []


def _flat_schema(arguments: type[msgspec.Struct]) -> JsonObject:
    """The schema with the arguments object at its top, and `$defs` only where a parameter needs them."""
    whole = msgspec.json.schema(arguments)
    definitions: JsonObject = whole["$defs"]
    own = definitions.pop(whole["$ref"].removeprefix("#/$defs/"))
    schema = {
        "type": "object",
        "properties": own["properties"],
        "required": own["required"],
        "additionalProperties": False,
    }
    for field in msgspec.structs.fields(arguments):
        if field.default_factory is not msgspec.NODEFAULT:
            schema["properties"][field.name]["default"] = msgspec.to_builtins(field.default_factory())
    if definitions:
        schema["$defs"] = {key: _without(value, "title") for key, value in definitions.items()}
    return schema


def _without(mapping: Mapping[str, Any], key: str) -> JsonObject:
    return {k: v for k, v in mapping.items() if k != key}
