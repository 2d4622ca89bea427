"""The flight site keeps its word: what it shows is what it sells, by its own rules, and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from agent_envs.envs.web.sites.flights import FLIGHTS
from agent_envs.envs.web.sites.flights._market import (
    Market,
    airports_of,
    itineraries,
    seats_of,
)

from agent_envs.errors import TaskError
from agent_envs.sites import World, begin

Begin = Callable[..., Any]
NOW = "2026-03-11T09:00:00"
TUESDAY = date(2026, 3, 17)
SEARCH = {"trip": "one-way", "from": "Beijing", "to": "Shanghai", "depart": TUESDAY.isoformat(), "travellers": 1}
PERSON = {"given_name-1": "Mei", "family_name-1": "Chen", "birth_date-1": "1990-05-01", "passport-1": "E12345678"}
CONTACT = {"email": "mei@mail.test", "phone": "+86 555 123 4567"}
CARD = {"card_name": "Mei Chen", "card_number": "4242 4242 4242 4242", "expiry": "08/28", "cvc": "123", "terms": "1"}
PATHS = [
    "/", "/search?trip=one-way&from=Beijing&to=London&depart=2026-03-20&travellers=2&cabin=economy",
    "/search?trip=return&from=PEK&to=tokyo&depart=2026-03-20&return=2026-03-29&travellers=1&cabin=business&sort=duration",
    "/calendar?from=Beijing&to=Shanghai", "/help", "/trips", "/travellers", "/travellers/new", "/account", "/sign-in",
    "/trips/find",
]  # fmt: skip


@pytest.fixture
def me(visitor: Begin) -> Any:
    """Somebody who is signed in."""
    return visitor(FLIGHTS, World(seed=3, now=NOW, user="li-na"))


def market(visitor: Any) -> Market:
    return Market(visitor.visit.database, visitor.world.seed, datetime.fromisoformat(NOW))


def steady(visitor: Any, cabin: str = "economy") -> Any:
    """A non-stop flight whose seats do not vanish."""
    found = itineraries(market(visitor), airports_of("Beijing"), airports_of("Shanghai"), TUESDAY, cabin=cabin)
    return next(
        way for way in found if way.price and not way.stops and not market(visitor).vanishes(way.legs[0], cabin)
    )


def free_seat(visitor: Any, leg: Any, kind: str) -> str:
    taken = market(visitor).taken(leg, "economy")
    seats = [seat for row in seats_of(leg.flight.aircraft, "economy") for seat in row if seat and not seat.exit_row]
    fit = [one for one in seats if one.kind == kind and one.code not in taken]
    return next(seat.code for seat in fit if not market(visitor).is_ghost(leg, seat.code))


def start(visitor: Any, way: Any, fare: str = "Standard") -> Any:
    visitor.post("/offer", **SEARCH, out=way.key, fare=fare)
    return visitor.post("/book/travellers", **PERSON, **CONTACT)


def test_a_flight_is_booked_with_what_was_chosen_and_nothing_else_changes(me: Any) -> None:
    way = steady(me)
    start(me, way)
    seat = free_seat(me, way.legs[0], "window")
    me.post("/book/seats/0", traveller=1, seat=seat)
    me.post("/book/extras", **{"bags-1": 1, "meal-1": "vegan"})
    page = me.post("/book/payment", **CARD)
    changed = me.changes()
    tables = ("bookings", "booking_flights", "booking_travellers", "booking_seats", "payments")
    assert {table: [*kinds] for table, kinds in changed.items()} == {table: ["added"] for table in tables}
    (booking,), (flight,) = changed["bookings"]["added"], changed["booking_flights"]["added"]
    assert booking["reference"] in page.text
    assert booking["total_cents"] == flight["fare_cents"] + 3500 + 1200
    assert (flight["flight"], flight["date"]) == (way.legs[0].flight.number, TUESDAY.isoformat())
    assert changed["booking_seats"]["added"][0]["seat"] == seat


@pytest.mark.parametrize("path", PATHS)
def test_every_page_answers_with_the_same_bytes_in_the_same_world(visitor: Begin, path: str) -> None:
    pages = [visitor(FLIGHTS, World(seed=5, now=NOW, user="omar")).get(path) for _ in range(2)]
    assert pages[0].status == 200
    assert pages[0].body == pages[1].body


def test_looking_around_changes_nothing_that_is_judged(me: Any) -> None:
    for path in PATHS:
        me.get(path)
    start(me, steady(me))
    assert me.changes() == {}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("from", "Beijng", "Did you mean Beijing?"), ("to", "Atlantis", "We do not fly to or from"),
        ("to", "PEK", "the same city"), ("depart", "2026-03-10", "must be from 2026-03-11"),
        ("depart", "soon", "Enter the departure date"), ("depart", "2027-01-01", "we sell 60 days ahead"),
        ("travellers", "9", "from 1 to 6 travellers"), ("cabin", "first", "Choose a class"),
    ],
)  # fmt: skip
def test_a_search_that_makes_no_sense_says_why(me: Any, field: str, value: str, problem: str) -> None:
    page = me.get("/search", **{**SEARCH, field: value})
    assert page.status == 422
    assert problem in page.text


def test_filters_keep_what_was_asked_for_in_the_order_that_was_asked_for(me: Any) -> None:
    page = me.get("/search", **SEARCH, time=["afternoon"], stops="0", sort="departure")
    times = re.findall(r'<div><span class="clock">(\d\d:\d\d)', page.body)[::2]
    assert len(times) > 2
    assert times == sorted(times)
    assert all("12:00" <= time < "18:00" for time in times)
    assert "1 stop" not in page.text


def test_the_seat_map_names_every_seat_and_sells_no_taken_one(me: Any) -> None:
    way = steady(me)
    page = start(me, way)
    taken = sorted(market(me).taken(way.legs[0], "economy"))[0]
    kinds = re.findall(r'aria-label="Seat (\d+[A-K]), (window|middle|aisle), (available|taken)', page.body)
    assert len(kinds) == sum(
        seat is not None for row in seats_of(way.legs[0].flight.aircraft, "economy") for seat in row
    )
    assert (taken, "taken") in {(code, state) for code, _, state in kinds}
    assert f"Seat {taken} is taken" in me.post("/book/seats/0", traveller=1, seat=taken).text


def test_a_seat_that_somebody_else_takes_first_is_told_and_shown_as_taken(visitor: Begin, me: Any) -> None:
    leg = steady(me).legs[0]
    seat = free_seat(me, leg, "window")
    gone = {"vanishing": [[leg.flight.number, TUESDAY.isoformat(), f"seat/{seat}"]]}
    other = visitor(FLIGHTS, World(seed=3, now=NOW, options=gone))
    assert f'aria-label="Seat {seat}, window, available"' in start(other, steady(me)).body
    page = other.post("/book/seats/0", traveller=1, seat=seat)
    assert f"Seat {seat} has just been taken" in page.text
    assert f'aria-label="Seat {seat}, window, taken"' in page.body


def test_a_flight_that_sells_out_while_one_looks_is_told_and_cannot_be_chosen_again(visitor: Begin, me: Any) -> None:
    way = steady(me)
    gone = {"vanishing": [[way.legs[0].flight.number, TUESDAY.isoformat(), "economy"]]}
    other = visitor(FLIGHTS, World(seed=3, now=NOW, options=gone))
    assert "Choose Basic" in other.get("/offer", **SEARCH, out=way.key).text
    assert "Sold out: the last economy seats" in other.post("/offer", **SEARCH, out=way.key, fare="Basic").text
    assert "cannot be booked any more" in other.post("/offer", **SEARCH, out=way.key, fare="Basic").text
    assert other.changes() == {}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("given_name-1", "", "Enter the given names"), ("family_name-1", "4u", "letters only"),
        ("birth_date-1", "2030-01-01", "in the past"), ("birth_date-1", "2025-06-01", "under 2"),
        ("birth_date-1", "1.5.1990", "year-month-day"), ("passport-1", "12", "from 6 to 9"), ("email", "mei", "e-mail"),
    ],
)  # fmt: skip
def test_a_traveller_with_a_mistake_goes_no_further(me: Any, field: str, value: str, problem: str) -> None:
    start(me, steady(me))
    page = me.post("/book/travellers", **{**PERSON, **CONTACT, field: value})
    assert page.status == 422
    assert problem in page.text


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("card_number", "4242 4242 4242 4241", "not a valid card number"), ("expiry", "02/26", "has expired"),
        ("expiry", "soon", "MM/YY"), ("cvc", "12", "3 or 4 digits"), ("terms", "", "Accept the fare rules"),
        ("card_number", "4000 0000 0000 0002", "declined this card"),
    ],
)  # fmt: skip
def test_a_card_with_a_mistake_buys_nothing(me: Any, field: str, value: str, problem: str) -> None:
    start(me, steady(me))
    page = me.post("/book/payment", **{**CARD, field: value})
    assert page.status == 422
    assert problem in page.text
    assert me.changes() == {}


def test_what_people_write_is_text_and_never_markup(me: Any) -> None:
    evil = "<b>x</b>"
    pages = [me.get("/search", **{**SEARCH, "from": evil}), me.get("/calendar", **{"from": evil, "to": "Rome"})]
    assert all(evil not in page.body and evil in page.text for page in pages)


class Labels(HTMLParser):
    """Which fields a page has, and which of them have a label."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.fields: set[str] = set()
        self.labelled: set[str] = set()
        self.open = False
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "label":
            self.open = True
            self.labelled.add(given.get("for") or "")
        if tag in {"input", "select", "textarea"} and given.get("type") != "hidden":
            name = given.get("id") or f"{given.get('name')}={given.get('value')}"
            self.fields.add(name)
            if self.open:
                self.labelled.add(name)

    def handle_endtag(self, tag: str) -> None:
        if tag == "label":
            self.open = False


