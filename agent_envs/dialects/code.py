"""The dialect `code`: `<think>...</think><code>...</code>`, a program as the action.

One decision: text between the tags is raw and ends at the first closing tag; a text that holds it cannot be written.
"""

from __future__ import annotations

from agent_envs.dialects._bare import bare_answer, bare_program, call_answer, call_program, unwrap, wrap
from agent_envs.dialects._parsed import Parsed, Reading, Repair
from agent_envs.dialects._teach import SUBMIT, answer_parameter, example_call, list_tools
from agent_envs.dialects._thought import UNCLOSED, check_text, render_thought, split_thought
from agent_envs.errors import ConfigError
from agent_envs.tools import Toolbox, ToolCall

CODE, ANSWER = "code", "answer"
SHAPE = "<think>...</think><code>...</code>"


class CodeDialect:
    """`<think>` then `<code>` with a program for the code tool, or `<answer>` with a text for the tool `submit`."""

    name = "code"

    def __init__(self, *, thought_required: bool = True) -> None:
        self.thought_required = thought_required
        """Whether a message without `<think>` is malformed, and not only badly formed."""

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools, or `ConfigError` where no tool takes a program."""
        tool, answer = toolbox.code_tool, answer_parameter(toolbox)
        if tool is None:
            raise ConfigError("the dialect `code` needs a tool that takes a program: mark one with @tool(code=...)")
        example = self.render(example_call(toolbox), "What I want to know and how I find out.", toolbox=toolbox)
        reachable = [tool.name, *([SUBMIT] if answer is not None else [])]
        text = (
            "Each of your messages first thinks between <think> and </think>, then gives one program between <code> "
            f"and </code>, which is run by `{tool.name}`, and nothing after it. Example:\n\n{example}\n\n"
        )
        if answer is not None:
            ending = self.render(ToolCall(SUBMIT, {answer[1]: "42"}), "I know the answer.")
            text += (
                f"To hand in your answer and finish, write it between <answer> and </answer> instead:\n\n{ending}\n\n"
            )
        return text + list_tools(toolbox.subset(reachable))

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, SHAPE)
        split = split_thought(reading, opener="<code>")
        if split is None:
            return reading.malformed(UNCLOSED)
        start, tagged = split
        found = [(place, tag) for tag in (CODE, ANSWER) if (place := text.find(f"<{tag}>", start)) >= 0]
        if not found:
            return reading.no_call()
        place, tag = min(found)
        if not tagged and self.thought_required:
            return reading.malformed("the thought between <think> and </think> is missing", start)
        reading.well_formed = tagged
        before = text[start:place]
        if before.strip():
            reading.repair(Repair.TEXT_BEFORE_CALL)
            reading.think(before)
        begin = place + len(tag) + 2
        end = text.find(f"</{tag}>", begin)
        if end < 0:
            reading.repair(Repair.UNCLOSED_TAG)
            end = len(text)
        _drop_rest(reading, text[end:].removeprefix(f"</{tag}>"))
        finish = call_program if tag == CODE else call_answer
        return finish(reading, unwrap(text[begin:end]), place)

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought, or `ConfigError` for a call that is no bare program."""
        program, answer = bare_program(call, toolbox), bare_answer(call, toolbox)
        tag, body = (CODE, program) if program is not None else (ANSWER, answer)
        if body is None:
            raise ConfigError(
                f"the dialect `code` can only say a bare program or answer, not {call.name}"
                f"({', '.join(call.arguments)}); use another dialect, for instance `fenced`"
            )
        if f"</{tag}>" in body:
            raise ConfigError(
                f"a text that holds </{tag}> cannot be written between <{tag}> and </{tag}>; build it from parts"
            )
        check_text(body)
        head = render_thought(thought) or "<think></think>\n"
        return f"{head}<{tag}>\n{body}\n</{tag}>" if tag == CODE else f"{head}<{tag}>{wrap(body)}</{tag}>"


def _drop_rest(reading: Reading, after: str) -> None:
    if after.strip():
        several = f"<{CODE}>" in after or f"<{ANSWER}>" in after
        reading.repair(Repair.LATER_CALLS_DROPPED if several else Repair.TEXT_AFTER_CALL)
