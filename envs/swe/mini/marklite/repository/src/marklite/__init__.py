"""A Markdown subset: parse to a tree, render as HTML or plain text."""

from marklite.blocks import parse
from marklite.html import to_html
from marklite.plain import to_plain
from marklite.toc import Entry, table_of_contents

__all__ = ["Entry", "parse", "table_of_contents", "to_html", "to_plain"]
