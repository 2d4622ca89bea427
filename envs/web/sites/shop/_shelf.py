"""Finding products: by words, by category, by filters; in an order that is always the same."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent_envs.envs.web.sites._kit import Form
from agent_envs.envs.web.sites.shop._categories import Category, by_slug
from agent_envs.envs.web.sites.shop._tables import plain_words

PAGE = 12
"""Products on one page of a list."""
SORTS = {
    "best": "Best match",
    "cheap": "Price: low to high",
    "dear": "Price: high to low",
    "rating": "Customer rating",
    "new": "Newest first",
}
_SELECT = """
SELECT p.*, (SELECT SUM(stock) FROM variants WHERE product = p.id) AS stock,
  (SELECT COUNT(*) FROM reviews WHERE product = p.id) AS count,
  (SELECT AVG(stars) FROM reviews WHERE product = p.id) AS stars FROM products AS p
"""


@dataclass(slots=True)
class Item:
    """A product as a list shows it."""

    id: int
    slug: str
    name: str
    brand: str
    category: str
    cents: int
    was: int
    about: str
    specs: dict[str, str]
    added: str
    stock: int
    count: int
    """Reviews."""
    stars: float
    """Their average; 0 where there are none."""
    score: int = 0
    """How well it fits the words of a search."""

    @property
    def kind(self) -> Category:
        """Its category."""
        return by_slug()[self.category]


@dataclass(slots=True)
class Facet:
    """A property that a list can be narrowed by."""

    field: str
    label: str
    options: list[tuple[str, int, bool]]
    """Value, number of products, whether it is chosen."""


@dataclass(slots=True)
class Listing:
    """What a list page shows."""

    items: list[Item]
    total: int
    page: int
    pages: int
    facets: list[Facet]
    loose: bool
    """Whether no product has all words of the search, so that these have some of them."""


_MOST_WORDS, _LONGEST_WORD = 30, 60
"""Of a query: whatever somebody types, the database can be asked for it."""


def items(database: sqlite3.Connection, where: str = "", values: Iterable[object] = ()) -> list[Item]:
    """The products that a condition selects, by id."""
    return [_item(row) for row in database.execute(f"{_SELECT} {where} ORDER BY p.id", list(values))]


def search(database: sqlite3.Connection, query: str) -> tuple[list[Item], bool]:
    """The products that have every word of a query, else those with some; and whether the second is the case."""
    words = dict.fromkeys(word[:_LONGEST_WORD] for word in plain_words(query).split())
    stems = [word.rstrip("s") or word for word in words][:_MOST_WORDS]
    if not stems:
        return [], False
    some = " OR ".join(["words LIKE ?"] * len(stems))
    rows = database.execute(f"SELECT id, words FROM products WHERE {some}", [f"% {stem}%" for stem in stems])
    scores = [(row["id"], _scores(row["words"], stems)) for row in rows]
    every = {product: sum(found) for product, found in scores if all(found)}
    chosen = every or {product: sum(found) for product, found in scores if any(found)}
    found = items(database, f"WHERE p.id IN ({', '.join('?' * len(chosen))})", chosen)
    for item in found:
        item.score = chosen[item.id]
    return found, bool(chosen) and not every


def listing(found: list[Item], form: Form, *, loose: bool = False) -> Listing:
    """One page of products, narrowed and sorted as the address says."""
    filters = _filters(found, form)
    kept = [item for item in found if all(fits(item) for fits in filters.values())]
    kept.sort(key=_order(form.text("sort")))
    pages = max(1, -(-len(kept) // PAGE))
    page = min(max(1, form.number("page", 1)), pages)
    shown = kept[(page - 1) * PAGE : page * PAGE]
    return Listing(shown, len(kept), page, pages, _facets(found, form, filters), loose)


def _item(row: sqlite3.Row) -> Item:
    return Item(
        row["id"], row["slug"], row["name"], row["brand"], row["category"], row["cents"], row["was"], row["about"],
        dict(json.loads(row["specs"])), row["added"], row["stock"], row["count"], row["stars"] or 0.0,
    )  # fmt: skip


def _scores(words: str, stems: list[str]) -> list[int]:
    title, _, rest = words.partition("|")
    return [
        12 if f" {stem} " in title else 8 if f" {stem}" in title else 2 if f" {stem}" in rest else 0 for stem in stems
    ]


def _order(sort: str) -> Callable[[Item], tuple[float | str, ...]]:
    """Always ends with the id, so that no two products can change places."""
    return {
        "cheap": lambda one: (one.cents, one.id),
        "dear": lambda one: (-one.cents, one.id),
        "rating": lambda one: (-one.stars, -one.count, one.id),
        "new": lambda one: ("".join(chr(0x7F - ord(c)) for c in one.added), one.id),
    }.get(sort, lambda one: (-one.score, -one.count, one.id))


def _filters(found: list[Item], form: Form) -> dict[str, Callable[[Item], bool]]:
    """By field the condition that it sets; fields that set none are not there."""
    filters: dict[str, Callable[[Item], bool]] = {}
    for field, value in {
        "category": lambda one: one.kind.name,
        "brand": lambda one: one.brand,
        **_specs(found),
    }.items():
        chosen = set(form.texts(field))
        if chosen:
            filters[field] = lambda one, value=value, chosen=chosen: value(one) in chosen  # type: ignore[misc]
    low, high = _cents(form.text("min")), _cents(form.text("max"))
    if low is not None:
        filters["min"] = lambda one: one.cents >= low
    if high is not None:
        filters["max"] = lambda one: one.cents <= high
    if form.number("rating"):
        filters["rating"] = lambda one: one.stars >= form.number("rating")
    if form.text("stock"):
        filters["stock"] = lambda one: one.stock > 0
    if form.text("reduced"):
        filters["reduced"] = lambda one: one.was > 0
    return filters


def _specs(found: list[Item]) -> dict[str, Callable[[Item], str]]:
    """The properties that can be filtered by, where all products are of one category."""
    kinds = {item.category for item in found}
    if len(kinds) != 1:
        return {}
    return {
        spec_field(spec.name): lambda one, name=spec.name: one.specs[name]  # type: ignore[misc]
        for spec in by_slug()[kinds.pop()].specs
        if spec.facet
    }


def _facets(found: list[Item], form: Form, filters: dict[str, Callable[[Item], bool]]) -> list[Facet]:
    if not found:
        return []
    named = {"brand": ("Brand", lambda one: one.brand)}
    if len({item.category for item in found}) > 1:
        named = {"category": ("Category", lambda one: one.kind.name), **named}
    for field, value in _specs(found).items():
        kind = found[0].kind
        label = next(spec.name for spec in kind.specs if spec_field(spec.name) == field)
        named[field] = (label, value)
    facets: list[Facet] = []
    for field, (label, value) in named.items():
        others = [fits for name, fits in filters.items() if name != field]
        counts = {value(item): 0 for item in found}
        for item in found:
            counts[value(item)] += all(fits(item) for fits in others)
        chosen = set(form.texts(field))
        ordered = sorted(counts, key=_by_place(found[0].kind, label))
        facets.append(Facet(field, label, [(option, counts[option], option in chosen) for option in ordered]))
    return facets


def spec_field(name: str) -> str:
    """The name of a property in addresses."""
    return f"s_{plain_words(name).strip().replace(' ', '_')}"


def _by_place(kind: Category, label: str) -> Callable[[str], tuple[int, str]]:
    """The values of a property as its category lists them, everything else by name."""
    listed = [f"{value}{spec.unit}" for spec in kind.specs if spec.name == label for value in spec.steps or spec.pick]
    places = {value: place for place, value in enumerate(listed)}
    return lambda value: (places.get(value, 0), value)


def _cents(dollars: str) -> int | None:
    return round(float(dollars) * 100) if re.fullmatch(r"\d{1,6}(\.\d{1,2})?", dollars) else None
