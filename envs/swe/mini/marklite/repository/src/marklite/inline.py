"""Inline markup: one pass over the text, with the marks that are still open on a stack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from marklite.nodes import Break, Code, Emphasis, Image, Inline, Link, Text, text_of
from marklite.references import Target, name_key, read_target, unescaped

_PLAIN = re.compile(r"[^\\`*!\[<\n ]+| +")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_BREAK = re.compile(r"(?: {2,}|\\)\n *")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")


def parse_inline(text: str, references: Mapping[str, Target]) -> tuple[Inline, ...]:
    """The inline nodes of a paragraph or heading."""
    return _Scanner(text, references).nodes()


class _Scanner:
    def __init__(self, text: str, references: Mapping[str, Target]) -> None:
        self._text = text
        self._references = references
        self._found: list[Inline] = []
        # The marks that are open, each with the place of the text node that stands for it.
        self._open: list[tuple[str, int]] = []
        self._count: Counter[str] = Counter()

    def nodes(self) -> tuple[Inline, ...]:
        position = 0
        while position < len(self._text):
            position = self._step(position)
        return merged(self._found)

    def _step(self, position: int) -> int:
        """Read what begins here, and return where it ends."""
        text = self._text
        if text[position] == "*":
            return self._mark(position)
        if match := _BREAK.match(text, position):
            self._found.append(Break())
            return match.end()
        if match := _ESCAPE.match(text, position):
            self._found.append(Text(match[1]))
            return match.end()
        if match := _CODE.match(text, position):
            self._found.append(Code(" ".join(match[2].split("\n")).strip() or match[2]))
            return match.end()
        if match := _AUTOLINK.match(text, position):
            self._found.append(Link((Text(match[1]),), match[1]))
            return match.end()
        if text.startswith(("[", "!["), position) and (link := self._link(position)):
            self._found.append(link[0])
            return link[1]
        match = _PLAIN.match(text, position)
        end = match.end() if match else position + 1
        self._found.append(Text(text[position:end]))
        return end

    def _mark(self, position: int) -> int:
        """Open or close emphasis, or keep the mark as text."""
        closes = position > 0 and not self._text[position - 1].isspace()
        mark = "**" if self._text.startswith("**", position) else "*"
        if closes and self._text.startswith("***", position) and self._open and self._open[-1][0] == "*":
            mark = "*"
        end = position + len(mark)
        opens = end < len(self._text) and not self._text[end].isspace()
        if closes and self._count[mark]:
            self._close(mark)
        else:
            if opens:
                self._open.append((mark, len(self._found)))
                self._count[mark] += 1
            self._found.append(Text(mark))
        return end

    def _close(self, mark: str) -> None:
        while True:
            opened, place = self._open.pop()
            self._count[opened] -= 1
            if opened == mark:
                break
        children = merged(self._found[place + 1 :])
        self._found[place:] = [Emphasis(children, strong=mark == "**")]

    def _link(self, position: int) -> tuple[Inline, int] | None:
        """The link or image that begins here and where it ends."""
        is_image = self._text[position] == "!"
        start = position + 1 + is_image
        end = closing_bracket(self._text, start)
        if end is None:
            return None
        found = self._target(self._text[start:end], end + 1)
        if found is None:
            return None
        target, after = found
        children = parse_inline(self._text[start:end], self._references)
        if is_image:
            return Image(text_of(children), target.address, target.title), after
        return Link(children, target.address, target.title), after

    def _target(self, label: str, position: int) -> tuple[Target, int] | None:
        text = self._text
        if text.startswith("(", position):
            found = read_target(text, position + 1)
            if found and text.startswith(")", found[1]):
                return found[0], found[1] + 1
            return None
        name, after = label, position
        if text.startswith("[", position):
            end = text.find("]", position)
            if end < 0:
                return None
            name, after = text[position + 1 : end] or label, end + 1
        target = self._references.get(name_key(unescaped(name)))
        return (target, after) if target else None


def closing_bracket(text: str, position: int) -> int | None:
    """Where the bracket that was opened before `position` is closed."""
    depth = 1
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if not depth:
                return position
        position += 1
    return None


def merged(nodes: list[Inline]) -> tuple[Inline, ...]:
    """The nodes with neighbouring texts joined."""
    joined: list[Inline] = []
    texts: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            texts.append(node.text)
            continue
        if texts:
            joined.append(Text("".join(texts)))
            texts = []
        joined.append(node)
    if texts:
        joined.append(Text("".join(texts)))
    return tuple(joined)
