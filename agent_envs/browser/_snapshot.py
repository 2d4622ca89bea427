"""What a tab looks like, as text: whole, in pages, as a difference, or searched.

Words of the page stand in quotes, in which quotes, line ends and invisible characters are spelled out; everything
outside of quotes is ours. So no page can write a line that reads like one of ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_REFERENCE = re.compile(r"\[(e\d+)\]")
_HARD = 4_000_000
_MOST_FOUND = 40


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One look at a tab."""

    url: str
    title: str
    """In quotes, as in a line."""
    lines: tuple[str, ...]
    """Indented by two spaces per level: `[e12] button "Add to cart" disabled`."""
    scroll: tuple[int, int] | None = None
    """How far the page is scrolled and how far it can be, in pixels; None where it cannot be."""
    document: int = 0
    """Differs between the documents that a tab has shown."""
    tab: int = 1
    """The number of the tab."""
    tabs: tuple[tuple[int, str], ...] = ()
    """Where there are several tabs: the number and the address of each."""

    @property
    def header(self) -> str:
        """The title and the address, where the page is scrolled to, and the tabs."""
        scrolled = f"\nscrolled {self.scroll[0]} of {self.scroll[1]} px" if self.scroll else ""
        tabs = "".join(f"\ntab {n} at {url}{' (in front)' if n == self.tab else ''}" for n, url in self.tabs)
        return f"page {self.title} at {self.url}{scrolled}{tabs}"

    def full(self, budget: int = 0, *, page: int = 1) -> str:
        """The whole page, or one of the parts that it has under a budget of characters; what is left out is counted."""
        parts = self._parts(budget)
        page = min(max(page, 1), len(parts))
        first, last = parts[page - 1]
        said = [self.header, *self.lines[first:last]] if page == 1 else [*self._around(first), *self.lines[first:last]]
        if len(parts) > 1:
            more = "read_more shows what follows" if page < len(parts) else "this is the end"
            said.append(f"(lines {first + 1}-{last} of {len(self.lines)}, part {page} of {len(parts)}; {more})")
        return "\n".join(said)

    def parts(self, budget: int) -> int:
        """Into how many parts a budget of characters cuts the page."""
        return len(self._parts(budget))

    def _parts(self, budget: int) -> list[tuple[int, int]]:
        """Where each part begins and ends; a line that is longer than the budget is a part of its own."""
        if budget <= 0 or sum(map(len, self.lines)) + len(self.lines) + len(self.header) <= budget:
            return [(0, len(self.lines))]
        parts, first, room = [], 0, budget - len(self.header) - 100
        for index, line in enumerate(self.lines):
            room -= len(line) + 1
            if room < 0 and index > first:
                parts.append((first, index))
                first, room = index, budget - 200 - len(line)
        return [*parts, (first, len(self.lines))]

    def _around(self, index: int) -> list[str]:
        """The lines that a line is inside of."""
        return [self.lines[i] for i in _ancestors(self.lines, index)]

    def diff(self, former: Snapshot | None, budget: int = 0) -> str:
        """What differs from a former look: `+` is new, `-` gone, `~` changed; the whole page where that is shorter."""
        if former is None or (former.tab, former.document) != (self.tab, self.document):
            return self.full(budget)
        if (former.lines, former.header) == (self.lines, self.header):
            return "nothing that can be seen on the page changed"
        said = [self.header] if former.header != self.header else []
        said += _changes(former.lines, self.lines)
        text = "\n".join(said)
        return text if len(text) * 2 < sum(map(len, self.lines)) or len(text) < 600 else self.full(budget)

    def find(self, text: str) -> str:
        """The lines that hold a text, in any case, each with the lines it is inside of."""
        wanted = " ".join(text.split()).lower()
        hits = [i for i, line in enumerate(self.lines) if wanted in line.lower()]
        if not hits:
            return f"nothing on the page holds {text!r}"
        shown = sorted({i for hit in hits[:_MOST_FOUND] for i in (*_ancestors(self.lines, hit), hit)})
        more = [f"({len(hits) - _MOST_FOUND} more)"] if len(hits) > _MOST_FOUND else []
        return "\n".join([*(self.lines[i] for i in shown), *more])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _ancestors(lines: tuple[str, ...], index: int) -> list[int]:
    found: list[int] = []
    if index >= len(lines):
        return found
    level = _indent(lines[index])
    for i in range(index - 1, -1, -1):
        if level == 0:
            break
        if (indent := _indent(lines[i])) < level:
            found.append(i)
            level = indent
    return found[::-1]


def _changes(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    """The lines that differ, each with its mark; a line that only changed is told once, as it is now."""
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    room = min(len(old), len(new)) - start
    end = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if len(before) * len(after) > _HARD:
        return [*(f"- {line.strip()}" for line in before), *(f"+ {line.strip()}" for line in after)]
    said: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            said += _hunk(before[a:b], after[c:d])
    return said


def _hunk(gone: tuple[str, ...], come: tuple[str, ...]) -> list[str]:
    kept = {found[1] for line in gone if (found := _REFERENCE.search(line))}
    still = {found[1] for line in come if (found := _REFERENCE.search(line))} & kept
    said = [f"- {line.strip()}" for line in gone if not _has(line, still)]
    return said + [f"{'~' if _has(line, still) else '+'} {line.strip()}" for line in come]


def _has(line: str, references: set[str]) -> bool:
    found = _REFERENCE.search(line)
    return found is not None and found[1] in references
