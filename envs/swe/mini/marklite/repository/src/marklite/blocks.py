"""Block structure: lines in, blocks out, nested blocks by recursion on the lines that belong to them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from marklite.inline import parse_inline
from marklite.nodes import Block, CodeBlock, Document, Heading, Item, List, Paragraph, Quote, Rule
from marklite.references import Target, split_definitions

_HEADING = re.compile(r"(#{1,6})\s+(.*?)(?:\s+#+)?\s*")
_RULE = re.compile(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")
_FENCE = re.compile(r"\s{0,3}```\s*(\S*).*")
_BULLET = re.compile(r"(\s{0,3}(?:[-*+]|(\d{1,9})\.)\s+)(.*)")
_QUOTE = re.compile(r"\s{0,3}> ?(.*)")


def parse(text: str) -> Document:
    """The tree of a text. Every text has one: what is no markup is a paragraph."""
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    rest, references = split_definitions(lines)
    return Document(_Parser(references).blocks(rest))


class _Parser:
    def __init__(self, references: Mapping[str, Target]) -> None:
        self._references = references

    def blocks(self, lines: list[str]) -> tuple[Block, ...]:
        found: list[Block] = []
        position = 0
        while position < len(lines):
            if not lines[position].strip():
                position += 1
                continue
            block, position = self._block(lines, position)
            found.append(block)
        return tuple(found)

    def _block(self, lines: list[str], position: int) -> tuple[Block, int]:
        line = lines[position]
        if match := _HEADING.fullmatch(line):
            return Heading(len(match[1]), parse_inline(match[2], self._references)), position + 1
        if _RULE.fullmatch(line):
            return Rule(), position + 1
        if match := _FENCE.fullmatch(line):
            return self._code(lines, position + 1, match[1])
        if _QUOTE.fullmatch(line):
            return self._quote(lines, position)
        if _BULLET.fullmatch(line):
            return self._list(lines, position)
        return self._paragraph(lines, position)

    def _code(self, lines: list[str], position: int, language: str) -> tuple[Block, int]:
        inside = []
        while position < len(lines) and lines[position].strip() != "```":
            inside.append(lines[position])
            position += 1
        return CodeBlock("\n".join(inside), language), position + 1

    def _quote(self, lines: list[str], position: int) -> tuple[Block, int]:
        inside = []
        while position < len(lines) and (match := _QUOTE.fullmatch(lines[position])):
            inside.append(match[1])
            position += 1
        return Quote(self.blocks(inside)), position

    def _list(self, lines: list[str], position: int) -> tuple[Block, int]:
        first = _BULLET.fullmatch(lines[position])
        assert first is not None
        number = first[2]
        items = []
        while position < len(lines):
            match = _BULLET.fullmatch(lines[position])
            if match is None or (match[2] is None) != (number is None) or _RULE.fullmatch(lines[position]):
                break
            inside, position = self._item(lines, position + 1, len(match[1]))
            items.append(Item(self.blocks([match[3], *inside])))
        return List(tuple(items), ordered=number is not None, start=1 if number is None else int(number)), position

    def _item(self, lines: list[str], position: int, indent: int) -> tuple[list[str], int]:
        """The lines that belong to an item after its first one, and where the next one begins."""
        inside: list[str] = []
        while position < len(lines):
            line = lines[position]
            spaces = len(line) - len(line.lstrip(" "))
            if not line.strip():
                following = lines[position + 1] if position + 1 < len(lines) else ""
                if not following.startswith("  "):
                    break
                inside.append("")
            elif spaces >= 2:
                inside.append(line[min(spaces, indent) :])
            elif self._interrupts(line):
                break
            else:
                inside.append(line)
            position += 1
        while position < len(lines) and not lines[position].strip():
            position += 1
        return inside, position

    def _paragraph(self, lines: list[str], position: int) -> tuple[Block, int]:
        inside = [lines[position].lstrip()]
        position += 1
        while position < len(lines) and lines[position].strip() and not self._interrupts(lines[position]):
            inside.append(lines[position].lstrip())
            position += 1
        return Paragraph(parse_inline("\n".join(inside).rstrip(), self._references)), position

    def _interrupts(self, line: str) -> bool:
        """Whether a line begins something other than a paragraph."""
        return any(pattern.fullmatch(line) for pattern in (_HEADING, _RULE, _FENCE, _QUOTE, _BULLET))
