"""Calls that arrive as data instead of text: `{"name", "arguments"}`, or a message of the OpenAI chat API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_envs.dialects._json_text import read_arguments
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._thought import split_thought
from agent_envs.tools import Toolbox
from agent_envs.tools._arguments import kind_of

_SHAPE = '{"name": ..., "arguments": {...}} or an assistant message with "tool_calls"'


def parse_mapping(action: Mapping[str, Any], toolbox: Toolbox) -> Parsed:
    """Read `{"name", "arguments"}` or an assistant message with `tool_calls`; never raises.

    Of several calls the first is made, `repairs` holds `later_calls_dropped`, and `message` says so.
    """
    if "tool_calls" in action or "role" in action:
        return parse_openai(action, toolbox)
    return _read_call(Reading("{}", toolbox, _SHAPE), action, identity="")


def parse_openai(message: Mapping[str, Any], toolbox: Toolbox) -> Parsed:
    """Read an assistant message of the OpenAI chat API; never raises."""
    content = message.get("content")
    reading = Reading(content if isinstance(content, str) else "", toolbox, _SHAPE)
    split = split_thought(reading, opener="<think>")
    if split is None:
        reading.think(reading.text)
    else:
        reading.think(reading.text[split[0] :])
    reading.repairs.clear()
    calls = message.get("tool_calls")
    if not calls:
        return reading.no_call()
    call = calls[0] if type(calls) is list else None
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or type(function) is not dict:
        return reading.malformed('"tool_calls" is no list of {"id", "type": "function", "function": {...}}')
    if len(calls) > 1:
        reading.repair(Repair.LATER_CALLS_DROPPED)
    identity = call.get("id")
    if isinstance(given := function.get("arguments"), str):
        function = {**function, "arguments": _decoded(reading, given)}
    return _read_call(reading, function, identity=identity if isinstance(identity, str) else "")


def _decoded(reading: Reading, given: str) -> object:
    # The API sends arguments as a JSON text, so that is no repair here; what is wrong inside it is.
    before = list(reading.repairs)
    value = read_arguments(reading, given) if given.strip() else {}
    reading.repairs[:] = [*before, *(r for r in reading.repairs if r not in (*before, Repair.ARGUMENTS_AS_TEXT))]
    return value


def _read_call(reading: Reading, call: Mapping[str, Any], *, identity: str) -> Parsed:
    name, given = call.get("name"), call.get("arguments")
    if type(name) is not str:
        return reading.malformed(f'"name" is {kind_of(name)}, expected a string')
    arguments = read_arguments(reading, given)
    if type(arguments) is not dict:
        return reading.malformed(f'"arguments" of `{name[:64]}` is {_what(arguments)}, expected an object')
    return reading.call(name, arguments, identity=identity)


def _what(value: object) -> str:
    return "a text that is no JSON object" if isinstance(value, str) else kind_of(value)
