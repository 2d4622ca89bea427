"""Headings: their anchors, and the table of contents that links to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from marklite.nodes import Block, Document, Heading, List, Quote, text_of


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading in the table of contents."""

    level: int
    text: str
    anchor: str


def slug(text: str) -> str:
    """The anchor of a heading that is the only one with its text."""
    words = re.findall(r"[^\W_]+", text.lower())
    return "-".join(words) or "section"


def headings(blocks: tuple[Block, ...]) -> Iterator[Heading]:
    """All headings in the order of the text, also those in quotes and lists."""
    for block in blocks:
        match block:
            case Heading():
                yield block
            case Quote(inner):
                yield from headings(inner)
            case List(items):
                for item in items:
                    yield from headings(item.blocks)


def anchors(document: Document) -> list[str]:
    """The anchors of all headings, in their order; no two are the same."""
    taken: set[str] = set()
    found = []
    for heading in headings(document.blocks):
        wanted = anchor = slug(text_of(heading.children))
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{wanted}-{number}"
        taken.add(anchor)
        found.append(anchor)
    return found


def table_of_contents(document: Document, depth: int = 6) -> list[Entry]:
    """The headings down to a level, with the anchors that they have in HTML."""
    pairs = zip(headings(document.blocks), anchors(document), strict=True)
    return [
        Entry(heading.level, text_of(heading.children), anchor) for heading, anchor in pairs if heading.level <= depth
    ]
