"""The dialect `xml`: one tag per argument, with its text raw, so that programs need no escaping.

One decision: there are no entities. A value ends at `</arg>`; a value that holds that, or that could be taken for
something else than text, is written as JSON and marked `type="json"`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_envs.dialects._json_text import render_json
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import example_call, list_tools
from agent_envs.dialects._thought import UNCLOSED, check_text, render_thought, split_thought
from agent_envs.tools import Toolbox, ToolCall
from agent_envs.tools._arguments import JSON, read_text

SHAPE = '<tool name="..."><arg name="...">...</arg></tool>'
_ANY_KIND = frozenset({"any"})
_NAME = r"""["']?([\w.:-]{1,200})["']?"""


@dataclass(frozen=True, slots=True)
class _Tags:
    """One family of tags."""

    tool: re.Pattern[str]
    argument: re.Pattern[str]
    end_tool: str
    end_argument: str


_OURS = _Tags(
    re.compile(rf"<tool[ \t\n]+name={_NAME}[ \t\n]*>"),
    re.compile(rf"""<arg[ \t\n]+name={_NAME}([ \t\n]+type=["']json["'])?[ \t\n]*>"""),
    "</tool>",
    "</arg>",
)
_OTHERS = (
    _Tags(re.compile(rf"<function={_NAME}>"), re.compile(rf"<parameter={_NAME}()>"), "</function>", "</parameter>"),
    _Tags(
        re.compile(rf"<invoke[ \t\n]+name={_NAME}>"),
        re.compile(rf"<parameter[ \t\n]+name={_NAME}()>"),
        "</invoke>",
        "</parameter>",
    ),
)


class XmlDialect:
    """Thought, then `<tool name="..."><arg name="...">raw text</arg></tool>`."""

    name = "xml"

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        return (
            "Each of your messages makes one tool call. You may think first, between <think> and </think>; then write "
            "one <tool> tag with an <arg> tag for each argument, and nothing after it. Text is taken as it stands, "
            "without escaping; numbers, lists and objects are JSON. Example:\n\n"
            f"{example}\n\n{list_tools(toolbox)}"
        )

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, SHAPE)
        split = split_thought(reading, opener="<tool name")
        if split is None:
            return reading.malformed(UNCLOSED)
        start, _ = split
        openings = [(match, tags) for tags in (_OURS, *_OTHERS) if (match := tags.tool.search(text, start))]
        if not openings:
            broken = text.find("<tool", start)
            return reading.no_call() if broken < 0 else reading.malformed("the <tool> tag is not complete", broken)
        opening, tags = min(openings, key=lambda pair: pair[0].start())
        if tags is not _OURS:
            reading.repair(Repair.OTHER_TAGS)
        reading.think(text[start : opening.start()].removesuffix("\n").removesuffix("<tool_call>"))
        return _read_arguments(reading, opening, tags)

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought."""
        tool = toolbox.get(call.name) if toolbox is not None else None
        lines = [f'<tool name="{call.name}">']
        for name, value in call.arguments.items():
            kinds = tool.kinds(name) if tool is not None else _ANY_KIND
            lines.append(_render_argument(name, value, kinds or _ANY_KIND))
        return render_thought(thought) + "\n".join([*lines, "</tool>"])


def _read_arguments(reading: Reading, opening: re.Match[str], tags: _Tags) -> Parsed:
    text, position = reading.text, opening.end()
    arguments: dict[str, JSON] = {}
    tool = reading.toolbox.get(opening[1])
    while True:
        position = _skip_space(text, position)
        if text.startswith(tags.end_tool, position):
            position += len(tags.end_tool)
            break
        argument = tags.argument.match(text, position)
        if argument is None and position == len(text):
            reading.repair(Repair.UNCLOSED_TAG)
            break
        if argument is None:
            return reading.malformed(f"expected an argument tag or {tags.end_tool}", position)
        end = text.find(tags.end_argument, argument.end())
        value_end = end
        if end < 0:
            reading.repair(Repair.UNCLOSED_TAG)
            closing = text.rfind(tags.end_tool, argument.end())
            value_end = end = closing if closing >= 0 else len(text)
        raw = _trim(text[argument.end() : value_end])
        kinds = tool.kinds(argument[1]) if tool is not None else frozenset[str]()
        arguments[argument[1]] = read_text(raw, _ANY_KIND if argument[2] else kinds)
        position = end + len(tags.end_argument) if text.startswith(tags.end_argument, end) else end
    after = text[position:].strip()
    if tags is not _OURS:
        after = after.removeprefix("</tool_call>").removeprefix("</function_calls>")
    if after.strip():
        reading.repair(Repair.LATER_CALLS_DROPPED if tags.tool.search(after) else Repair.TEXT_AFTER_CALL)
    return reading.call(opening[1], arguments)


_SPACE = re.compile(r"\s*")


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _trim(raw: str) -> str:
    """Without the line break after the opening tag and the one before the closing tag."""
    return raw.removeprefix("\n").removesuffix("\n")


def _render_argument(name: str, value: JSON, kinds: frozenset[str]) -> str:
    if isinstance(value, str) and "</arg>" not in value and "</tool>" not in value and read_text(value, kinds) == value:
        check_text(value)
        body = f"\n{value}\n" if "\n" in value else value
        return f'<arg name="{name}">{body}</arg>'
    mark = ' type="json"' if isinstance(value, str) else ""
    return f'<arg name="{name}"{mark}>{render_json(value)}</arg>'
