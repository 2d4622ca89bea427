"""Bookings in the database: written when they are paid, read as one piece, changed and cancelled by their rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from random import Random

from agent_envs.envs.web.sites.flights._departures import Flight, Leg, Market, Seat
from agent_envs.envs.web.sites.flights._fares import (
    BAG_CENTS,
    MEAL_CENTS,
    Fare,
    fare_cents,
    fare_of,
    refund_cents,
    seat_cents,
)

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, slots=True)
class Traveller:
    """Who flies, and what they take along."""

    given_name: str
    family_name: str
    birth_date: str
    passport: str
    bags: int = 0
    meal: str = "none"

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.given_name} {self.family_name}"


@dataclass(frozen=True, slots=True)
class Purchase:
    """Everything that is bought at once."""

    user: str
    cabin: str
    fare: Fare
    legs: tuple[tuple[Leg, str], ...]
    """With the direction of each."""
    travellers: tuple[Traveller, ...]
    seats: tuple[tuple[Seat | None, ...], ...]
    """By leg, then by traveller; None or missing: no choice."""
    email: str
    phone: str
    card: str
    """Its last four digits."""
    card_token: str = ""

    def lines(self, market: Market) -> list[tuple[str, int]]:
        """What it costs, line by line."""
        count = len(self.travellers)
        people = f"{count} traveller{'s' if count > 1 else ''}"
        found = [
            (f"{leg.flight.name} {leg.from_city} to {leg.to_city}, {people}", count * self._fare_cents(market, leg))
            for leg, _ in self.legs
        ]
        chosen = [seat for seats in self.seats for seat in seats if seat]
        bags = sum(one.bags for one in self.travellers)
        meals = 0 if self.fare.meal else sum(one.meal != "none" for one in self.travellers)
        extras = [
            ("Seats", sum(seat_cents(self.fare, exit_row=seat.exit_row, cabin=self.cabin) for seat in chosen)),
            (f"Extra checked bags ({bags})", bags * BAG_CENTS),
            (f"Meals ({meals})", meals * MEAL_CENTS),
        ]
        return [*found, *((label, cents) for label, cents in extras if cents)]

    def _fare_cents(self, market: Market, leg: Leg) -> int:
        return fare_cents(market.price(leg, self.cabin), self.fare)


def write(market: Market, random: Random, bought: Purchase, when: datetime) -> str:
    """Write down what was bought and return its reference."""
    reference, database = new_reference(market.database, random), market.database
    total = sum(cents for _, cents in bought.lines(market))
    row = (
        reference, bought.user or None, "confirmed", bought.cabin, bought.fare.name, len(bought.travellers), total, 0,
        bought.email, bought.phone, bought.card, bought.card_token, when.isoformat(timespec="minutes"),
    )  # fmt: skip
    database.execute(f"INSERT INTO bookings VALUES ({', '.join('?' * 13)})", row)
    for position, (leg, direction) in enumerate(bought.legs):
        put_leg(market, reference, position, direction, leg, bought._fare_cents(market, leg))
    for number, one in enumerate(bought.travellers, 1):
        entry = (reference, number, one.given_name, one.family_name, one.birth_date, one.passport, one.bags, one.meal)
        database.execute("INSERT INTO booking_travellers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)
    for position, seats in enumerate(bought.seats):
        for number, seat in enumerate(seats, 1):
            if seat:
                put_seat(database, reference, position, number, seat)
    pay(database, reference, "purchase", total, bought.card)
    return reference


def put_leg(market: Market, reference: str, position: int, direction: str, leg: Leg, cents: int) -> None:
    """Write down a leg of a booking in place of the one at this position."""
    flight = leg.flight
    places = (flight.origin, flight.destination, leg.from_city, leg.to_city)
    times = (leg.day.isoformat(), f"{leg.departs:%H:%M}", leg.arrives.isoformat(timespec="minutes"))
    row = (reference, position, direction, flight.number, flight.airline, *places, *times, cents)
    market.database.execute(f"INSERT OR REPLACE INTO booking_flights VALUES ({', '.join('?' * 13)})", row)


def put_seat(database: sqlite3.Connection, reference: str, position: int, traveller: int, seat: Seat) -> None:
    """Give a traveller a seat on one leg in place of the one they had."""
    row = (reference, position, traveller, seat.code, seat.kind, seat.row, int(seat.exit_row))
    database.execute("INSERT OR REPLACE INTO booking_seats VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def pay(database: sqlite3.Connection, reference: str, kind: str, cents: int, card: str) -> None:
    """Write down a payment; one back is negative."""
    row = (reference, kind, cents, card)
    database.execute("INSERT INTO payments (reference, kind, amount_cents, card) VALUES (?, ?, ?, ?)", row)


def new_reference(database: sqlite3.Connection, random: Random) -> str:
    """Six letters and digits that no booking has."""
    while True:
        found = "".join(random.choice(_LETTERS) for _ in range(6))
        if not database.execute("SELECT 1 FROM bookings WHERE reference = ?", [found]).fetchone():
            return found


@dataclass(frozen=True, slots=True)
class BookedLeg:
    """A leg of a booking with the seats on it."""

    position: int
    direction: str
    leg: Leg
    fare_cents: int
    seats: dict[int, str]
    """By the number of the traveller."""


@dataclass(frozen=True, slots=True)
class Booking:
    """A booking as it stands."""

    reference: str
    user: str
    status: str
    cabin: str
    fare: Fare
    total_cents: int
    refund_cents: int
    email: str
    phone: str
    card: str
    legs: tuple[BookedLeg, ...]
    travellers: tuple[Traveller, ...]

    @property
    def departs(self) -> datetime:
        """When it begins."""
        return self.legs[0].leg.departs

    @property
    def title(self) -> str:
        """`Beijing to Shanghai`, where the journey out goes."""
        out = [one for one in self.legs if one.direction == "outbound"]
        return f"{out[0].leg.from_city} to {out[-1].leg.to_city}"

    @property
    def directions(self) -> list[str]:
        """Which journeys it holds."""
        return list(dict.fromkeys(one.direction for one in self.legs))

    def way(self, direction: str) -> list[BookedLeg]:
        """The legs of one journey."""
        return [one for one in self.legs if one.direction == direction]

    def is_over(self, now: datetime) -> bool:
        """Whether it has begun: nothing can be changed any more."""
        return self.departs <= now

    def refund(self, now: datetime) -> int:
        """What comes back when it is cancelled now."""
        return refund_cents(self.fare, self.total_cents, len(self.travellers), self.departs, now)


def find_booking(database: sqlite3.Connection, reference: str) -> Booking | None:
    """The booking of this reference."""
    row = database.execute("SELECT * FROM bookings WHERE reference = ?", [reference]).fetchone()
    if row is None:
        return None
    fare = fare_of(row["cabin"], row["fare"])
    assert fare is not None  # rows are written with fares that exist
    people = tuple(Traveller(*one[2:]) for one in _rows(database, "booking_travellers", reference, "number"))
    return Booking(
        reference, row["user_id"] or "", row["status"], row["cabin"], fare, row["total_cents"], row["refund_cents"],
        row["email"], row["phone"], row["card"], _legs(database, reference), people,
    )  # fmt: skip


def bookings_of(database: sqlite3.Connection, user: str) -> list[Booking]:
    """All bookings of somebody, by departure."""
    rows = database.execute("SELECT reference FROM bookings WHERE user_id = ?", [user]).fetchall()
    found = (find_booking(database, row[0]) for row in rows)
    return sorted((one for one in found if one), key=lambda one: (one.departs, one.reference))


def change_day(market: Market, booking: Booking, direction: str, legs: Sequence[Leg], fares: Sequence[int]) -> int:
    """Move one journey to other flights; the seats on it are given up. Returns what it cost."""
    cost = change_cost(booking, direction, fares)
    old = booking.way(direction)
    for was, leg, cents in zip(old, legs, fares, strict=True):
        put_leg(market, booking.reference, was.position, direction, leg, cents)
        market.database.execute(
            "DELETE FROM booking_seats WHERE reference = ? AND position = ?", [booking.reference, was.position]
        )
    _charge(market.database, booking, "change", cost)
    return cost


def change_cost(booking: Booking, direction: str, fares: Sequence[int]) -> int:
    """The fee and the difference in fare for all travellers; a cheaper flight gives nothing back."""
    count = len(booking.travellers)
    difference = sum(fares) - sum(one.fare_cents for one in booking.way(direction))
    return count * (booking.fare.change_cents + max(0, difference))


def change_seat(database: sqlite3.Connection, booking: Booking, position: int, traveller: int, seat: Seat) -> int:
    """Give a traveller another seat and return what it cost."""
    cost = seat_change_cost(booking, seat)
    put_seat(database, booking.reference, position, traveller, seat)
    _charge(database, booking, "seat", cost)
    return cost


def seat_change_cost(booking: Booking, seat: Seat) -> int:
    """What another seat costs: the price of the new one."""
    return seat_cents(booking.fare, exit_row=seat.exit_row, cabin=booking.cabin)


def cancel(database: sqlite3.Connection, booking: Booking, now: datetime) -> int:
    """Cancel a booking and return what comes back."""
    back = booking.refund(now)
    row = [back, booking.reference]
    database.execute("UPDATE bookings SET status = 'cancelled', refund_cents = ? WHERE reference = ?", row)
    if back:
        pay(database, booking.reference, "refund", -back, booking.card)
    return back


def _charge(database: sqlite3.Connection, booking: Booking, kind: str, cents: int) -> None:
    if cents:
        row = [cents, booking.reference]
        database.execute("UPDATE bookings SET total_cents = total_cents + ? WHERE reference = ?", row)
        pay(database, booking.reference, kind, cents, booking.card)


def _legs(database: sqlite3.Connection, reference: str) -> tuple[BookedLeg, ...]:
    seats: dict[int, dict[int, str]] = {}
    for row in _rows(database, "booking_seats", reference, "traveller"):
        seats.setdefault(row["position"], {})[row["traveller"]] = row["seat"]
    rows = database.execute(
        "SELECT b.position, b.direction, b.fare_cents, b.date, f.* FROM booking_flights b JOIN flights f"
        " ON f.number = b.flight WHERE b.reference = ? ORDER BY b.position",
        [reference],
    )
    return tuple(
        BookedLeg(row[0], row[1], Leg(Flight(*row[4:]), date.fromisoformat(row[3])), row[2], seats.get(row[0], {}))
        for row in rows
    )


def _rows(database: sqlite3.Connection, table: str, reference: str, order: str) -> list[sqlite3.Row]:
    return database.execute(f"SELECT * FROM {table} WHERE reference = ? ORDER BY {order}", [reference]).fetchall()
