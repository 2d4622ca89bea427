"""Movements from CSV text; docs/imports.md describes the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from decimal import Decimal

from depot.catalog import Catalog
from depot.errors import DepotError, ImportFailed, Problem
from depot.ledger import Ledger, Movement

REQUIRED = ("sku", "kind", "quantity")
SIGNS = {"receive": Decimal(1), "issue": Decimal(-1)}


def import_csv(text: str, catalog: Catalog, ledger: Ledger) -> int:
    """Book every row of the file, and return how many there were."""
    problems = []
    # The rows are tried on a draft: they depend on each other, so only booking them tells whether they can be booked.
    draft = ledger.draft()
    for line, row in _rows(text):
        try:
            draft.post(_movement(row, catalog))
        except DepotError as error:
            problems.append(Problem(line, str(error)))
    if problems:
        raise ImportFailed(problems)
    for movement in draft.history:
        ledger.post(movement)
    return len(draft.history)


def _rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        raise ImportFailed([Problem(1, f"no column {', '.join(missing)}")])
    for row in reader:
        yield reader.line_num, row


def _movement(row: Mapping[str, str], catalog: Catalog) -> Movement:
    cells = {name: (row.get(name) or "").strip() for name in (*REQUIRED, "reference")}
    if cells["kind"] not in SIGNS:
        raise DepotError(f"kind is {cells['kind']!r}; it must be one of {', '.join(SIGNS)}")
    item = catalog.get(cells["sku"])
    amount = item.units.to_base(cells["quantity"])
    return Movement(item.sku, SIGNS[cells["kind"]] * amount, cells["reference"])
