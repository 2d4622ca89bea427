"""What a kind of answer is: how a text is read as a value, and when two values are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec
from agent_envs.verifiers.answers import unwrapped
from agent_envs.verifiers.submission import clipped

MAX_CHARACTERS = 20_000
"""Longer text is no answer that anyone meant to give."""

_SHORT = 500
_FULL_WIDTH = {0x3000: " ", 0xFFE0: "\u00a2", 0xFFE1: "\u00a3", 0xFFE5: "\u00a5", 0xFFE6: "\u20a9"} | {
    code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)
}
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x2060, 0xFEFF], "")
_QUOTES = dict.fromkeys([0x2018, 0x2019, 0x201A, 0x02BC, 0x2032], "'") | dict.fromkeys(
    [0x201C, 0x201D, 0x201E, 0x2033, 0x00AB, 0x00BB], '"'
)
_DASHES = dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212], "-")
_SPELLINGS = _FULL_WIDTH | _INVISIBLE | _QUOTES | _DASHES
_EMPHASIS = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|__(?P<low>[^_]+)__")


class Unreadable(ValueError):
    """A text is no answer of the expected kind; the message says why."""


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type"):
    """A kind of answer with its options."""

    def contradictions(self) -> Iterator[str]:
        """Everything about its options that cannot be meant."""
        yield from ()

    def read(self, text: str) -> Any:
        """The value that an answer spells; raises `Unreadable`."""
        return self.value(plain(text))

    def value(self, text: str) -> Any:
        """The value that a text in its one spelling stands for; raises `Unreadable`."""
        raise NotImplementedError

    def gold(self, expected: object) -> Any:
        """The value that a task expects; raises `Unreadable` where it is none of this kind."""
        if isinstance(expected, str):
            return self.read(expected)
        raise Unreadable(f"expected text, not {type(expected).__name__}")

    def same(self, answer: Any, expected: Any) -> bool:
        """Whether an answer's value is the expected one."""
        return bool(answer == expected)


def bounded(text: str) -> str:
    """The text itself; one that is too long raises `Unreadable`."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"a text of {len(text)} characters is not read as an answer")
    return text


def whole(text: str) -> str:
    """The text without what encloses the whole of it; one that is too long raises `Unreadable`."""
    return unwrapped(bounded(text).strip()).strip()


def plain(text: str) -> str:
    """One spelling for what looks the same: full-width signs, quotes, dashes, blanks, wrappers around the whole.

    Letters of other scripts that look alike stay what they are.
    """
    bare = whole(unicodedata.normalize("NFC", bounded(text)).translate(_SPELLINGS))
    match = _EMPHASIS.fullmatch(bare)
    return whole(match["bold"] or match["low"]) if match else bare


def one_line(text: str) -> str:
    """The text with every run of blanks as one."""
    return " ".join(text.split())


def brief(text: str) -> str:
    """The same of a text that can be one short value; a longer one raises `Unreadable`."""
    if len(text) > _SHORT:
        raise Unreadable(f"a text of {len(text)} characters is not one value")
    if len(text.splitlines()) > 1:
        raise Unreadable("several lines are not one value")
    return one_line(text)


def quoted(text: str) -> str:
    """The text as it stands in a reason."""
    return repr(clipped(text, 80))
