"""Stock promised to orders. A reservation holds until it is fulfilled, released, or its time has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from depot.catalog import Catalog
from depot.errors import DepotError, ShortOfStock
from depot.ledger import Ledger, Movement
from depot.units import Quantity


@dataclass(frozen=True)
class Reservation:
    """An amount, in base units, kept for somebody up to, but not including, the moment `until`."""

    number: int
    sku: str
    amount: Decimal
    until: int


class Book:
    """The reservations of a warehouse."""

    def __init__(self, catalog: Catalog, ledger: Ledger) -> None:
        self._catalog = catalog
        self._ledger = ledger
        self._open: dict[int, Reservation] = {}
        self._next = 1

    def __iter__(self) -> Iterator[Reservation]:
        return iter(self._open.values())

    def reserve(self, sku: str, quantity: Quantity | str, *, until: int, now: int = 0) -> Reservation:
        """Promise a quantity, if that much is available now."""
        amount = self._catalog.get(sku).units.to_base(quantity)
        if amount <= 0:
            raise DepotError(f"a reservation of {sku} must be for more than nothing")
        available = self.available(sku, now=now)
        if amount > available:
            raise ShortOfStock(f"{amount} of {sku} asked for, {available} available")
        reservation = Reservation(self._next, sku, amount, until)
        self.restore(reservation)
        return reservation

    def restore(self, reservation: Reservation) -> None:
        """Take in a reservation as it is, for example from a file."""
        self._open[reservation.number] = reservation
        self._next = max(self._next, reservation.number + 1)

    def reserved(self, sku: str, *, now: int = 0) -> Decimal:
        """What is promised of an item and has not run out."""
        return sum((held.amount for held in self if held.sku == sku and now < held.until), Decimal(0))

    def available(self, sku: str, *, now: int = 0) -> Decimal:
        return self._ledger.on_hand(sku) - self.reserved(sku, now=now)

    def release(self, number: int) -> Reservation:
        """Give a reservation up."""
        reservation = self._get(number)
        del self._open[number]
        return reservation

    def fulfil(self, number: int, quantity: Quantity | str | None = None) -> None:
        """Issue what is reserved, or a part of it; what is left stays reserved."""
        held = self._get(number)
        amount = held.amount if quantity is None else self._catalog.get(held.sku).units.to_base(quantity)
        if amount > held.amount:
            raise DepotError(f"reservation {number} is for {held.amount} of {held.sku}, not for {amount}")
        self._ledger.post(Movement(held.sku, -amount, f"R{number}"))
        if amount == held.amount:
            del self._open[number]
        else:
            self._open[number] = replace(held, amount=held.amount - amount)

    def expire(self, now: int) -> list[Reservation]:
        """Forget the reservations that have run out, and say which they were."""
        gone = [held for held in self if held.until <= now]
        for held in gone:
            del self._open[held.number]
        return gone

    def _get(self, number: int) -> Reservation:
        try:
            return self._open[number]
        except KeyError:
            raise DepotError(f"no open reservation {number}") from None
