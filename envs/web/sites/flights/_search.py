"""Which ways lead from one place to another on a day: non-stop flights, and connections with one stop."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agent_envs.envs.web.sites.flights._departures import Flight, Leg, Market
from agent_envs.envs.web.sites.flights._places import AIRCRAFT

SHORTEST_STOP = 50
LONGEST_STOP = 600
_CONNECTIONS = 20
PARTS = {"morning": (0, 12 * 60), "afternoon": (12 * 60, 18 * 60), "evening": (18 * 60, 24 * 60)}
"""Parts of the day by name, as minutes after midnight: from, and up to but not including."""


@dataclass(frozen=True, slots=True)
class Itinerary:
    """A way to go: one leg, or two with a stop between them."""

    legs: tuple[Leg, ...]
    price: int
    """The cheapest fare of the cabin that was asked for, per traveller; 0 where it is sold out."""
    left: int
    """Seats for sale on the fuller of the legs."""

    @property
    def key(self) -> str:
        """Its name in an address."""
        return "-".join(leg.flight.number for leg in self.legs)

    @property
    def minutes(self) -> int:
        """From the first departure to the last arrival."""
        return sum(leg.flight.minutes for leg in self.legs) + sum(self.layovers)

    @property
    def layovers(self) -> tuple[int, ...]:
        """Minutes on the ground between the legs."""
        pairs = zip(self.legs, self.legs[1:], strict=False)
        return tuple(int((after.departs - before.arrives).total_seconds()) // 60 for before, after in pairs)

    @property
    def stops(self) -> int:
        """How often one changes."""
        return len(self.legs) - 1

    @property
    def airlines(self) -> list[str]:
        """The names of the airlines, each once."""
        return list(dict.fromkeys(leg.flight.company for leg in self.legs))

    @property
    def part(self) -> str:
        """The part of the day in which it leaves."""
        minute = self.legs[0].flight.departs
        return next(name for name, (start, end) in PARTS.items() if start <= minute < end)


def flights(database: sqlite3.Connection, column: str, airports: Sequence[str]) -> list[Flight]:
    """The timetable from (`origin`) or to (`destination`) some airports."""
    holes = ", ".join("?" * len(airports))
    rows = database.execute(f"SELECT * FROM flights WHERE {column} IN ({holes}) ORDER BY departs, number", airports)
    return [Flight(*row) for row in rows]


def itineraries(
    market: Market, origins: Sequence[str], destinations: Sequence[str], day: date, *, cabin: str, travellers: int = 1
) -> list[Itinerary]:
    """Every way that the site offers on a day, sold-out ones too, by departure."""
    leaving = [flight for flight in flights(market.database, "origin", origins) if flight.flies(day)]
    direct = [Leg(flight, day) for flight in leaving if flight.destination in destinations]
    shortest = min((leg.flight.minutes for leg in direct), default=0)
    ways = [*((leg,) for leg in direct), *_connections(market, leaving, destinations, day, shortest=shortest)]
    found = [priced(market, way, cabin, travellers) for way in ways]
    return sorted((way for way in found if way), key=lambda way: (way.legs[0].departs, way.minutes, way.key))


def priced(market: Market, legs: Iterable[Leg], cabin: str, travellers: int = 1) -> Itinerary | None:
    """The way with its price, or None where it has left or has no such cabin."""
    legs = tuple(legs)
    if any(not has_cabin(leg, cabin) for leg in legs) or legs[0].departs < market.now + timedelta(hours=2):
        return None
    left = min(market.left(leg, cabin) for leg in legs)
    enough = left >= travellers
    return Itinerary(legs, sum(market.price(leg, cabin) for leg in legs) if enough else 0, left if enough else 0)


def has_cabin(leg: Leg, cabin: str) -> bool:
    """Whether the aircraft has this class at all."""
    return cabin in AIRCRAFT[leg.flight.aircraft]


def find_itinerary(market: Market, key: str, day: date, cabin: str, travellers: int = 1) -> Itinerary | None:
    """The way that an address names, as long as it is one that can be flown."""
    numbers = key.split("-")
    if not 1 <= len(numbers) <= 2:
        return None
    legs: list[Leg] = []
    for number in numbers:
        row = market.database.execute("SELECT * FROM flights WHERE number = ?", [number]).fetchone()
        if row is None:
            return None
        leg = _next_leg(legs[-1], Flight(*row)) if legs else Leg(Flight(*row), day)
        if leg is None or not leg.flight.flies(leg.day):
            return None
        legs.append(leg)
    return priced(market, legs, cabin, travellers)


def _connections(
    market: Market, leaving: list[Flight], destinations: Sequence[str], day: date, *, shortest: int
) -> list[tuple[Leg, Leg]]:
    arriving: dict[str, list[Flight]] = {}
    for flight in flights(market.database, "destination", destinations):
        arriving.setdefault(flight.origin, []).append(flight)
    found = []
    for first in leaving:
        before = Leg(first, day)
        for second in arriving.get(first.destination, ()):
            stop = (second.departs - first.arrives) % 1440
            total = first.minutes + stop + second.minutes
            if not SHORTEST_STOP <= stop <= LONGEST_STOP or (shortest and total > shortest * 2 + 420):
                continue
            after = _next_leg(before, second)
            if after is not None and second.flies(after.day):
                found.append((total, first.departs, first.number, second.number, (before, after)))
    found.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in found[:_CONNECTIONS]]


def _next_leg(before: Leg, flight: Flight) -> Leg | None:
    """The connecting flight on the first day on which one reaches it, if the stop is neither too short nor too long."""
    if flight.origin != before.flight.destination:
        return None
    stop = (flight.departs - before.flight.arrives) % 1440
    if not SHORTEST_STOP <= stop <= LONGEST_STOP:
        return None
    return Leg(flight, before.day + timedelta(days=(before.flight.arrives + stop) // 1440))
