"""What an agent sends as arguments, seen with distrust: whether it is JSON at all, and how to say what is wrong.

Nothing here raises or calls a method of a foreign object; a fault is a sentence.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
"""What a JSON document may hold."""
MAX_DEPTH = 64
"""How deeply an argument may nest."""
MAX_VALUES = 1_000_000
"""How many values an argument may hold on one level of nesting."""

_KINDS: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def kind_of(value: object) -> str:
    """The JSON type name of a value, or its Python type name where it is no JSON."""
    return _KINDS.get(type(value), type(value).__name__)


def json_fault(value: object) -> str:
    """Why `value` cannot travel as JSON; empty where it can."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[object] = []
        for item in level:
            if type(item) is str:
                if not item.isascii() and (fault := text_fault(item)):
                    return fault
            elif type(item) is dict:
                if any(type(key) is not str for key in item):
                    return "an object key is not a string"
                deeper += item
                deeper += item.values()
            elif type(item) is list:
                deeper += item
            elif fault := _scalar_fault(item):
                return fault
            if len(deeper) > MAX_VALUES:
                return f"holds more than {MAX_VALUES} values"
        if not deeper:
            return ""
        level = deeper
    return f"nested more than {MAX_DEPTH} levels deep"


def locate_fault(arguments: Mapping[Any, object]) -> str:
    """The sentence for an arguments object in which `json_fault` found something: which argument, and what."""
    for name, value in arguments.items():
        if type(name) is not str:
            return f"argument names are strings, got {kind_of(name)}"
        if fault := json_fault(name) or json_fault(value):
            return f"argument {preview(name)}: {fault}"
    return f"arguments: {json_fault(arguments)}"


def text_fault(text: str) -> str:
    """Why `text` is no valid Unicode; empty where it is."""
    try:
        text.encode()
    except UnicodeEncodeError as cause:
        return f"holds a lone surrogate (U+{ord(text[cause.start]):04X}) at character {cause.start}"
    return ""


def _scalar_fault(value: object) -> str:
    if value is None or value is True or value is False:
        return ""
    if type(value) is int:
        return "" if -(2**63) <= value < 2**64 else "the integer does not fit 64 bits; pass it as a string"
    if type(value) is float:
        return "" if math.isfinite(value) else "NaN and infinity are not JSON"
    return f"{type(value).__name__} is not JSON"


def preview(value: object) -> str:
    """A short, safe picture of a JSON value."""
    if type(value) is str:
        shown = value if len(value) <= 40 else f"{value[:40]}..."
        return json.dumps(shown.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False)
    if type(value) in (int, float, bool) or value is None:
        return json.dumps(value) if not _scalar_fault(value) else kind_of(value)
    return kind_of(value)


def suggest(name: object, known: Iterable[str]) -> str:
    """` (did you mean ...?)`, or nothing where no known name is near."""
    near = difflib.get_close_matches(name[:64], list(known), n=1) if isinstance(name, str) else []
    return f" (did you mean `{near[0]}`?)" if near else ""


def explain(arguments: Mapping[str, Any], cause: str, *, known: Iterable[str], required: Iterable[str]) -> str:
    """What is wrong with `arguments`, in the agent's words; `cause` is what msgspec said."""
    known = list(known)
    problems = [f"unknown argument {preview(name)}{suggest(name, known)}" for name in arguments if name not in known]
    problems += [f"missing argument `{name}`" for name in required if name not in arguments]
    return "; ".join(problems[:5]) if problems else _explain_value(arguments, cause)


def _explain_value(arguments: Mapping[str, Any], cause: str) -> str:
    said, _, path = cause.partition(" - at `$")
    place = path.removesuffix("`").removeprefix(".")
    said = said.replace("`", "").replace("Expected", "expected", 1).replace("Invalid", "invalid", 1)
    if place not in arguments:
        return f"argument `{place}`: {said}" if place else said
    value = arguments[place]
    shown = kind_of(value) if type(value) in (dict, list) or value is None else f"{kind_of(value)} {preview(value)}"
    return f"argument `{place}`: {said.partition(', got ')[0]}, got {shown}"


def read_text(value: JSON, kinds: frozenset[str]) -> JSON:
    """The JSON value that a text stands for, where a parameter takes the JSON types `kinds`."""
    if not isinstance(value, str) or not kinds or kinds == {"string"}:
        return value
    text = value.strip()
    if text in _PYTHON_WORDS and not kinds & {"string", "any"}:
        return _PYTHON_WORDS[text]
    try:
        decoded: JSON = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return value
    return decoded
