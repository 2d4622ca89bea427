"""What kinds of things are for sale: the files in `catalogue/`, read once."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

_ORDER = ("computing", "sound", "mobile", "kitchen", "home", "outdoor")


class Spec(msgspec.Struct, frozen=True):
    """One line of a specification, and how its value is found for a product."""

    name: str
    unit: str = ""
    steps: tuple[str | int, ...] = ()
    """Values from the cheapest to the dearest product."""
    range: tuple[int, ...] = ()
    """Lowest, highest and step of a value that grows with the price."""
    pick: tuple[str | int, ...] = ()
    """Values that have nothing to do with the price."""
    facet: bool = False
    """Whether products can be filtered by it."""


class Category(msgspec.Struct, frozen=True):
    """One kind of product; `catalogue/computing.toml` explains the fields."""

    slug: str
    name: str
    title: str
    count: int
    price: tuple[int, int]
    brands: tuple[str, ...]
    lines: tuple[str, ...]
    number: tuple[int, int, int]
    variants: tuple[str, ...]
    about: tuple[str, ...]
    praise: tuple[str, ...]
    gripes: tuple[str, ...]
    specs: tuple[Spec, ...]
    department: str = ""


@lru_cache(maxsize=1)
def categories() -> tuple[Category, ...]:
    """Every category, department by department."""
    found = []
    for name in _ORDER:
        held = tomllib.loads((Path(__file__).parent / "catalogue" / f"{name}.toml").read_text(encoding="utf-8"))
        found += [{**one, "department": held["department"]} for one in held["category"]]
    return msgspec.convert(tuple(found), tuple[Category, ...])


@lru_cache(maxsize=1)
def by_slug() -> dict[str, Category]:
    """The categories by their name in addresses."""
    return {one.slug: one for one in categories()}
