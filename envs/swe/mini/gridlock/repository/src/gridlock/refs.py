"""The names of cells: letters for the column, a number for the row, both counted from 1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gridlock.errors import BadReference

_NAME = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,5})")


class Ref(NamedTuple):
    """One cell; refs sort row by row."""

    row: int
    column: int

    @classmethod
    def parse(cls, name: str) -> Ref:
        match = _NAME.fullmatch(name)
        if match is None:
            raise BadReference(f"{name!r} is not the name of a cell; expected something like B12")
        return cls(int(match[2]), column_number(match[1]))

    def __str__(self) -> str:
        return f"{column_letters(self.column)}{self.row}"


def column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def area(first: Ref, last: Ref) -> Iterator[Ref]:
    """The cells of the rectangle between two corners, row by row, whichever corners they are."""
    rows = sorted((first.row, last.row))
    columns = sorted((first.column, last.column))
    for row in range(rows[0], rows[1] + 1):
        for column in range(columns[0], columns[1] + 1):
            yield Ref(row, column)


def parse_area(name: str) -> list[Ref]:
    """The cells of `"B2:C9"`, or the one of `"B2"`."""
    first, _, last = name.partition(":")
    return list(area(Ref.parse(first), Ref.parse(last or first)))
