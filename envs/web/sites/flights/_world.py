"""The world that a seed makes: a timetable, people with travellers they often book for, and trips they have booked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Any

from agent_envs.envs.web.sites._kit import create_sessions
from agent_envs.envs.web.sites.flights._bookings import Purchase, Traveller, write
from agent_envs.envs.web.sites.flights._departures import Leg, Market, Seat, seats_of
from agent_envs.envs.web.sites.flights._fares import FARES
from agent_envs.envs.web.sites.flights._places import AIRLINES, AIRPORTS, Airport, kilometres
from agent_envs.envs.web.sites.flights._schema import SCHEMA
from agent_envs.envs.web.sites.flights._search import flights

from agent_envs.errors import TaskError
from agent_envs.sites import World

PASSWORD = "window-seat-7"
_PEOPLE = (
    ("li-na", "Na", "Li", ("Wei Li", "Xiaoming Li")),
    ("omar", "Omar", "Haddad", ("Leila Haddad", "Sami Haddad")),
    ("grace", "Grace", "Okafor", ("Daniel Okafor", "Ruth Okafor")),
    ("jonas", "Jonas", "Lindqvist", ("Elsa Lindqvist", "Maja Lindqvist")),
)
USERS = tuple(person[0] for person in _PEOPLE)
"""Who can be signed in; the password of everybody is the same."""


def populate(database: sqlite3.Connection, world: World) -> None:
    """Make the tables and fill them, and prepare what the options of the world ask for."""
    for statement in SCHEMA.split(";"):
        database.execute(statement)
    create_sessions(database)
    random = Random(f"flights {world.seed}")
    database.executemany(f"INSERT INTO flights VALUES ({', '.join('?' * 10)})", _timetable(random))
    _prepare(database, world)
    market = Market(database, world.seed, datetime.fromisoformat(world.now))
    for user, given, family, others in _PEOPLE:
        _move_in(database, random, user, f"{given} {family}", others)
        _book_trips(market, random, user)


def _prepare(database: sqlite3.Connection, world: World) -> None:
    """`options`: {"sold_out": [[flight, date, cabin]], "vanishing": [[flight, date, cabin or "seat/12A"]]}."""
    kinds = {"sold_out": "full", "vanishing": "vanishing"}
    for name, entries in world.options.items():
        if name not in kinds:
            raise TaskError(f"the flights site knows no option {name!r}; it knows: {', '.join(kinds)}")
        for flight, day, what in entries:
            database.execute("INSERT OR REPLACE INTO sold_out VALUES (?, ?, ?, ?)", [flight, day, what, kinds[name]])


@lru_cache(maxsize=1)
def _routes() -> tuple[tuple[Airport, Airport, int, tuple[str, ...], float], ...]:
    """Every route with its flights a day, the airlines that may fly it, and its length; the same in every world."""
    found = []
    for one, other in combinations(AIRPORTS.values(), 2):
        if daily := _daily(one, other):
            carriers = tuple(code for code, line in AIRLINES.items() if {one.code, other.code} & set(line.homes))
            found += [
                (*ends, daily, carriers, kilometres(one.code, other.code)) for ends in ((one, other), (other, one))
            ]
    return tuple(found)


def _timetable(random: Random) -> Iterator[tuple[Any, ...]]:
    """The rows of `flights`."""
    numbers, draw = dict.fromkeys(AIRLINES, 100), random.random
    for start, end, daily, carriers, far in _routes():
        for turn in range(daily):
            airline = carriers[int(draw() * len(carriers))]
            numbers[airline] += 1 + int(draw() * 7)
            departs = int((6.2 + 16.0 / daily * (turn + draw())) * 12) * 5
            minutes = 5 * round((35 + far / 13.6 + draw() * 10) / 5)
            arrives = departs + minutes + end.offset - start.offset
            price = (38 + 0.72 * far**0.78) * AIRLINES[airline].price * (0.85 + 0.35 * draw())
            row = (f"{airline}{numbers[airline]}", airline, start.code, end.code, departs, minutes, arrives)
            yield (*row, _weekdays(random, rare=daily == 1), _aircraft(far, draw()), round(price) * 100)


def _weekdays(random: Random, *, rare: bool) -> str:
    if not rare and random.random() >= 0.12:
        return "1234567"
    return "".join(sorted(random.sample("1234567", 3 if rare else 5)))


def _aircraft(far: float, luck: float) -> str:
    if far > 4500 or luck < 0.2:
        return "Heron 260"
    return "Wren 90" if far < 1800 and luck < 0.4 else "Kite 180"


def _daily(one: Airport, other: Airport) -> int:
    """How many flights a day go each way; none between airports that are small, far apart or beside each other."""
    far = kilometres(one.code, other.code)
    if one.city == other.city or far < 180:
        return 0
    small = min(one.size, other.size)
    reach = 3000 if small <= 2 else 5200 if small <= 4 else 16000
    if far > reach:
        return 0
    demand = one.size * other.size / (1 + (far / 1500) ** 1.1)
    return int(min(6, demand // 7)) if demand >= 7 else int(demand >= 4.4)


def _move_in(database: sqlite3.Connection, random: Random, user: str, name: str, others: tuple[str, ...]) -> None:
    email = f"{name.replace(' ', '.').lower()}@mail.test"
    phone = f"+{random.randint(20, 98)} 555 {random.randint(100, 999)} {random.randint(1000, 9999)}"
    database.execute("INSERT INTO users VALUES (?, ?, ?, ?, ?)", [user, email, PASSWORD, name, phone])
    for person in (name, *others):
        given, family = person.split(" ")
        born = date(random.randint(1958, 2004), random.randint(1, 12), random.randint(1, 28)).isoformat()
        wish = (random.choice(["", "window", "aisle"]), random.choice(["none", "standard", "vegetarian", "vegan"]))
        row = (None, user, given, family, born, passport(random), *wish)
        database.execute("INSERT INTO travellers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def passport(random: Random) -> str:
    """A passport number as the site accepts it."""
    return random.choice("CEGKPRX") + f"{random.randint(10_000_000, 99_999_999)}"


def _book_trips(market: Market, random: Random, user: str) -> None:
    """One trip that is over, and three to come, one for each fare of economy."""
    people = market.database.execute("SELECT * FROM travellers WHERE user_id = ? ORDER BY id", [user]).fetchall()
    fares = [*FARES["economy"]]
    random.shuffle(fares)
    ahead = [-random.randint(10, 40), random.randint(4, 12), random.randint(14, 24), random.randint(27, 45)]
    for days, fare in zip(ahead, [random.choice(fares), *fares], strict=True):
        legs = _round_trip(market, random, market.now.date() + timedelta(days=days), stay=random.randint(0, 9))
        party = [Traveller(row[2], row[3], row[4], row[5], random.choice([0, 0, 1]), row[7]) for row in people]
        party = party[: random.choice([1, 1, 2, 3])]
        seats = [_seat_together(market, random, leg, len(party)) for leg, _ in legs]
        booked = market.now - timedelta(days=random.randint(41, 60), hours=random.randint(0, 8))
        email, phone = market.database.execute("SELECT email, phone FROM users WHERE id = ?", [user]).fetchone()
        card = f"{random.randint(1000, 9999)}"
        purchase = Purchase(user, "economy", fare, tuple(legs), tuple(party), tuple(seats), email, phone, card)
        write(market, random, purchase, booked)


def _round_trip(market: Market, random: Random, day: date, *, stay: int) -> list[tuple[Leg, str]]:
    """A flight on the day, and one back where there is a stay of at least two nights."""
    homes = ("PEK", "PVG", "CAN", "HKG", "SIN", "HND", "LHR", "FRA")
    while True:
        leaving = [one for one in flights(market.database, "origin", [random.choice(homes)]) if one.flies(day)]
        out = random.choice(leaving)
        if stay < 2:
            return [(Leg(out, day), "outbound")]
        then = day + timedelta(days=stay)
        back = flights(market.database, "origin", [out.destination])
        back = [one for one in back if one.destination == out.origin and one.flies(then)]
        if back:
            return [(Leg(out, day), "outbound"), (Leg(random.choice(back), then), "return")]


def _seat_together(market: Market, random: Random, leg: Leg, count: int) -> tuple[Seat, ...]:
    """Seats in one row that nobody else has, without what costs extra."""
    taken = market.taken(leg, "economy")
    rows = list(seats_of(leg.flight.aircraft, "economy"))
    random.shuffle(rows)
    free = [[seat for seat in row if seat and seat.code not in taken and not seat.exit_row] for row in rows]
    best = next((row for row in free if len(row) >= count), [])
    start = random.randint(0, len(best) - count) if best else 0
    return tuple(best[start : start + count])
