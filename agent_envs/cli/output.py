"""How the command line shows things: tables that fit 80 columns, one progress line, JSON on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")

MARKS = {"yes": "green", "passed": "green", "no": "yellow", "on request": "yellow", "FAILED": "red"}
"""Words that stand in a colour of their own."""


def console() -> Console:
    """Where tables go: standard output."""
    return Console(highlight=False)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    click.echo(msgspec.json.format(msgspec.json.encode(document)).decode())


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table; columns whose name starts with `#` hold numbers and are aligned to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        number = column.startswith("#")
        name, side = column.removeprefix("#"), "right" if number else "left"
        table.add_column(name, justify=side, no_wrap=number, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(str(cell), style=MARKS.get(str(cell), "")) for cell in row))
    console().print(table)


@contextmanager
def progress(doing: str, total: int | None, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """A progress line on standard error while the block runs; call what it yields once per finished piece."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=quiet or not screen.is_terminal) as bar:
        line = bar.add_task(doing, total=total)
        yield lambda: bar.advance(line)
