"""What can go wrong, one class for each thing a caller may want to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class DepotError(Exception):
    """Base of everything this package raises on purpose."""


class UnknownSku(DepotError, LookupError):
    """There is no such item in the catalog."""


class UnknownUnit(DepotError, LookupError):
    """The item is not counted in this unit."""


class ShortOfStock(DepotError, ValueError):
    """More is asked for than there is."""


class StoreError(DepotError, OSError):
    """A file could not be written or read."""


@dataclass(frozen=True)
class Problem:
    """Why one line of an imported file cannot be booked."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class ImportFailed(DepotError, ValueError):
    """A file of movements has rows that cannot be booked."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))
