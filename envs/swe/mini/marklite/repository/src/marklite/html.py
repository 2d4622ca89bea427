"""HTML: every text is escaped, and every attribute is written by `_attributes`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

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
)
from marklite.toc import anchors

_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
SAFE_SCHEMES = frozenset({"http", "https", "mailto"})


def to_html(document: Document) -> str:
    """The document as a fragment of HTML, one block a line."""
    return _Renderer(iter(anchors(document))).blocks(document.blocks)


def is_safe(target: str) -> bool:
    """Whether a link may lead there."""
    match = _SCHEME.match(target)
    return match is None or match[1].lower() in SAFE_SCHEMES


class _Renderer:
    def __init__(self, anchors: Iterator[str]) -> None:
        self._anchors = anchors

    def blocks(self, blocks: tuple[Block, ...]) -> str:
        return "".join(self._block(block) for block in blocks)

    def _block(self, block: Block) -> str:
        match block:
            case Heading(level, children):
                return f"<h{level}{_attributes(id=next(self._anchors))}>{_inline(children)}</h{level}>\n"
            case Paragraph(children):
                return f"<p>{_inline(children)}</p>\n"
            case CodeBlock(text, language):
                kind = _attributes(**{"class": f"language-{language}"}) if language else ""
                return f"<pre><code{kind}>{_text(text)}\n</code></pre>\n"
            case Quote(inner):
                return f"<blockquote>\n{self.blocks(inner)}</blockquote>\n"
            case List():
                return self._list(block)
            case Rule():
                return "<hr>\n"

    def _list(self, block: List) -> str:
        tag = "ol" if block.ordered else "ul"
        start = _attributes(start=str(block.start)) if block.ordered and block.start != 1 else ""
        items = "".join(f"<li>{self._item(item.blocks)}</li>\n" for item in block.items)
        return f"<{tag}{start}>\n{items}</{tag}>\n"

    def _item(self, blocks: tuple[Block, ...]) -> str:
        """A single paragraph stands in its item without a tag of its own."""
        match blocks:
            case (Paragraph(children),):
                return _inline(children)
            case (Paragraph(children), List() as nested):
                return f"{_inline(children)}\n{self._block(nested)}"
        return f"\n{self.blocks(blocks)}"


def _inline(children: tuple[Inline, ...]) -> str:
    return "".join(_node(node) for node in children)


def _node(node: Inline) -> str:
    match node:
        case Text(text):
            return _text(text)
        case Code(text):
            return f"<code>{_text(text)}</code>"
        case Break():
            return "<br>\n"
        case Emphasis(inner, strong):
            tag = "strong" if strong else "em"
            return f"<{tag}>{_inline(inner)}</{tag}>"
        case Link(inner, target, title):
            if not is_safe(target):
                return _inline(inner)
            return f"<a{_attributes(href=target, title=title)}>{_inline(inner)}</a>"
        case Image(alt, target, title):
            if not is_safe(target):
                return _text(alt)
            return f"<img{_attributes(src=target)}{_attributes(keep=True, alt=alt)}{_attributes(title=title)}>"


def _text(text: str) -> str:
    """Text between tags; quotes are harmless there and stay readable."""
    return escape(text, quote=False)


def _attributes(keep: bool = False, **values: str) -> str:
    """Attributes with a space in front; empty ones are left out unless they are to be kept."""
    return "".join(f' {name}="{escape(value)}"' for name, value in values.items() if value or keep or name == "href")
