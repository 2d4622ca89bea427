"""What a caller can do wrong. What a formula can do wrong is a `Fault`, which is a value."""

from __future__ import annotations

from collections.abc import Sequence


class GridlockError(Exception):
    """Base of everything this package raises on purpose."""


class BadReference(GridlockError, ValueError):
    """This is not the name of a cell or a range."""


class FormulaError(GridlockError, ValueError):
    """A formula that cannot be read."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at position {position}")
        self.position = position


class CycleError(GridlockError, ValueError):
    """A formula that would make its cell depend on itself."""

    def __init__(self, cells: Sequence[str]) -> None:
        super().__init__("a cell cannot depend on itself: " + " <- ".join(cells))
        self.cells = tuple(cells)
