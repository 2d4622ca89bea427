"""Warehouse stock: units and packs, a ledger of movements, reservations, imports and reorder proposals."""

from depot.catalog import Catalog, Item
from depot.errors import DepotError, ImportFailed, Problem, ShortOfStock, StoreError, UnknownSku, UnknownUnit
from depot.importer import import_csv
from depot.ledger import Ledger, Movement
from depot.reorder import Proposal, Rule, propose
from depot.reservations import Book, Reservation
from depot.units import Quantity, Units
from depot.warehouse import Warehouse

__all__ = [
    "Book",
    "Catalog",
    "DepotError",
    "ImportFailed",
    "Item",
    "Ledger",
    "Movement",
    "Problem",
    "Proposal",
    "Quantity",
    "Reservation",
    "Rule",
    "ShortOfStock",
    "StoreError",
    "Units",
    "UnknownSku",
    "UnknownUnit",
    "Warehouse",
    "import_csv",
    "propose",
]
