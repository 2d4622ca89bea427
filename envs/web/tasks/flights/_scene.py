"""Where a task plays: a world drawn from a seed, who is signed in, and what is for sale there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from random import Random
from typing import Any

from agent_envs.envs.web.sites._kit import card_token
from agent_envs.envs.web.sites.flights import FLIGHTS
from agent_envs.envs.web.sites.flights._market import (
    DAYS,
    Booking,
    Itinerary,
    Leg,
    Market,
    Seat,
    airports_of,
    bookings_of,
    itineraries,
    long_day,
    seats_of,
)

from agent_envs.sites import World, untouched

_GIVEN = (
    "Mei", "Jun", "Ana", "Ivo", "Lars", "Nadia", "Tomas", "Ingrid", "Ravi", "Priya", "Kofi", "Amara", "Hugo", "Clara",
    "Yuki", "Haruto", "Sofia", "Mateo", "Elif", "Emre", "Nora", "Felix", "Zara", "Omid", "Lucia", "Pavel", "Samuel",
)  # fmt: skip
_FAMILY = (
    "Chen", "Zhao", "Novak", "Duarte", "Berg", "Okoye", "Larsen", "Rossi", "Silva", "Tanaka", "Sato", "Meyer", "Keller",
    "Iyer", "Rao", "Mensah", "Dlamini", "Costa", "Ferrer", "Aydin", "Kaya", "Vance", "Moss", "Petrov", "Lind", "Walsh",
)  # fmt: skip
PAIRS = (
    ("Beijing", "Shanghai"), ("Shanghai", "Beijing"), ("Shanghai", "Tokyo"), ("Beijing", "Hong Kong"),
    ("Guangzhou", "Beijing"), ("Singapore", "Hong Kong"), ("Tokyo", "Seoul"), ("London", "Paris"),
    ("Frankfurt", "Istanbul"), ("Hong Kong", "Tokyo"), ("Shenzhen", "Shanghai"), ("Chengdu", "Beijing"),
    ("New York", "Los Angeles"), ("Bangkok", "Singapore"), ("Seoul", "Shanghai"), ("London", "Istanbul"),
)  # fmt: skip
"""Routes with several flights a day."""
CONNECTIONS = (
    ("Beijing", "London"), ("Shanghai", "Paris"), ("Tokyo", "Frankfurt"), ("Hong Kong", "Istanbul"),
    ("Singapore", "London"), ("Delhi", "Tokyo"), ("Seoul", "Bangkok"), ("Beijing", "Singapore"),
)  # fmt: skip
"""Routes that one also flies with a stop."""


class Unlucky(Exception):
    """This draw makes no good task; draw again."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody the prompt tells about."""

    given: str
    family: str
    born: str
    passport: str

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.given} {self.family}"

    @property
    def text(self) -> str:
        """As the prompt says it."""
        names = f"given name {self.given}, family name {self.family}"
        return f"{self.name} ({names}), born {self.born}, passport {self.passport}"


@dataclass(frozen=True, slots=True)
class Card:
    """A card to pay with."""

    name: str
    number: str
    expiry: str
    code: str

    @property
    def token(self) -> str:
        """What the site keeps of it."""
        return card_token(self.number, name=self.name, expiry=self.expiry, code=self.code)

    @property
    def text(self) -> str:
        """As the prompt says it."""
        return f"card {self.number}, name on the card {self.name}, expiry {self.expiry}, security code {self.code}"


