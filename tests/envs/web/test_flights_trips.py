"""Trips that are booked on the flight site are moved, reseated and cancelled by the rules of their fares."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from agent_envs.envs.web.sites.flights import FLIGHTS
from agent_envs.envs.web.sites.flights._market import FARES, Market, bookings_of, find_seat, seats_of

from agent_envs.sites import World

Begin = Callable[..., Any]
NOW = "2026-03-11T09:00:00"


@pytest.fixture
def me(visitor: Begin) -> Any:
    """Somebody who is signed in."""
    return visitor(FLIGHTS, World(seed=3, now=NOW, user="li-na"))


def trip(me: Any, fare: str) -> Any:
    """A coming trip of the signed-in person with this fare."""
    found = bookings_of(me.visit.database, "li-na")
    return next(one for one in found if one.fare.name == fare and not one.is_over(me.visit.now))


@pytest.mark.parametrize(
    ("fare", "kept"), [(fare.name, fare) for fare in FARES["economy"]], ids=[fare.name for fare in FARES["economy"]]
)
def test_cancelling_refunds_what_the_fare_says(me: Any, fare: str, kept: Any) -> None:
    booking = trip(me, fare)
    me.post(f"/trips/{booking.reference}/cancel")
    fees = kept.refund_fee_cents * len(booking.travellers)
    back = booking.total_cents - fees if kept.refund_percent else 0
    (pair,) = me.changes()["bookings"]["changed"]
    assert (pair["after"]["status"], pair["after"]["refund_cents"]) == ("cancelled", back)
    assert ("payments" in me.changes()) is bool(back)


def test_another_day_costs_the_fee_and_the_difference_and_gives_up_the_seats(me: Any) -> None:
    booking = trip(me, "Standard")
    page, day = f"/trips/{booking.reference}/change/outbound", booking.departs.date() - timedelta(days=1)
    offer = me.get(page, date=day.isoformat())
    key = re.findall(r"flight=([A-Z0-9-]+)", offer.body)[0]
    me.post(page, date=day.isoformat(), flight=key)
    changed = me.changes()
    (leg,) = changed["booking_flights"]["changed"]
    more = max(0, leg["after"]["fare_cents"] - leg["before"]["fare_cents"])
    assert changed["payments"]["added"][0]["amount_cents"] == len(booking.travellers) * (4000 + more)
    assert leg["after"]["date"] == day.isoformat()
    assert "removed" in changed["booking_seats"]


def test_a_basic_fare_cannot_be_moved(me: Any) -> None:
    booking = trip(me, "Basic")
    page = me.get(f"/trips/{booking.reference}/change/outbound")
    assert "cannot be changed" in page.text
    assert "Change outbound date" not in page.text


def test_a_new_seat_takes_the_place_of_the_old_one(me: Any) -> None:
    booking = trip(me, "Flex")
    leg = booking.legs[0].leg
    found = Market(me.visit.database, 3, me.visit.now)
    free = {seat.code for row in seats_of(leg.flight.aircraft, "economy") for seat in row if seat and not seat.exit_row}
    code = next(code for code in sorted(free - found.taken(leg, "economy")) if not found.is_ghost(leg, code))
    me.post(f"/trips/{booking.reference}/seats/0", traveller=1, seat=code)
    (pair,) = me.changes()["booking_seats"]["changed"]
    assert pair["after"]["seat"] == code
    assert find_seat(leg.flight.aircraft, "economy", code)
    assert {*me.changes()} == {"booking_seats"}


def test_nobody_sees_or_touches_the_trips_of_others(visitor: Begin, me: Any) -> None:
    other = visitor(FLIGHTS, World(seed=3, now=NOW, user="omar"))
    reference = trip(me, "Flex").reference
    assert "no such booking" in other.get(f"/trips/{reference}").text
    other.post(f"/trips/{reference}/cancel")
    assert other.changes() == {}


def test_a_guest_finds_a_booking_by_reference_and_name(visitor: Begin, me: Any) -> None:
    booking, guest = trip(me, "Flex"), visitor(FLIGHTS, World(seed=3, now=NOW))
    wrong = guest.post("/trips/find", reference=booking.reference, family_name="Nobody")
    found = guest.post("/trips/find", reference=booking.reference.lower(), family_name="li")
    assert wrong.status == 422
    assert booking.reference in found.text


def test_saved_travellers_are_added_changed_and_removed(me: Any) -> None:
    (old, *_) = me.rows("SELECT id FROM travellers WHERE user_id = 'li-na' ORDER BY id")
    new = {"given_name": "Jun", "family_name": "Li", "birth_date": "2001-02-03", "passport": "e7654321"}
    me.post("/travellers/new", **new, seat="window", meal="vegan")
    me.post(f"/travellers/{old[0]}", **{**new, "passport": "G1234567"}, seat="", meal="none")
    me.post(f"/travellers/{old[0] + 1}/remove")
    changed = me.changes()["travellers"]
    assert changed["added"][0]["passport"] == "E7654321"
    assert changed["changed"][0]["after"]["passport"] == "G1234567"
    assert changed["removed"][0]["id"] == old[0] + 1


def test_who_is_removed_and_who_is_added_after_it_are_two_people(me: Any) -> None:
    (*_, last) = me.rows("SELECT id FROM travellers ORDER BY id")
    me.visit.database.execute("UPDATE travellers SET user_id = 'li-na' WHERE id = ?", [last[0]])
    me.post(f"/travellers/{last[0]}/remove")
    new = {"given_name": "Jun", "family_name": "Li", "birth_date": "2001-02-03", "passport": "e7654321"}
    me.post("/travellers/new", **new, seat="window", meal="vegan")
    changed = me.changes()["travellers"]
    assert sorted(changed) == ["added", "removed"]


@pytest.mark.parametrize("day", ["9999-12-31", "2029-06-15", "2026-03-10", "x"])
def test_a_trip_moves_to_no_day_that_is_not_on_sale(me: Any, day: str) -> None:
    page = f"/trips/{trip(me, 'Flex').reference}/change/outbound"
    shown = me.get(page, date=day)
    assert "new date" in shown.text
    assert "flight=" not in shown.body
    me.post(page, date=day, flight="PS137")
    assert me.changes() == {}
