"""The parts of an instruction text that every dialect shares: the list of tools and one example call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from agent_envs.tools import BadArguments, Tool, Toolbox, ToolCall
from agent_envs.tools._arguments import JSON
from agent_envs.tools._sampling import sample_schema
from agent_envs.tools._schema import resolve

_PROGRAMS = {"bash": "ls"}
SUBMIT = "submit"
"""The tool that `<answer>` and the answer fence call."""


def list_tools(toolbox: Toolbox) -> str:
    """One line a tool, and one a parameter that has a description."""
    return "\n".join(["Tools:", *(line for tool in toolbox for line in _tool_lines(tool))])


def _tool_lines(tool: Tool) -> list[str]:
    lines = [f"- {tool.name}({'' if not tool.parameters['properties'] else tool.usage}): {tool.description}"]
    for name, schema in tool.parameters["properties"].items():
        notes = [schema["description"]] if "description" in schema else []
        if schema.get("default") is not None:
            notes.append(f"Default: {json.dumps(schema['default'], ensure_ascii=False)}.")
        if notes:
            lines.append(f"    {name}: {' '.join(notes)}")
    return lines


def example_call(toolbox: Toolbox) -> ToolCall:
    """A call that its tool accepts, for the instruction text."""
    tool = toolbox.code_tool
    if tool is not None:
        return ToolCall(tool.name, {tool.code_parameter: _PROGRAMS.get(tool.code_language, "print(6 * 7)")})
    tool = next(iter(toolbox))
    root = tool.parameters
    arguments = {name: _example_value(root["properties"][name], root) for name in tool.required}
    try:
        tool.validate(arguments)
    except BadArguments:
        rng = np.random.default_rng(0)
        arguments = {name: sample_schema(root["properties"][name], root, rng) for name in tool.required}
    return ToolCall(tool.name, arguments)


def _example_value(schema: Mapping[str, Any], root: Mapping[str, Any]) -> JSON:
    schema = resolve(schema, root)
    if "anyOf" in schema:
        return _example_value(schema["anyOf"][0], root)
    if "enum" in schema:
        first: JSON = schema["enum"][0]
        return first
    simple: dict[str, JSON] = {"integer": 1, "number": 0.5, "boolean": True, "null": None, "array": [], "object": {}}
    return simple.get(schema.get("type", "string"), "some text")


def answer_parameter(toolbox: Toolbox) -> tuple[Tool, str] | None:
    """The submit tool and the parameter that takes the answer; None where there is no such pair."""
    tool = toolbox.get(SUBMIT)
    if tool is None:
        return None
    names = [*tool.required, *tool.parameters["properties"]]
    return (tool, names[0]) if names else None