@dataclass
class Scene:
    """One drawn world. Everything a template draws comes from `random`."""

    random: Random
    level: int
    """1 (easy) to 3 (hard)."""
    user: str = ""
    options: dict[str, list[list[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.seed = self.random.randrange(1_000_000)
        day = date(2026, 1, 5) + timedelta(days=self.random.randrange(700))
        # From Wednesday to Saturday "next Tuesday" has one meaning: this week's is over.
        day += timedelta(days=(2 - day.weekday()) % 7 + self.random.randrange(4))
        self.now = datetime(day.year, day.month, day.day, self.random.randrange(8, 18))

    def again(self) -> None:
        """Forget what an unlucky draw has prepared."""
        self.user, self.market.gone = "", ()
        self.options.clear()

    @property
    def today(self) -> date:
        """The day on which the task plays."""
        return self.now.date()

    @property
    def world(self) -> dict[str, Any]:
        """As `setup` writes it."""
        now = self.now.isoformat()
        return {"seed": self.seed, "now": now, "user": self.user, "options": self.options}

    @cached_property
    def database(self) -> sqlite3.Connection:
        """The database as nobody has touched it; what the options prepare is not in it."""
        return untouched(FLIGHTS, World(seed=self.seed, now=self.now.isoformat()))

    @cached_property
    def market(self) -> Market:
        """What is for sale."""
        return Market(self.database, self.seed, self.now)

    def trips(self) -> list[Booking]:
        """What the user has booked and can still change."""
        found = bookings_of(self.database, self.user)
        return [one for one in found if one.status == "confirmed" and not one.is_over(self.now)]

    def next(self, weekday: int) -> date:
        """The first such day after today; Monday is 0."""
        return self.today + timedelta(days=(weekday - self.today.weekday() - 1) % 7 + 1)

    def ways(self, pair: tuple[str, str], day: date, cabin: str = "economy", count: int = 1) -> list[Itinerary]:
        """What can be bought on a day, cheapest first."""
        if not self.today <= day <= self.today + timedelta(days=DAYS):
            return []
        places = airports_of(pair[0]), airports_of(pair[1])
        found = itineraries(self.market, *places, day, cabin=cabin, travellers=count)
        return sorted((way for way in found if way.price), key=lambda way: (way.price, way.legs[0].departs))

    def direct(self, pair: tuple[str, str], day: date, cabin: str = "economy", count: int = 1) -> list[Itinerary]:
        """The same without those with a stop."""
        return [way for way in self.ways(pair, day, cabin, count) if not way.stops]

    def steady(self, way: Itinerary, cabin: str = "economy") -> bool:
        """Whether its seats are still there when one wants to book."""
        return not any(self.market.vanishes(leg, cabin) for leg in way.legs)

    def seats(self, leg: Leg, kind: str = "", cabin: str = "economy", *, exits: bool = False) -> list[Seat]:
        """The free seats that nobody else is about to take, from front to back."""
        taken = self.market.taken(leg, cabin)
        rows = seats_of(leg.flight.aircraft, cabin)
        return [
            seat
            for row in rows
            for seat in row
            if seat and seat.code not in taken and kind in ("", seat.kind) and (exits or not seat.exit_row)
            and not self.market.is_ghost(leg, seat.code)
        ]  # fmt: skip

    def seat(self, leg: Leg, kind: str, cabin: str = "economy") -> str:
        """One such seat."""
        found: Seat = pick(self.random, self.seats(leg, kind, cabin))
        return found.code

    def people(self, count: int) -> tuple[Person, ...]:
        """Strangers with different names."""
        given, family = self.random.sample(_GIVEN, count), self.random.sample(_FAMILY, count)
        return tuple(self._person(*names) for names in zip(given, family, strict=True))

    def card(self, name: str) -> Card:
        """A card in this name that can be charged."""
        digits = [4, *(self.random.randrange(10) for _ in range(14))]
        doubled = [digit * 2 - 9 * (digit > 4) if place % 2 == 0 else digit for place, digit in enumerate(digits)]
        number = "".join(map(str, [*digits, -sum(doubled) % 10]))
        expiry = f"{self.random.randrange(1, 13):02d}/{self.today.year % 100 + self.random.randrange(1, 5)}"
        return Card(name, number, expiry, f"{self.random.randrange(1000):03d}")

    def _person(self, given: str, family: str) -> Person:
        born = date(self.random.randrange(1955, 2004), self.random.randrange(1, 13), self.random.randrange(1, 29))
        passport = self.random.choice("CEGKPRX") + str(self.random.randrange(10_000_000, 100_000_000))
        return Person(given, family, born.isoformat(), passport)


def pick(random: Random, choices: Sequence[Any]) -> Any:
    """One of them; none at all is bad luck."""
    if not choices:
        raise Unlucky
    return random.choice(choices)


def need(condition: object) -> None:
    """Draw again unless this holds."""
    if not condition:
        raise Unlucky


def cheapest(ways: Sequence[Itinerary]) -> Itinerary:
    """The one with the lowest price, where there is one."""
    need(ways and (len(ways) == 1 or ways[0].price < ways[1].price))
    return ways[0]


def said(day: date) -> str:
    """`Tuesday, 17 March 2026`"""
    return long_day(day)
