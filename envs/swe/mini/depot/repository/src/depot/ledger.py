"""Every movement of stock. What is on hand is the sum of the movements and is never set directly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from depot.errors import DepotError, ShortOfStock


@dataclass(frozen=True)
class Movement:
    """So much of an item, in base units, came in (positive) or went out (negative)."""

    sku: str
    amount: Decimal
    reference: str = ""


class Ledger:
    """Movements in the order in which they were posted; stock on hand never falls below zero."""

    def __init__(self) -> None:
        self._levels: dict[str, Decimal] = {}
        self._history: list[Movement] = []
        self._listeners: list[Callable[[Movement], None]] = []

    @property
    def history(self) -> tuple[Movement, ...]:
        return tuple(self._history)

    def on_hand(self, sku: str) -> Decimal:
        return self._levels.get(sku, Decimal(0))

    def skus(self) -> list[str]:
        """Every SKU that ever moved, sorted."""
        return sorted(self._levels)

    def subscribe(self, listener: Callable[[Movement], None]) -> None:
        """Call `listener` with every movement from now on, once it is posted."""
        self._listeners.append(listener)

    def post(self, movement: Movement) -> None:
        """Book a movement, or raise and leave everything as it was."""
        if not movement.amount:
            raise DepotError(f"a movement of {movement.sku} must move something")
        level = self.on_hand(movement.sku) + movement.amount
        if level < 0:
            raise ShortOfStock(f"{-movement.amount} of {movement.sku} asked for, {self.on_hand(movement.sku)} on hand")
        self._levels[movement.sku] = level
        self._history.append(movement)
        for listener in self._listeners:
            listener(movement)

    def draft(self) -> Ledger:
        """A ledger with the same stock on hand, no history and no listeners, to try movements on."""
        draft = Ledger()
        draft._levels.update(self._levels)
        return draft
