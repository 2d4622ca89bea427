"""The dialect `json`: thought in plain text or in `<think>`, then one JSON object."""

from __future__ import annotations

import re

from agent_envs.dialects._json_text import Fault, find_object, finish_call, render_call
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import example_call, list_tools
from agent_envs.dialects._thought import UNCLOSED, render_thought, split_thought
from agent_envs.tools import Toolbox, ToolCall

SHAPE = '{"name": ..., "arguments": {...}}'
_FENCE = re.compile(r"`{3,}[A-Za-z_]{0,20}[ \t]*\n?[ \t]*\Z")
_FENCE_REST = re.compile(r"\s*`{3,}")


class JsonDialect:
    """Thought as plain text, then one JSON object `{"name": ..., "arguments": {...}}`."""

    name = "json"

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        return (
            "Each of your messages makes one tool call. You may think first, between <think> and </think>; then write "
            'one JSON object with the keys "name" and "arguments", and nothing after it. Example:\n\n'
            f"{example}\n\n{list_tools(toolbox)}"
        )

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, SHAPE)
        split = split_thought(reading, opener='{"name"')
        if split is None:
            return reading.malformed(UNCLOSED)
        start, _ = split
        at = find_object(text, start)
        if at is None:
            brace = text.find("{", start)
            return reading.no_call() if brace < 0 else reading.malformed('no object with a "name"', brace)
        place, found = at
        before = text[start:place]
        if fenced := _FENCE.search(before[-40:]):
            reading.repair(Repair.CODE_FENCE)
            before = before[: len(before) - len(fenced[0])]
        reading.think(before)
        if isinstance(found, Fault):
            return reading.malformed(found.what, found.position)
        after = text[found.end :]
        return finish_call(reading, place, found, after=_FENCE_REST.sub("", after, count=1) if fenced else after)

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought."""
        return render_thought(thought) + render_call(call)
