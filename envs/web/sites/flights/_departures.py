"""One flight on one day: its price, how many seats are left, which are taken, and what turns out to be gone.

Nothing of this is stored: it follows from the seed, the flight and the day, and from the bookings in the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from random import Random
from types import MappingProxyType

from agent_envs.envs.web.sites.flights._fares import FARES, base_cents, chance, fare_cents
from agent_envs.envs.web.sites.flights._places import AIRCRAFT, AIRLINES, AIRPORTS, Cabin

DAYS = 60
"""How far ahead one can book."""
_FULL = MappingProxyType({"economy": 0.05, "premium": 0.08, "business": 0.06})
_GHOSTS = 0.04


@dataclass(frozen=True, slots=True)
class Flight:
    """A line of the timetable."""

    number: str
    airline: str
    origin: str
    destination: str
    departs: int
    minutes: int
    arrives: int
    weekdays: str
    aircraft: str
    base_cents: int

    @property
    def name(self) -> str:
        """As it is written on tickets: `JW 1204`."""
        return f"{self.number[:2]} {self.number[2:]}"

    @property
    def company(self) -> str:
        """The name of the airline."""
        return AIRLINES[self.airline].name

    def flies(self, day: date) -> bool:
        """Whether it leaves on this day."""
        return str(day.isoweekday()) in self.weekdays


@dataclass(frozen=True, slots=True)
class Leg:
    """A flight on a day."""

    flight: Flight
    day: date

    @property
    def departs(self) -> datetime:
        """When it leaves, by the clocks there."""
        return _at(self.day, self.flight.departs)

    @property
    def arrives(self) -> datetime:
        """When it lands, by the clocks there."""
        return _at(self.day, self.flight.arrives)

    @property
    def from_city(self) -> str:
        """The city where it leaves."""
        return AIRPORTS[self.flight.origin].city

    @property
    def to_city(self) -> str:
        """The city where it lands."""
        return AIRPORTS[self.flight.destination].city


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat and what a traveller wants to know of it."""

    code: str
    row: int
    kind: str
    exit_row: bool


@dataclass(slots=True)
class Market:
    """What one visit finds for sale: a database and the seed and day that it belongs to."""

    database: sqlite3.Connection
    seed: int
    now: datetime
    gone: Collection[str] = ()
    """What the visitor was told to be gone: `flight/date/cabin` and `flight/date/seat/12A`."""
    _booked: dict[tuple[str, str, str], int] | None = None
    _closed: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def price(self, leg: Leg, cabin: str) -> int:
        """The cheapest fare of a cabin, per traveller."""
        return base_cents(self.seed, leg.flight.number, leg.flight.base_cents, leg.day, self.now.date(), cabin)

    def fares(self, leg: Leg, cabin: str) -> dict[str, int]:
        """Every fare of a cabin by name, per traveller."""
        base = self.price(leg, cabin)
        return {fare.name: fare_cents(base, fare) for fare in FARES[cabin]}

    def left(self, leg: Leg, cabin: str) -> int:
        """How many seats are for sale."""
        plan = AIRCRAFT[leg.flight.aircraft].get(cabin)
        if plan is None or leg.departs < self.now + timedelta(hours=2):
            return 0
        self._load()
        key = (leg.flight.number, leg.day.isoformat(), cabin)
        if self._closed.get(key) == "full" or "/".join(key) in self.gone:
            return 0
        taken = _sold(self.seed, *key, plan.seats)
        return max(0, plan.seats - taken - (self._booked or {}).get(key, 0))

    def vanishes(self, leg: Leg, cabin: str) -> bool:
        """Whether the last seats go while one looks; once somebody has been told so, `left` says 0."""
        self._load()
        key = (leg.flight.number, leg.day.isoformat(), cabin)
        return self._closed.get(key) == "vanishing" or chance(self.seed, *key, "vanishes") < 0.03

    def taken(self, leg: Leg, cabin: str) -> set[str]:
        """The seats that others have, of those that one can see."""
        plan = AIRCRAFT[leg.flight.aircraft][cabin]
        key = (leg.flight.number, leg.day.isoformat(), cabin)
        found = set(_taken(self.seed, *key, plan))
        rows = self.database.execute(
            "SELECT s.seat FROM booking_seats s JOIN booking_flights f USING (reference, position)"
            " JOIN bookings b USING (reference) WHERE f.flight = ? AND f.date = ? AND b.status = 'confirmed'",
            key[:2],
        )
        found |= {row[0] for row in rows}
        start = f"{leg.flight.number}/{key[1]}/seat/"
        return found | {what.removeprefix(start) for what in self.gone if what.startswith(start)}

    def is_ghost(self, leg: Leg, seat: str) -> bool:
        """Whether somebody else takes this free seat in the very moment in which one wants it."""
        self._load()
        key = (leg.flight.number, leg.day.isoformat(), f"seat/{seat}")
        return self._closed.get(key) == "vanishing" or chance(self.seed, *key) < _GHOSTS

    def _load(self) -> None:
        if self._booked is not None:
            return
        rows = self.database.execute(
            "SELECT f.flight, f.date, b.cabin, SUM(b.travellers) FROM booking_flights f JOIN bookings b"
            " USING (reference) WHERE b.status = 'confirmed' GROUP BY 1, 2, 3"
        )
        self._booked = {(row[0], row[1], row[2]): row[3] for row in rows}
        rows = self.database.execute("SELECT flight, date, cabin, kind FROM sold_out")
        self._closed = {(row[0], row[1], row[2]): row[3] for row in rows}


@lru_cache(maxsize=64)
def seats_of(aircraft: str, cabin: str) -> tuple[tuple[Seat | None, ...], ...]:
    """The rows of a cabin, from front to back; None is an aisle."""
    plan = AIRCRAFT[aircraft][cabin]
    return tuple(tuple(_seat(plan, row, place) for place in range(len(plan.letters))) for row in plan.rows)


def find_seat(aircraft: str, cabin: str, code: str) -> Seat | None:
    """The seat of this code, if the cabin has it."""
    return next((seat for row in seats_of(aircraft, cabin) for seat in row if seat and seat.code == code), None)


def _seat(plan: Cabin, row: int, place: int) -> Seat | None:
    letter = plan.letters[place]
    if letter == " ":
        return None
    around = plan.letters[max(0, place - 1) : place] + plan.letters[place + 1 : place + 2]
    kind = "aisle" if " " in around else "middle"
    if place in (0, len(plan.letters) - 1):
        kind = "window"
    return Seat(f"{row}{letter}", row, kind, row in plan.exits)


def _sold(seed: int, flight: str, day: str, cabin: str, seats: int) -> int:
    if chance(seed, flight, day, cabin, "full") < _FULL[cabin]:
        return seats
    return int(seats * (0.3 + 0.66 * chance(seed, flight, day, cabin, "sold")))


def _taken(seed: int, flight: str, day: str, cabin: str, plan: Cabin) -> list[str]:
    sold = _sold(seed, flight, day, cabin, plan.seats)
    codes = [f"{row}{letter}" for row in plan.rows for letter in plan.letters if letter != " "]
    return Random(f"{seed}|{flight}|{day}|{cabin}").sample(codes, sold)


def _at(day: date, minutes: int) -> datetime:
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minutes)
