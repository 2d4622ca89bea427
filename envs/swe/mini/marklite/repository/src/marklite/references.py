"""Link targets: `target "title"`, and definitions `[name]: target "title"` collected from a whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TARGET = re.compile(r'\s*(?:<([^>\n]*)>|([^\s"()<]*(?:\([^\s"()<]*\)[^\s"()<]*)*))(?:\s+"((?:\\.|[^"\\])*)")?\s*')
_DEFINITION = re.compile(r" {0,3}\[([^\]\n]+)\]:(.*)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads."""

    address: str
    title: str = ""


def unescaped(text: str) -> str:
    """The text without the backslashes of its escapes."""
    return _ESCAPED.sub(r"\1", text)


def read_target(text: str, position: int = 0) -> tuple[Target, int] | None:
    """The target that begins here and where it ends; None where there is none."""
    match = _TARGET.match(text, position)
    if match is None:
        return None
    bracketed, bare, title = match.groups()
    address = bracketed if bracketed is not None else bare
    return Target(unescaped(address), unescaped(title or "")), match.end()


def name_key(name: str) -> str:
    """What two spellings of one name have in common."""
    return " ".join(name.casefold().split())


def split_definitions(lines: list[str]) -> tuple[list[str], Mapping[str, Target]]:
    """The lines that are no definitions, and the definitions by key; the first one of a name counts."""
    rest, found, fenced = [], {}, False
    for line in lines:
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else _DEFINITION.fullmatch(line)
        target = read_target(match[2]) if match else None
        if match and target and target[0].address and target[1] == len(match[2]):
            found.setdefault(name_key(match[1]), target[0])
        else:
            rest.append(line)
    return rest, found
