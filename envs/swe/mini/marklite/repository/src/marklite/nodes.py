"""The syntax tree: frozen dataclasses, so that trees can be compared and shared."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break that is kept."""


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: tuple[Inline, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    children: tuple[Inline, ...]
    target: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    alt: str
    target: str
    title: str = ""


Inline = Text | Code | Break | Emphasis | Link | Image


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Item:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class List:
    items: tuple[Item, ...]
    ordered: bool = False
    start: int = 1
    """The number of the first item of an ordered list."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""


Block = Heading | Paragraph | CodeBlock | Quote | List | Rule


@dataclass(frozen=True, slots=True)
class Document:
    blocks: tuple[Block, ...] = field(default=())


def text_of(children: tuple[Inline, ...]) -> str:
    """The text of inline nodes without any markup."""
    parts = []
    for node in children:
        match node:
            case Text(text) | Code(text) | Image(text):
                parts.append(text)
            case Break():
                parts.append(" ")
            case Emphasis(inner) | Link(inner):
                parts.append(text_of(inner))
    return "".join(parts)
