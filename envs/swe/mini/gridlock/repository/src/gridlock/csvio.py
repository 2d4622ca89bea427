"""Tables: the values of a sheet as CSV text, and a sheet from CSV text."""

from __future__ import annotations

import csv
import io

from gridlock.refs import Ref
from gridlock.sheet import Sheet
from gridlock.values import to_text


def to_csv(sheet: Sheet, *, formulas: bool = False) -> str:
    """The values of the cells, or what was put into them."""
    rows, columns = sheet.size()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in range(1, rows + 1):
        names = [str(Ref(row, column)) for column in range(1, columns + 1)]
        writer.writerow([sheet.text(name) if formulas else to_text(sheet.value(name)) for name in names])
    return stream.getvalue()


def from_csv(text: str) -> Sheet:
    """A sheet with these texts in its cells; formulas work, whatever the order in which they need each other."""
    sheet = Sheet()
    for row, cells in enumerate(csv.reader(io.StringIO(text)), start=1):
        for column, cell in enumerate(cells, start=1):
            if cell:
                sheet.set(str(Ref(row, column)), cell)
    return sheet
