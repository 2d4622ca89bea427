"""Calls written as JSON objects: strictly first, then through repairs that have a name, in a few passes at most.

Every pass is linear in the text: a regular expression consumes what it has looked at, and candidates are counted.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.errors import ConfigError
from agent_envs.tools import ToolCall
from agent_envs.tools._arguments import MAX_DEPTH, json_fault, kind_of

CALL_START = re.compile(r"""\{\s*["'\u201c\u2018](?:name|arguments|tool|function|action|type|id)["'\u201d\u2019]""")
"""How an object begins that is meant as a call."""

_NAME_KEYS = ("name", "tool", "function", "action", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")
_STRICT = json.JSONDecoder()
_LENIENT = json.JSONDecoder(strict=False)
_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_STRING = r""""(?:[^"\\]++|\\.)*+("|\\?\Z)|'(?:[^'\\]++|\\.)*+('|\\?\Z)"""
_TOKEN = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"((?:{_STRING}))|,(?=\s*[}}\]])", re.DOTALL)
_ANY_STRING = re.compile(_STRING, re.DOTALL)
_PLAIN_REST = re.compile(r"(?:[\s{}\[\],:.\-0-9eE]|True|False|None|true|false|null)*+")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PYTHON_ESCAPES = "\\'\"abfnrtvxuUN"
_PARTNER = {"{": "}", "[": "]"}
_COMMA_CLOSE = re.compile(r",\s*+[}\]]")
_PYTHON_SIGN = re.compile(r"'|True|False|None")
_CANDIDATES = 8
"""How many objects in one message are tried."""
_MAX_LITERAL = 200_000


@dataclass(frozen=True, slots=True)
class Found:
    """An object that was read."""

    value: dict[str, Any]
    end: int
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why no object could be read, and where."""

    what: str
    position: int


def find_object(text: str, start: int) -> tuple[int, Found | Fault] | None:
    """The first object from `start` on that is meant as a call, with its position; None where nothing is."""
    begin = start + len(text[start:]) - len(text[start:].lstrip())
    if text.startswith("{", begin):
        return begin, read_object(text, begin)
    places = [match.start() for match in islice(CALL_START.finditer(text, begin), _CANDIDATES)]
    for place in places:
        if isinstance(found := read_strictly(text, place), Found):
            return place, found
    faults = []
    for place in places:
        if isinstance(result := read_object(text, place), Found):
            return place, result
        faults.append((place, result))
    return faults[0] if faults else None


def read_strictly(text: str, start: int) -> Found | Fault:
    """The JSON object at `start`, as the standard has it."""
    try:
        value, end = _STRICT.raw_decode(text, start)
    except json.JSONDecodeError as cause:
        return Fault(f"not JSON: {cause.msg}", min(cause.pos, len(text)))
    except RecursionError:
        return Fault("not JSON that can be read: it nests too deeply", start)
    except ValueError:
        return Fault("not JSON that can be read: a number has too many digits", start)
    return Found(value, end) if isinstance(value, dict) else Fault(f"expected an object, got {kind_of(value)}", start)


def read_object(text: str, start: int) -> Found | Fault:
    """The JSON object at `start`, repaired where that helps."""
    result = read_strictly(text, start)
    if isinstance(result, Found):
        return result
    try:
        value, end = _LENIENT.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _repair(text, start) or result
    return Found(value, end, (Repair.RAW_CONTROL,)) if isinstance(value, dict) else result


def _repair(text: str, start: int) -> Found | None:
    body, repairs = text[start:], list[Repair]()
    if re.match(r"\{\s*[\u201c\u201d\u201e\u2018\u2019]", body):
        body = body.translate(_QUOTES)
        repairs.append(Repair.SMART_QUOTES)
    extent = _extent(body)
    if extent is None:
        return None
    end, quote, braces = extent
    piece = body[:end]
    if quote or braces:
        piece = (piece if quote else piece.rstrip().rstrip("`")) + quote + braces
        repairs += [Repair.UNCLOSED_QUOTE] * bool(quote) + [Repair.UNCLOSED_BRACE] * (len(braces) > bool(quote))
    if _COMMA_CLOSE.search(piece):
        shorter = _TRAILING_COMMA.sub(lambda match: match[1] or "", piece)
        if shorter != piece:
            repairs.append(Repair.TRAILING_COMMA)
        piece = shorter
    return _decode(piece, start + end, repairs)


def _extent(body: str) -> tuple[int, str, str] | None:
    """(end, missing quote, missing braces) of the object that `body` starts with; None where it nests wrongly."""
    stack: list[str] = []
    for match in _TOKEN.finditer(body):
        sign = match[0][0]
        if sign in _PARTNER:
            stack.append(_PARTNER[sign])
            if len(stack) > MAX_DEPTH:
                return None
        elif sign in "\"'":
            if sign not in (match[1], match[2]):
                return len(body) - len(match[1] or match[2] or ""), sign, "".join(reversed(stack))
        elif stack.pop() != sign:
            return None
        elif not stack:
            return match.end(), "", ""
    return len(body), "", "".join(reversed(stack))


def _decode(piece: str, end: int, repairs: list[Repair]) -> Found | None:
    for decoder, extra in ((_STRICT, ()), (_LENIENT, (Repair.RAW_CONTROL,))):
        try:
            value = decoder.decode(piece)
        except (ValueError, RecursionError):
            continue
        return Found(value, end, (*repairs, *extra)) if isinstance(value, dict) else None
    value = _python_literal(piece)
    return Found(value, end, (*repairs, Repair.PYTHON_LITERAL)) if isinstance(value, dict) else None


def _python_literal(piece: str) -> object:
    # Only brackets, strings, numbers and three words reach the Python parser, so that nothing odd can be built.
    if len(piece) > _MAX_LITERAL or not _PYTHON_SIGN.search(piece):
        return None
    if not _PLAIN_REST.fullmatch(_ANY_STRING.sub("", piece)):
        return None
    words = {"true": "True", "false": "False", "null": "None"}
    source = re.sub(
        rf"({_STRING})|\b(?:true|false|null)\b",
        lambda match: _as_python(match[1]) if match[1] else words[match[0]],
        piece,
        flags=re.DOTALL,
    )
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _as_python(quoted: str) -> str:
    """A quoted string that Python reads without a warning: unknown escapes doubled, line breaks escaped."""
    known = _ESCAPE.sub(lambda match: match[0] if match[1] in _PYTHON_ESCAPES else "\\" + match[0], quoted)
    return known.replace("\r", "\\r").replace("\n", "\\n")


def finish_call(reading: Reading, start: int, found: Found, *, after: str) -> Parsed:
    """The call that an object holds; `after` is what follows it in the message."""
    reading.repair(*found.repairs)
    if after.strip():
        more = CALL_START.search(after)
        reading.repair(Repair.LATER_CALLS_DROPPED if more else Repair.TEXT_AFTER_CALL)
    value = found.value
    if isinstance(inner := value.get("function"), dict):
        reading.repair(Repair.RENAMED_KEYS)
        value = inner
    name = _pick(reading, value, _NAME_KEYS)
    if not isinstance(name, str):
        return reading.malformed('the object has no "name" that is a string', start)
    arguments = read_arguments(reading, _pick(reading, value, _ARGUMENT_KEYS))
    if not isinstance(arguments, dict):
        return reading.malformed(f'"arguments" is {kind_of(arguments)}, expected an object', start)
    return reading.call(name, arguments)


def _pick(reading: Reading, value: Mapping[str, Any], keys: tuple[str, ...]) -> object:
    key = next((key for key in keys if key in value), keys[0])
    if key != keys[0]:
        reading.repair(Repair.RENAMED_KEYS)
    return value.get(key)


def read_arguments(reading: Reading, given: object) -> object:
    """The arguments object, also where it is missing or wrapped in a string."""
    if given is None:
        reading.repair(Repair.ARGUMENTS_MISSING)
        return {}
    if isinstance(given, str):
        begin = len(given) - len(given.lstrip())
        found = read_object(given, begin)
        if isinstance(found, Found) and not given[found.end :].strip():
            reading.repair(Repair.ARGUMENTS_AS_TEXT, *found.repairs)
            return found.value
    return given


def render_json(value: object) -> str:
    """JSON on one line in which no closing tag can occur, or `ConfigError` where the value is no JSON."""
    if fault := json_fault(value):
        raise ConfigError(f"the call cannot be written as JSON: {fault}")
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")


def render_call(call: ToolCall) -> str:
    """`{"name": ..., "arguments": ...}` on one line."""
    return render_json({"name": call.name, "arguments": dict(call.arguments)})
