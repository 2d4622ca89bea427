"""The thought that models write before they act, between `<think>` and `</think>`."""

from __future__ import annotations

from agent_envs.dialects._parsed import Reading, Repair
from agent_envs.errors import ConfigError
from agent_envs.tools._arguments import text_fault

OPEN, CLOSE = "<think>", "</think>"
_STARTS_OTHERWISE = ("{", "<", "```", "Thought:")


def split_thought(reading: Reading, *, opener: str) -> tuple[int, bool] | None:
    """Where the rest begins and whether a `<think>` block came first; None where that block never ends.

    `opener` is what the format's calls begin with: a `</think>` after it belongs to the call.
    """
    text = reading.text
    begin = len(text) - len(text.lstrip())
    if text.startswith(OPEN, begin):
        end = text.find(CLOSE, begin)
        if end < 0:
            return None
        reading.think(text[begin + len(OPEN) : end])
        return end + len(CLOSE), True
    end = text.find(CLOSE)
    if end < 0 or text.startswith(_STARTS_OTHERWISE, begin) or 0 <= text.find(opener) < end:
        return begin, False
    reading.repair(Repair.UNOPENED_THINK)
    reading.think(text[:end])
    return end + len(CLOSE), True


UNCLOSED = f"the {OPEN} block is never closed, so it is not known where the call begins"
"""What to tell the agent where `split_thought` gives None."""


def render_thought(thought: str) -> str:
    """The block that `split_thought` reads back; empty for an empty thought."""
    check_text(thought)
    if CLOSE in thought:
        raise ConfigError(f"a thought that holds {CLOSE} cannot be written between {OPEN} and {CLOSE}; rephrase it")
    return f"{OPEN}{thought}{CLOSE}\n" if thought else ""


def check_text(text: str) -> None:
    """Refuse to write what no message can hold."""
    if fault := text_fault(text):
        raise ConfigError(f"the text {fault}; replace it first")
