"""What to buy: rules per item, and the proposals that follow from the stock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from depot.catalog import Catalog
from depot.errors import DepotError
from depot.reservations import Book


@dataclass(frozen=True)
class Rule:
    """Below `minimum` base units available, buy up to `target`, in packs of the unit `pack`."""

    sku: str
    minimum: Decimal
    target: Decimal
    pack: str = ""

    def __post_init__(self) -> None:
        if self.target < self.minimum:
            raise DepotError(f"the target for {self.sku} is {self.target}, below its minimum of {self.minimum}")


@dataclass(frozen=True)
class Proposal:
    """Buy so many packs of an item."""

    sku: str
    packs: int
    unit: str
    amount: Decimal
    """The same in base units."""


def propose(rules: Iterable[Rule], catalog: Catalog, book: Book, *, now: int = 0) -> list[Proposal]:
    """What the rules ask for at this moment, in the order of the rules."""
    proposals = []
    for rule in rules:
        available = book.available(rule.sku, now=now)
        if available >= rule.minimum:
            continue
        units = catalog.get(rule.sku).units
        size = units.size(rule.pack)
        packs = _packs(rule.target - available, size)
        proposals.append(Proposal(rule.sku, packs, rule.pack or units.base, packs * size))
    return proposals


def _packs(missing: Decimal, size: Decimal) -> int:
    return int((missing / size).to_integral_value(rounding=ROUND_CEILING))
