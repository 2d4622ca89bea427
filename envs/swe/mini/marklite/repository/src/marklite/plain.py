"""Plain text for terminals and mails."""

from __future__ import annotations

from textwrap import indent

from marklite.nodes import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Image,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Rule,
    Text,
    text_of,
)

UNDERLINES = {1: "=", 2: "-"}


def to_plain(document: Document) -> str:
    """The document as text, with an empty line between blocks."""
    return "".join(f"{part}\n" for part in [_blocks(document.blocks)] if part)


def _blocks(blocks: tuple[Block, ...]) -> str:
    return "\n\n".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Heading(level, children):
            text = _inline(children)
            return f"{text}\n{UNDERLINES[level] * len(text)}" if level in UNDERLINES else text
        case Paragraph(children):
            return _inline(children)
        case CodeBlock(text):
            return indent(text, "    ")
        case Quote(inner):
            return indent(_blocks(inner), "> ", lambda line: True).replace("> \n", ">\n")
        case List():
            return _list(block)
        case Rule():
            return "-" * 20


def _list(block: List) -> str:
    lines = []
    for number, item in enumerate(block.items, start=block.start):
        bullet = f"{number}. " if block.ordered else "- "
        inside = "\n".join(_block(inner) for inner in item.blocks)
        lines.append(bullet + indent(inside, " " * len(bullet)).lstrip(" "))
    return "\n".join(lines)


def _inline(children: tuple[Inline, ...]) -> str:
    return "".join(_node(node) for node in children)


def _node(node: Inline) -> str:
    match node:
        case Text(text) | Code(text):
            return text
        case Break():
            return "\n"
        case Emphasis(inner):
            return _inline(inner)
        case Link(inner, target):
            text = _inline(inner)
            return text if text_of(inner) == target else f"{text} ({target})"
        case Image(alt):
            return f"[{alt}]"
