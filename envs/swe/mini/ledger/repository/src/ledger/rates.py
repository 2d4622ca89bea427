"""Exchange rates by day."""

from __future__ import annotations

from bisect import bisect_right, insort
from datetime import date
from decimal import Decimal

from ledger.errors import RateMissing


class RateTable:
    """Known rates; the one of a day is the latest on or before it."""

    def __init__(self, base: str = "EUR") -> None:
        self.base = base
        self._known: dict[tuple[str, str], list[tuple[date, Decimal]]] = {}

    def add(self, day: date, source: str, target: str, rate: str | Decimal) -> None:
        """One unit of `source` is worth `rate` of `target` from this day on; a second one of a day replaces it."""
        value = Decimal(rate)
        if value <= 0:
            raise ValueError(f"the rate of {source} in {target} is {rate}; expected more than 0")
        known = self._known.setdefault((source, target), [])
        known[:] = [one for one in known if one[0] != day]
        insort(known, (day, value))

    def rate(self, source: str, target: str, day: date) -> Decimal:
        """What one unit of `source` is worth in `target` on a day."""
        direct = self._direct(source, target, day)
        if direct is not None:
            return direct
        first = self._direct(source, self.base, day)
        second = self._direct(self.base, target, day)
        if first is None or second is None:
            raise RateMissing(f"no rate of {source} in {target} is known on {day}")
        return first * second

    def _direct(self, source: str, target: str, day: date) -> Decimal | None:
        """The latest rate of the pair, in whichever direction it was given last."""
        if source == target:
            return Decimal(1)
        found = [
            (known[0], known[1] if not inverted else 1 / known[1])
            for inverted, pair in enumerate([(source, target), (target, source)])
            if (known := self._latest(pair, day)) is not None
        ]
        return max(found, key=lambda one: one[0])[1] if found else None

    def _latest(self, pair: tuple[str, str], day: date) -> tuple[date, Decimal] | None:
        known = self._known.get(pair, [])
        position = bisect_right(known, day, key=lambda one: one[0])
        return known[position - 1] if position else None
