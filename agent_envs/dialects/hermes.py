"""The dialect `hermes`: a JSON object between `<tool_call>` and `</tool_call>`, as many chat templates have it."""

from __future__ import annotations

import json

from agent_envs.dialects._json_text import Fault, finish_call, read_object, render_call
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import example_call
from agent_envs.dialects._thought import UNCLOSED, render_thought, split_thought
from agent_envs.tools import Toolbox, ToolCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
SHAPE = f'{OPEN}{{"name": ..., "arguments": {{...}}}}{CLOSE}'


class HermesDialect:
    """Thought as plain text, then one JSON object between `<tool_call>` and `</tool_call>`."""

    name = "hermes"

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""
        schemas = "\n".join(json.dumps(schema, ensure_ascii=False) for schema in toolbox.schemas())
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        return (
            "Each of your messages makes one tool call. You may think first, between <think> and </think>; then write "
            f"one JSON object between {OPEN} and {CLOSE}, and nothing after it. Example:\n\n"
            f"{example}\n\nThe tools, as JSON schemas:\n<tools>\n{schemas}\n</tools>"
        )

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, SHAPE)
        split = split_thought(reading, opener=OPEN)
        if split is None:
            return reading.malformed(UNCLOSED)
        start, _ = split
        tag = text.find(OPEN, start)
        if tag < 0:
            return reading.no_call()
        reading.think(text[start:tag])
        place = tag + len(OPEN)
        place += len(text[place:]) - len(text[place:].lstrip())
        if not text.startswith("{", place):
            return reading.malformed(f"{OPEN} is not followed by a JSON object", place)
        found = read_object(text, place)
        if isinstance(found, Fault):
            return reading.malformed(found.what, found.position)
        after = text[found.end :].lstrip()
        if not after.startswith(CLOSE):
            reading.repair(Repair.UNCLOSED_TAG)
        return finish_call(reading, place, found, after=after.removeprefix(CLOSE))

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought."""
        return f"{render_thought(thought)}{OPEN}\n{render_call(call)}\n{CLOSE}"
