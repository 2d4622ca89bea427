"""The lines of the text format: folding, and the characters that need a backslash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chronicle.errors import FormatError

MOST_BYTES = 75
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def escape(text: str) -> str:
    """A text as the value of a property."""
    return re.sub(r"([\\,;])", r"\\\1", text).replace("\n", r"\n")


def unescape(value: str) -> str:
    """The text that was escaped."""
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def fold(line: str) -> str:
    """The line in pieces of 75 bytes at most, with CR LF; no character is cut."""
    pieces = [""]
    room = MOST_BYTES
    for character in line:
        size = len(character.encode("utf-8"))
        if size > room:
            pieces.append(" ")
            room = MOST_BYTES - 1
        pieces[-1] += character
        room -= size
    return "".join(f"{piece}\r\n" for piece in pieces)


def unfold(text: str) -> Iterator[str]:
    """The lines of a text, put together again, without the empty ones; LF alone ends a line too."""
    return (line for line in re.sub(r"\r?\n[ \t]", "", text).replace("\r\n", "\n").split("\n") if line)


def properties(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and value of every line."""
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name:
            raise FormatError(f"{line!r} is no property; expected NAME:value")
        yield name.upper(), value
