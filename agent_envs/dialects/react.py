"""The dialect `react`: the lines `Thought:`, `Action:` and `Action Input:`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent_envs.dialects._json_text import Found, read_object, render_json
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import answer_parameter, example_call, list_tools
from agent_envs.dialects._thought import UNCLOSED, check_text, split_thought
from agent_envs.errors import ConfigError
from agent_envs.tools import Tool, Toolbox, ToolCall
from agent_envs.tools._arguments import JSON

SHAPE = "Thought: ...\nAction: tool name\nAction Input: {...}"
_ACTION = re.compile(r"^[ \t]*Action[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_INPUT = re.compile(r"\s*Action[ \t]*Input[ \t]*:[ \t]*")
_NEXT = re.compile(r"^[ \t]*(?:Observation|Thought|Action)[ \t]*:", re.MULTILINE)
_RESERVED = re.compile(r"^[ \t]*Action[ \t]*:", re.MULTILINE)
_THOUGHT = "Thought:"


class ReactDialect:
    """`Thought:`, `Action:` with a tool name, `Action Input:` with a JSON object; each on its own line."""

    name = "react"

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        return (
            "Each of your messages makes one tool call. Write a line that begins with Thought:, a line Action: with "
            "the name of one tool, and a line Action Input: with its arguments as one JSON object. Stop there; the "
            f"observation is given to you. Example:\n\n{example}\n\n{list_tools(toolbox)}"
        )

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, SHAPE)
        split = split_thought(reading, opener="Action:")
        if split is None:
            return reading.malformed(UNCLOSED)
        start, _ = split
        action = _ACTION.search(text, start)
        if action is None:
            return reading.no_call()
        before = text[start : action.start()].strip()
        reading.well_formed = before.startswith(_THOUGHT)
        reading.think(before.removeprefix(_THOUGHT))
        name = action[1].strip().strip("`\"'*")
        given = _INPUT.match(text, action.end())
        if given is None:
            reading.repair(Repair.ARGUMENTS_MISSING)
            return _finish(reading, name, {}, text[action.end() :])
        return _read_input(reading, name, given.end())

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought, or `ConfigError` where the thought looks like an action."""
        check_text(thought)
        if _RESERVED.search(thought):
            raise ConfigError("a thought with a line `Action:` would be read as the action; rephrase it")
        arguments = render_json(dict(call.arguments))
        return f"{_THOUGHT} {thought}".rstrip() + f"\nAction: {call.name}\nAction Input: {arguments}"


def _read_input(reading: Reading, name: str, position: int) -> Parsed:
    text = reading.text
    if text.startswith("{", position):
        found = read_object(text, position)
        if not isinstance(found, Found):
            return reading.malformed(f"Action Input is {found.what}", found.position)
        reading.repair(*found.repairs)
        return _finish(reading, name, found.value, text[found.end :])
    following = _NEXT.search(text, position)
    end = following.start() if following else len(text)
    tool = reading.toolbox.get(name)
    parameter = _obvious_parameter(reading.toolbox, tool) if tool is not None else ""
    plain = text[position:end].strip()
    if tool is not None and not plain and not tool.required:
        return _finish(reading, name, {}, text[end:])
    if tool is not None and not parameter:
        return reading.malformed("Action Input is no JSON object", position)
    reading.repair(Repair.TEXT_INPUT)
    arguments = tool.read_texts({parameter: plain}) if tool is not None else {}
    return _finish(reading, name, arguments, text[end:])


def _obvious_parameter(toolbox: Toolbox, tool: Tool) -> str:
    """The parameter that plain text stands for: that of a program, of an answer, or the only required one."""
    if tool.code_parameter:
        return tool.code_parameter
    answer = answer_parameter(toolbox)
    if answer is not None and answer[0] is tool:
        return answer[1]
    return tool.required[0] if len(tool.required) == 1 else ""


def _finish(reading: Reading, name: str, arguments: Mapping[str, JSON], after: str) -> Parsed:
    if after.strip():
        reading.repair(Repair.LATER_CALLS_DROPPED if _ACTION.search(after) else Repair.TEXT_AFTER_CALL)
    return reading.call(name, arguments)
