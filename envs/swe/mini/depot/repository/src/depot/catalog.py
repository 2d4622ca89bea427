"""The items a warehouse keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from depot.errors import DepotError, UnknownSku
from depot.units import Units


@dataclass(frozen=True)
class Item:
    """Something that is kept in stock, under its stock keeping unit."""

    sku: str
    name: str
    units: Units


class Catalog:
    """Items by SKU, in the order in which they were added."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}

    def add(self, item: Item) -> None:
        if item.sku in self._items:
            raise DepotError(f"{item.sku} is in the catalog already; retire it first")
        self._items[item.sku] = item

    def retire(self, sku: str) -> Item:
        """Take an item out; its movements stay in the ledger."""
        item = self.get(sku)
        del self._items[sku]
        return item

    def get(self, sku: str) -> Item:
        try:
            return self._items[sku]
        except KeyError:
            raise UnknownSku(f"no item {sku!r} in the catalog") from None

    def __contains__(self, sku: object) -> bool:
        return sku in self._items

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)