def test_every_field_has_a_label(me: Any) -> None:
    pages = [me.get(path) for path in PATHS] + [
        start(me, steady(me)),
        me.get("/book/travellers"),
        me.get("/book/payment"),
    ]
    for page in pages:
        found = Labels(page.body)
        assert found.fields - found.labelled == set(), page.url


def test_somebody_unknown_and_an_unknown_wish_are_refused() -> None:
    with pytest.raises(TaskError, match="nobody called 'bob'"):
        begin(FLIGHTS, World(user="bob"))
    with pytest.raises(TaskError, match="no option 'weather'"):
        begin(FLIGHTS, World(options={"weather": []}))


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000])
def test_no_number_in_an_address_breaks_the_site(me: Any, number: str) -> None:
    for path in (f"/travellers/{number}", f"/book/seats/{number}", f"/trips/ABCDEF/seats/{number}"):
        assert me.get(path).status == 404
    assert me.post(f"/travellers/{number}/remove").status == 404


@pytest.mark.parametrize("number", ["9" * 5000, "²", "٣", "-1", "x"])
def test_no_traveller_that_is_not_there_is_given_a_seat(me: Any, number: str) -> None:
    start(me, steady(me))
    assert "Choose a seat" in me.get("/book/seats/0", traveller=number).text
