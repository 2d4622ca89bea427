"""The catalogue of one world: every product with its specification, variants, stock and reviews, from one seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import TypeVar

from agent_envs.envs.web.sites.shop._categories import Category, Spec, categories

T = TypeVar("T")
_HOLE = re.compile(r"\{([^}]+)\}")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_ENDINGS = (0, 50, 90, 95, 99)
_REVIEWERS = (
    "Ada N.", "Bela K.", "Chidi O.", "Dana R.", "Emil S.", "Farah A.", "Goran P.", "Hana M.", "Ines C.", "Jonas L.",
    "Kira V.", "Luis G.", "Mina T.", "Noor B.", "Oskar W.", "Priya D.", "Quinn E.", "Rosa F.", "Sami H.", "Tove J.",
)  # fmt: skip
_VERDICTS = {
    5: ("Exactly what I wanted", "Could not be happier", "Would buy it again", "Worth every cent"),
    4: ("Very good", "Good, with one small flaw", "Pleased with it", "Does what it should"),
    3: ("It is all right", "Good and bad", "Expected a little more", "Fine for the price"),
    2: ("Not for me", "Disappointed", "Too many compromises"),
    1: ("Sent it back", "Would not buy again"),
}
_BODIES = {
    5: "{Good}. I have nothing to complain about.",
    4: "{Good}. Only {bad}, but I can live with that.",
    3: "{Good}, but {bad}.",
    2: "{Bad}. The one good thing to say: {good}.",
    1: "{Bad}, and nobody could help me with it.",
}


@dataclass(slots=True)
class Review:
    """What somebody thought of a product."""

    author: str
    stars: int
    title: str
    body: str
    written: date


@dataclass(slots=True)
class Product:
    """Something for sale."""

    id: int
    name: str
    slug: str
    brand: str
    category: str
    cents: int
    was: int
    """The price before it was reduced; 0 where it was not."""
    about: str
    specs: list[tuple[str, str]]
    variants: list[tuple[str, int]]
    """Name and stock of each variant."""
    added: date
    reviews: list[Review]


def products(seed: int, today: date) -> Iterator[Product]:
    """Everything that is for sale, in the order of its ids."""
    first = 1
    for category in categories():
        random = Random(f"shop/{seed}/{category.slug}")
        yield from _of(category, random, first, today)
        first += category.count


def _of(category: Category, random: Random, first: int, today: date) -> Iterator[Product]:
    names: set[str] = set()
    prices: set[int] = set()
    places = list(range(category.count))
    random.shuffle(places)
    for offset, place in enumerate(places):
        at = min(1.0, max(0.0, (place + random.uniform(-1.5, 1.5)) / (category.count - 1)))
        brand = _one(random, category.brands)
        specs = [(spec.name, _value(spec, at, random)) for spec in category.specs]
        name = _name(category, brand, at, dict(specs), random, names)
        cents = _price(category, at, random, prices)
        added = today - timedelta(days=20 + int(random.random() * 680))
        yield Product(
            id=first + offset,
            name=name,
            slug=_NO_WORD.sub("-", name.lower()).strip("-"),
            brand=brand,
            category=category.slug,
            cents=cents,
            was=cents + 100 * max(2, int(cents * random.uniform(0.1, 0.3)) // 100) if random.random() < 0.16 else 0,
            about=_filled(_one(random, category.about), dict(specs)),
            specs=specs,
            variants=[(variant, _stock(random)) for variant in category.variants],
            added=added,
            reviews=_reviews(category, random, added, today),
        )


def _value(spec: Spec, at: float, random: Random) -> str:
    if spec.pick:
        return f"{_one(random, spec.pick)}{spec.unit}"
    at = min(1.0, max(0.0, at + random.uniform(-0.14, 0.14)))
    if spec.steps:
        return f"{spec.steps[min(len(spec.steps) - 1, int(at * len(spec.steps)))]}{spec.unit}"
    low, high, step = spec.range
    return f"{low + int((high - low) * at / step) * step}{spec.unit}"


def _name(category: Category, brand: str, at: float, specs: dict[str, str], random: Random, taken: set[str]) -> str:
    low, high, step = category.number
    line = _one(random, category.lines)
    number = low + int((high - low) * at / step) * step
    while True:
        name = _filled(category.title, {**specs, "brand": brand, "line": line, "number": str(number)})
        model = f"{brand} {line} {number}"
        if model not in taken:
            taken.add(model)
            return name
        number += step


def _price(category: Category, at: float, random: Random, taken: set[int]) -> int:
    """Prices grow by a factor, not by a sum; no two of a category are equal."""
    low, high = category.price
    dollars = int(low * (high / low) ** at * random.uniform(0.88, 1.14))
    cents = dollars * 100 + _one(random, _ENDINGS)
    while cents in taken:
        cents += 100
    taken.add(cents)
    return cents


def _stock(random: Random) -> int:
    return 0 if random.random() < 0.14 else 1 + int(random.random() * (3 if random.random() < 0.2 else 39))


def _reviews(category: Category, random: Random, added: date, today: date) -> list[Review]:
    quality = _one(random, (3, 4, 4, 5, 5))
    authors = random.sample(_REVIEWERS, _one(random, (0, 2, 3, 4, 4, 5, 5, 6, 7, 9)))
    since, days = added.toordinal() + 1, max(1, (today - added).days - 1)
    return [_review(category, random, author, quality, since + int(random.random() * days)) for author in authors]


def _review(category: Category, random: Random, author: str, quality: int, day: int) -> Review:
    stars = min(5, max(1, quality + _one(random, (-2, -1, -1, 0, 0, 0, 1, 1))))
    good, bad = _one(random, category.praise), _one(random, category.gripes)
    body = _BODIES[stars].format(good=good, bad=bad, Good=good[0].upper() + good[1:], Bad=bad[0].upper() + bad[1:])
    return Review(author, stars, _one(random, _VERDICTS[stars]), body, date.fromordinal(day))


def _one(random: Random, found: Sequence[T]) -> T:
    """`random.choice` in a quarter of its time: thousands are made for every world."""
    return found[int(random.random() * len(found))]


def _filled(template: str, values: dict[str, str]) -> str:
    return _HOLE.sub(lambda hole: values[hole[1]], template)
