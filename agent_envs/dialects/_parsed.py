"""What parsing a message gives, and the one place that decides whether a call may run and what the agent is told.

One decision: `call` is there exactly where `error` is empty, so that nobody can run what was not understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agent_envs.tools import BadArguments, Toolbox, ToolCall
from agent_envs.tools._arguments import preview, suggest


class Repair(StrEnum):
    """Every deviation from a format that is forgiven; `Parsed.repairs` names those that were."""

    CODE_FENCE = "code_fence"
    """JSON stood in a Markdown fence."""
    RAW_CONTROL = "raw_control"
    """A JSON string held a line break or tab as such, not as `\\n` or `\\t`."""
    TRAILING_COMMA = "trailing_comma"
    """A comma before a closing brace or bracket."""
    UNCLOSED_QUOTE = "unclosed_quote"
    """The message ended inside a JSON string."""
    UNCLOSED_BRACE = "unclosed_brace"
    """The message ended before the closing braces."""
    PYTHON_LITERAL = "python_literal"
    """A Python dict instead of JSON: single quotes, True, None."""
    SMART_QUOTES = "smart_quotes"
    """Typographic quotation marks around JSON strings."""
    RENAMED_KEYS = "renamed_keys"
    """Other keys than `name` and `arguments` (`tool`, `parameters`, ...)."""
    ARGUMENTS_AS_TEXT = "arguments_as_text"
    """The arguments were a string that holds the JSON object."""
    ARGUMENTS_MISSING = "arguments_missing"
    """No arguments were given at all; read as none."""
    TEXT_INPUT = "text_input"
    """Plain text where a JSON object belongs, for a tool with one obvious parameter."""
    UNCLOSED_TAG = "unclosed_tag"
    """The closing tag or fence is missing."""
    OTHER_TAGS = "other_tags"
    """The tags of a related format (`<function=...>`, `<invoke ...>`)."""
    FENCE_LABEL = "fence_label"
    """A program in a fence without a label, or with another one than `python`."""
    UNOPENED_THINK = "unopened_think"
    """`</think>` without `<think>`: the chat template had opened it."""
    TEXT_BEFORE_CALL = "text_before_call"
    """Text where the format has no place for it, before the call; kept as thought."""
    TEXT_AFTER_CALL = "text_after_call"
    """Text after the call; dropped."""
    LATER_CALLS_DROPPED = "later_calls_dropped"
    """More than one call; only the first is made, because the later ones were written without seeing its result."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a message says."""

    call: ToolCall | None
    """The call to make; None exactly where `error` is set."""
    thought: str = ""
    """What the agent wrote besides the call, without surrounding white space."""
    error: str = ""
    """"" | "malformed" | "unknown_tool" | "bad_arguments"."""
    message: str = ""
    """What the agent should read about its message: the error, or a note that something was dropped. Mostly empty."""
    repairs: tuple[str, ...] = ()
    """Names of `Repair` in the order in which they were made."""
    well_formed: bool = True
    """Whether the message followed the format to the letter; a wrong tool name or argument is no matter of format."""


class Dialect(Protocol):
    """One text format of thought and tool call: what teaches it, what reads it, what writes it."""

    @property
    def name(self) -> str:
        """The word by which it is chosen."""

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches the format and the tools to a model."""

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought, or `ConfigError` where the format cannot say it.

        With the toolbox at hand the text is as plain as it can be; without, a few values are marked for safety.
        """


@dataclass(slots=True)
class Reading:
    """One message being read: gathers what is found on the way to a `Parsed`."""

    text: str
    toolbox: Toolbox
    shape: str
    """What was expected, in a few words, for the error message."""
    thought: str = ""
    repairs: list[str] = field(default_factory=list)
    well_formed: bool = True

    def repair(self, *names: Repair) -> None:
        """Note what was forgiven, once each."""
        self.repairs += [name.value for name in names if name.value not in self.repairs]

    def think(self, *texts: str) -> None:
        """Add to the thought."""
        self.thought = "\n".join(part for part in (self.thought, *(text.strip() for text in texts)) if part)

    def malformed(self, what: str, position: int = -1) -> Parsed:
        """The end of a message that cannot be read."""
        where = f", {self.locate(position)}" if position >= 0 else ""
        return self._fail("malformed", what + where, well_formed=False)

    def no_call(self) -> Parsed:
        """The end of a message that holds nothing like a call: which is not a decision to do nothing."""
        if not self.text.strip():
            return self.malformed("the message is empty, so nothing was done")
        return self.malformed("the message is only text and holds no tool call, so nothing was done")

    def locate(self, position: int) -> str:
        """`at line 2, column 5, near "..."`."""
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        near = self.text[position : position + 20]
        return f"at line {line}, column {column}, {f'near {preview(near)}' if near else 'where it ends'}"

    def call(self, name: str, arguments: Mapping[str, Any], *, identity: str = "", texts: bool = False) -> Parsed:
        """The end of a message that holds a call, if the tool exists and accepts it.

        Args:
            name: The tool.
            arguments: Its arguments.
            identity: The id of the call.
            texts: Whether the format writes every value as text, so that numbers and the like are decoded first.
        """
        tool = self.toolbox.get(name)
        if tool is None:
            return self._fail("unknown_tool", f"no tool is called {preview(name)}{suggest(name, self.toolbox.names)}")
        if texts:
            arguments = tool.read_texts(arguments)
        try:
            tool.validate(arguments)
        except BadArguments as wrong:
            return self._fail("bad_arguments", str(wrong))
        return Parsed(
            ToolCall(name, arguments, identity),
            self.thought,
            message=_note(self.repairs, name),
            repairs=tuple(self.repairs),
            well_formed=self.well_formed and not self.repairs,
        )

    def _fail(self, error: str, what: str, *, well_formed: bool = True) -> Parsed:
        message = f"error: {error}: {what}; expected {self.shape}; tools: {', '.join(self.toolbox.names)}"
        formed = well_formed and self.well_formed and not self.repairs
        return Parsed(None, self.thought, error, message, tuple(self.repairs), formed)


def _note(repairs: list[str], name: str) -> str:
    if Repair.LATER_CALLS_DROPPED in repairs:
        return f"note: the message held several calls; only the first, `{name}`, was made"
    return ""


def too_long(length: int, limit: int) -> Parsed:
    """The answer to a message that is longer than the action space allows, and therefore not read at all."""
    what = f"the message has {length} characters, which is more than the {limit} that are read, so nothing was done"
    return Parsed(None, "", "malformed", f"error: malformed: {what}; expected a shorter message", (), well_formed=False)
