"""A warehouse: the catalog, the ledger and the book that belong together."""

from __future__ import annotations

from typing import Any

from depot.catalog import Catalog
from depot.ledger import Ledger, Movement
from depot.reservations import Book
from depot.units import Quantity


class Warehouse:
    """Everything about one place. `settings` are the caller's own and are saved along, if JSON can hold them."""

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.catalog = Catalog()
        self.ledger = Ledger()
        self.book = Book(self.catalog, self.ledger)
        self.settings = settings or {}

    def receive(self, sku: str, quantity: Quantity | str, reference: str = "") -> None:
        amount = self.catalog.get(sku).units.to_base(quantity)
        self.ledger.post(Movement(sku, amount, reference))

    def issue(self, sku: str, quantity: Quantity | str, reference: str = "") -> None:
        amount = self.catalog.get(sku).units.to_base(quantity)
        self.ledger.post(Movement(sku, -amount, reference))
