"""A page of text, read as an agent reads it: nothing here knows more than the observation says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'\[(e\d+)\]|"((?:[^"\\]|\\.)*)"(,?)|(\S+)')
_BULLET = re.compile(r"^(?:- |\d+\. )")
_SPELLED = re.compile(r'\\(?:u\{([0-9a-f]{1,6})\}|(["\\nt]))')
_PLAIN = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_INTRODUCES = {"=", "class", "id", "placeholder", "options", "files", "image", "invalid", "selected,", "disabled,"}
"""Words after which what stands in quotes belongs to the element, and is no text of its own."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is said of a page: an element that can be acted on, a part of its structure, or plain text."""

    role: str
    """`text` where it is plain text."""
    name: str = ""
    ref: str = ""
    said: str = ""
    """What is said after the name, as it stands: value, states, colour, size, place."""
    line: int = 0
    depth: int = 0

    @property
    def value(self) -> str:
        """What a field holds."""
        found = re.search(r'(?:^| )= "((?:[^"\\]|\\.)*)"', self.said)
        return unspelled(found[1]) if found else ""

    @property
    def options(self) -> list[str]:
        """What can be chosen."""
        _, _, listed = self.said.partition("options ")
        return [unspelled(found[2]) for found in _TOKEN.finditer(listed) if found[2] is not None]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return _pair(r"(\d+)x(\d+)", self.said)

    @property
    def at(self) -> tuple[int, int]:
        """Left and top in pixels, in the drawing that it is a part of."""
        return _pair(r"at (-?\d+),(-?\d+)", self.said)

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle, in the drawing that it is a part of."""
        return self.at[0] + self.size[0] / 2, self.at[1] + self.size[1] / 2

    def has(self, word: str) -> bool:
        """Whether a state or a colour is said of it."""
        return word in self.said.split()


def _pair(pattern: str, said: str) -> tuple[int, int]:
    found = re.search(pattern, said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def unspelled(text: str) -> str:
    """The characters that are spelled out between quotes."""
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN[found[2]], text)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an observation says."""

    items: tuple[Item, ...]

    def all(self, role: str = "", name: str | None = None) -> list[Item]:
        """The items of a role and a name, in the order of the page."""
        return [item for item in self.items if role in ("", item.role) and name in (None, item.name)]

    def one(self, role: str = "", name: str | None = None) -> Item:
        """The first of them; `LookupError` where there is none."""
        found = self.all(role, name)
        if not found:
            raise LookupError(f"the page shows no {role} {name!r}")
        return found[0]

    def texts(self) -> list[str]:
        """The plain texts."""
        return [item.name for item in self.all("text")]

    def after(self, text: str, role: str, number: int = 0) -> Item:
        """The item of a role that follows a text, or the name of something."""
        start = next(i for i, item in enumerate(self.items) if item.name == text)
        return [item for item in self.items[start + 1 :] if item.role == role][number]

    def inside(self, item: Item) -> list[Item]:
        """What is indented below an item."""
        start = self.items.index(item) + 1
        below = []
        for one in self.items[start:]:
            if one.line != item.line and one.depth <= item.depth:
                break
            below.append(one)
        return below


def read(observation: str) -> Reading:
    """The lines of an observation, from its first page on."""
    lines = observation.split("\n")
    begin = next((i for i, line in enumerate(lines) if line.startswith("page ")), -1)
    items = [item for number, line in enumerate(lines[begin + 1 :]) for item in _items(line, number)]
    return Reading(tuple(items))


def _items(line: str, number: int) -> Iterator[Item]:
    said = line.lstrip(" ")
    depth = (len(line) - len(said)) // 2
    ref = role = name = ""
    named = False
    rest: list[str] = []
    for found in _TOKEN.finditer(_BULLET.sub("", said)):
        quoted = None if found[2] is None else unspelled(found[2])
        belongs = bool(rest) and (rest[-1] in _INTRODUCES or rest[-1].endswith(","))
        begins = bool(found[1]) or found[4] == "|" or (quoted is not None and not belongs and (named or bool(rest)))
        if begins and role:
            yield Item(role, name, ref, " ".join(rest), number, depth)
        if begins or (quoted is not None and not role):
            ref, role, name, named, rest = found[1] or "", "", "", False, []
            if quoted is not None:
                yield Item("text", quoted, line=number, depth=depth)
        elif quoted is not None and not belongs:
            name, named = quoted, True
        elif not role:
            role = found[4]
        else:
            rest.append(found[0])
    if role:
        yield Item(role, name, ref, " ".join(rest), number, depth)
