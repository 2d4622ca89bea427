"""The stock table: to read, or as a CSV file for a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from depot.errors import DepotError, StoreError
from depot.files import replacing
from depot.warehouse import Warehouse

HEADER = ("sku", "name", "on hand", "reserved", "available", "unit")


def table(warehouse: Warehouse, *, now: int = 0) -> str:
    """The stock of every item that ever moved, in columns."""
    rows = [HEADER, *_rows(warehouse, now)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def export_csv(warehouse: Warehouse, path: Path, *, now: int = 0) -> None:
    """Write the same table as a CSV file."""
    try:
        with replacing(path) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(_rows(warehouse, now))
    except (OSError, DepotError) as cause:
        raise StoreError(f"the stock table could not be written to {path}: {cause}") from cause


def _rows(warehouse: Warehouse, now: int) -> Iterator[tuple[str, ...]]:
    for sku in warehouse.ledger.skus():
        item = warehouse.catalog.get(sku)
        reserved = warehouse.book.reserved(sku, now=now)
        on_hand = warehouse.ledger.on_hand(sku)
        yield sku, item.name, f"{on_hand:f}", f"{reserved:f}", f"{on_hand - reserved:f}", item.units.base
