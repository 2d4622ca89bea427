"""The whole warehouse in one JSON file. Quantities are text there, so that no digit is lost."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from depot.catalog import Item
from depot.errors import StoreError
from depot.files import replacing
from depot.ledger import Movement
from depot.reservations import Reservation
from depot.units import Units
from depot.warehouse import Warehouse


def save(warehouse: Warehouse, path: Path) -> None:
    """Write the warehouse to a file."""
    try:
        with replacing(path) as stream:
            json.dump(_state(warehouse), stream, indent=1)
    except (OSError, TypeError, ValueError) as cause:
        raise StoreError(f"the warehouse could not be saved to {path}: {cause}") from cause


def load(path: Path) -> Warehouse:
    """The warehouse that was saved to this file."""
    try:
        return _warehouse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError) as cause:
        raise StoreError(f"no warehouse could be read from {path}: {cause!r}") from cause


def _state(warehouse: Warehouse) -> dict[str, Any]:
    return {
        "items": [
            {
                "sku": item.sku,
                "name": item.name,
                "unit": item.units.base,
                "packs": {name: str(size) for name, size in item.units.packs.items()},
            }
            for item in warehouse.catalog
        ],
        "movements": [[move.sku, str(move.amount), move.reference] for move in warehouse.ledger.history],
        "reservations": [[held.number, held.sku, str(held.amount), held.until] for held in warehouse.book],
        "settings": warehouse.settings,
    }


def _warehouse(state: dict[str, Any]) -> Warehouse:
    warehouse = Warehouse(settings=state["settings"])
    for row in state["items"]:
        warehouse.catalog.add(Item(row["sku"], row["name"], Units(row["unit"], row["packs"])))
    for sku, amount, reference in state["movements"]:
        warehouse.ledger.post(Movement(sku, Decimal(amount), reference))
    for number, sku, amount, until in state["reservations"]:
        warehouse.book.restore(Reservation(number, sku, Decimal(amount), until))
    return warehouse
