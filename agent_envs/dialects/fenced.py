"""The dialect `fenced`: the action is a Markdown code block, which small models write without being asked.

One decision: the first block that is an action counts. Whatever follows was written before its result was seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_envs.dialects._bare import bare_answer, bare_program, call_answer, call_program
from agent_envs.dialects._json_text import CALL_START, Fault, find_object, finish_call, render_call
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import SUBMIT, answer_parameter, example_call, list_tools
from agent_envs.dialects._thought import UNCLOSED, check_text, render_thought, split_thought
from agent_envs.tools import Toolbox, ToolCall

SHAPE = 'a ```{language} block with a program, or a ```json block with {{"name": ..., "arguments": {{...}}}}'
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,})[ \t]*([\w+.-]{0,40})[ \t]*$", re.MULTILINE)
_RUN = re.compile(r"`{3,}")
_NEARLY_PROGRAM = {
    "python": ("", "py", "python3", "Python", "tool_code"),
    "bash": ("", "sh", "shell", "console", "Bash", "tool_code"),
}
"""By the language of the code tool, the labels that can mean nothing else."""
_MAX_BLOCKS = 1000


@dataclass(frozen=True, slots=True)
class _Block:
    label: str
    start: int
    """Of the opening fence."""
    body: str
    end: int
    closed: bool


class FencedDialect:
    """Thought, then one Markdown block: `python` for a program, `answer` for `submit`, `json` for any other call."""

    name = "fenced"

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""
        answer = answer_parameter(toolbox)
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        parts = ["Each of your messages makes one tool call. You may think first, between <think> and </think>."]
        if tool := toolbox.code_tool:
            parts.append(f"A Markdown block ```{tool.code_language} is a program, run by `{tool.name}`.")
        if answer is not None:
            parts.append(f"A block ```answer hands in its text by `{SUBMIT}`.")
        others = [t.name for t in toolbox if t is not toolbox.code_tool and (answer is None or t is not answer[0])]
        if others:
            parts.append('Other tools are called by a block ```json with {"name": ..., "arguments": {...}}.')
        parts.append("Only the first block counts; write nothing after it. Example:")
        return f"{' '.join(parts)}\n\n{example}\n\n{list_tools(toolbox)}"

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        language = _language(toolbox)
        reading = Reading(text, toolbox, SHAPE.format(language=language))
        split = split_thought(reading, opener="```")
        if split is None:
            return reading.malformed(UNCLOSED)
        start, _ = split
        blocks = list(_blocks(text, start))
        actions = [block for block in blocks if _is_action(block, language)]
        chosen = next(iter(actions), None) or next((block for block in blocks if _is_nearly(block, language)), None)
        if chosen is None:
            labels = ", ".join(block.label or "no label" for block in blocks[:5])
            what = f"no code block that is an action (found: {labels})"
            return reading.malformed(what, blocks[0].start) if blocks else reading.no_call()
        reading.think(text[start : chosen.start])
        if not chosen.closed:
            reading.repair(Repair.UNCLOSED_TAG)
        _drop_rest(reading, text[chosen.end :], [b for b in blocks if b.start >= chosen.end], language)
        return _read_block(reading, chosen, language)

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought; the fence is longer than any in the text."""
        program, answer = bare_program(call, toolbox), bare_answer(call, toolbox)
        if program is not None:
            label, body = _language(toolbox), program
        elif answer is not None:
            label, body = "answer", answer
        else:
            label, body = "json", render_call(call)
        check_text(body)
        fence = "`" * max([2, *(len(run) for run in _RUN.findall(body))])
        return f"{render_thought(thought)}{fence}`{label}\n{body}\n{fence}`"


def _blocks(text: str, start: int) -> Iterator[_Block]:
    opening: re.Match[str] | None = None
    count = 0
    for fence in _FENCE.finditer(text, start):
        if opening is None:
            opening = fence
        elif not fence[2] and len(fence[1]) >= len(opening[1]):
            body = text[opening.end() + 1 : max(opening.end() + 1, fence.start() - 1)]
            yield _Block(opening[2], opening.start(), body, fence.end(), closed=True)
            opening, count = None, count + 1
            if count >= _MAX_BLOCKS:
                return
    if opening is not None:
        yield _Block(opening[2], opening.start(), text[opening.end() + 1 :], len(text), closed=False)


def _language(toolbox: Toolbox | None) -> str:
    """What a bare program is written in."""
    tool = toolbox.code_tool if toolbox is not None else None
    return tool.code_language if tool is not None else "python"


def _is_action(block: _Block, language: str) -> bool:
    return block.label in (language, "answer") or (block.label == "json" and bool(CALL_START.search(block.body)))


def _is_nearly(block: _Block, language: str) -> bool:
    return block.label in _NEARLY_PROGRAM.get(language, ("",)) and bool(block.body.strip())


def _read_block(reading: Reading, block: _Block, language: str) -> Parsed:
    if block.label == "answer":
        return call_answer(reading, block.body, block.start)
    offset = block.start + reading.text[block.start :].find("\n") + 1
    called = find_object(block.body, 0) if block.label == "json" or _is_bare_call(block) else None
    if called is None:
        if block.label != language:
            reading.repair(Repair.FENCE_LABEL)
        return call_program(reading, block.body, block.start)
    if block.label != "json":
        reading.repair(Repair.FENCE_LABEL)
    place, found = called
    if isinstance(found, Fault):
        return reading.malformed(found.what, offset + found.position)
    return finish_call(reading, offset + place, found, after=block.body[found.end :])


def _is_bare_call(block: _Block) -> bool:
    return block.label == "" and bool(CALL_START.match(block.body.lstrip()))


def _drop_rest(reading: Reading, after: str, later: list[_Block], language: str) -> None:
    if any(_is_action(block, language) or _is_nearly(block, language) for block in later):
        reading.repair(Repair.LATER_CALLS_DROPPED)
    elif after.strip():
        reading.repair(Repair.TEXT_AFTER_CALL)
