"""Bare programs and answers: which tool gets the text of a code block, and which call may be written as one."""

from __future__ import annotations

from agent_envs.dialects._parsed import Parsed, Reading
from agent_envs.dialects._teach import SUBMIT, answer_parameter
from agent_envs.tools import Toolbox, ToolCall


def call_program(reading: Reading, program: str, position: int) -> Parsed:
    """The call that a bare program stands for."""
    tool = reading.toolbox.code_tool
    if tool is None:
        return reading.malformed("a program, but no tool takes one", position)
    return reading.call(tool.name, {tool.code_parameter: program})


def call_answer(reading: Reading, answer: str, position: int) -> Parsed:
    """The call that a bare answer stands for."""
    target = answer_parameter(reading.toolbox)
    if target is None:
        return reading.malformed("an answer, but no tool `submit` takes one", position)
    tool, parameter = target
    return reading.call(tool.name, {parameter: answer}, texts=True)


def bare_program(call: ToolCall, toolbox: Toolbox | None) -> str | None:
    """The program where the call is nothing but one; without a toolbox a sole argument `code` is taken for one."""
    tool = toolbox.code_tool if toolbox is not None else None
    name, parameter = (tool.name, tool.code_parameter) if tool is not None else (call.name, "code")
    if (toolbox is not None and tool is None) or call.name != name or call.name == SUBMIT:
        return None
    return _sole(call, parameter)


def bare_answer(call: ToolCall, toolbox: Toolbox | None) -> str | None:
    """The answer where the call is nothing but one."""
    if call.name != SUBMIT:
        return None
    if toolbox is None:
        return _sole(call, "answer")
    target = answer_parameter(toolbox)
    if target is None:
        return None
    tool, parameter = target
    text = _sole(call, parameter)
    return text if text is not None and tool.read_texts({parameter: text}) == {parameter: text} else None


def _sole(call: ToolCall, parameter: str) -> str | None:
    value = call.arguments.get(parameter)
    return value if isinstance(value, str) and len(call.arguments) == 1 else None


def wrap(text: str) -> str:
    """Text for between two tags: on lines of its own where it has several."""
    return f"\n{text}\n" if "\n" in text else text


def unwrap(text: str) -> str:
    """What `wrap` was given."""
    return text.removeprefix("\n").removesuffix("\n")
