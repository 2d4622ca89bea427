"""Moving the references of a formula, as copying it does. Everything else in its text stays as it was written."""

from __future__ import annotations

import re

from gridlock.refs import column_letters, column_number
from gridlock.tokens import Token, tokens

_CELL = re.compile(r"(\$?)([A-Za-z]+)(\$?)([0-9]+)")


def shift(text: str, *, columns: int, rows: int) -> str:
    """The text of a cell so many columns to the right and rows down of where it stands; only formulas change."""
    if not text.startswith("="):
        return text
    return "=" + "".join(_shifted(token, columns, rows) for token in tokens(text[1:]))


def _shifted(token: Token, columns: int, rows: int) -> str:
    match = _CELL.fullmatch(token.text) if token.kind == "cell" else None
    if match is None:
        return token.text
    fixed_column, letters, fixed_row, digits = match.groups()
    column = column_number(letters) + (0 if fixed_column else columns)
    row = int(digits) + (0 if fixed_row else rows)
    if column < 1 or row < 1:
        return "#REF!"
    return f"{fixed_column}{column_letters(column)}{fixed_row}{row}"
