"""Quantities: every item is counted in one base unit, and in packs that hold a fixed number of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from depot.errors import DepotError, UnknownUnit

_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z][\w-]*)?\s*")


@dataclass(frozen=True)
class Quantity:
    """An amount in some unit; an empty unit stands for the base unit of whatever is counted."""

    amount: Decimal
    unit: str = ""

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """`"3 box"`, `"2.5kg"` or just `"7"`."""
        match = _QUANTITY.fullmatch(text)
        if match is None:
            raise DepotError(f"{text!r} is not a quantity; write a number and a unit, such as '3 box'")
        return cls(Decimal(match[1]), match[2] or "")


class Units:
    """The base unit of an item, and how much of it each pack holds."""

    def __init__(self, base: str, packs: Mapping[str, Decimal | int | str] | None = None) -> None:
        self.base = base
        self.packs = {name: Decimal(size) for name, size in (packs or {}).items()}
        for name, size in self.packs.items():
            if size <= 0:
                raise DepotError(f"a {name} holds {size} {base}; it must hold more than nothing")

    def size(self, unit: str) -> Decimal:
        """How many base units one of this unit is."""
        if unit in ("", self.base):
            return Decimal(1)
        try:
            return self.packs[unit]
        except KeyError:
            known = ", ".join([self.base, *self.packs])
            raise UnknownUnit(f"no unit {unit!r}; there are {known}") from None

    def to_base(self, quantity: Quantity | str) -> Decimal:
        """The quantity as a number of base units."""
        if isinstance(quantity, str):
            quantity = Quantity.parse(quantity)
        return quantity.amount * self.size(quantity.unit)

    def split(self, amount: Decimal) -> list[Quantity]:
        """The amount in the largest packs first: 45 bags are 2 boxes and 5 bags."""
        parts = []
        for name, size in sorted(self.packs.items(), key=lambda pack: pack[1], reverse=True):
            count = amount // size
            if count > 0:
                parts.append(Quantity(count, name))
                amount -= count * size
        if amount or not parts:
            parts.append(Quantity(amount, self.base))
        return parts
