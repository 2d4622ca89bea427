"""The command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from marklite.blocks import parse
from marklite.html import to_html
from marklite.nodes import Document, Item, Link, List, Paragraph, Text
from marklite.plain import to_plain
from marklite.toc import table_of_contents


def contents(document: Document) -> List:
    """The table of contents as a list of links."""
    return List(
        tuple(
            Item((Paragraph((Link((Text(entry.text),), f"#{entry.anchor}"),)),)) for entry in table_of_contents(document)
        )
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="marklite", description="Render a Markdown file.")
    parser.add_argument("file", help="a file, or - for standard input")
    parser.add_argument("--plain", action="store_true", help="write plain text instead of HTML")
    parser.add_argument("--toc", action="store_true", help="put the table of contents in front")
    chosen = parser.parse_args(arguments)
    try:
        text = sys.stdin.read() if chosen.file == "-" else Path(chosen.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        print(f"marklite: {chosen.file} cannot be read: {cause}", file=sys.stderr)
        return 1
    document = parse(text)
    render = to_plain if chosen.plain else to_html
    if chosen.toc:
        sys.stdout.write(render(Document((contents(document),))))
    sys.stdout.write(render(document))
    return 0
