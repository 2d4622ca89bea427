"""One booking as a plan: the calls that carry it out, and the rows that it leaves in the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from agent_envs.envs.web.sites.flights._market import (
    CABINS,
    FARES,
    MEALS,
    PAGE,
    Fare,
    Itinerary,
    Purchase,
    Traveller,
    fare_of,
    find_seat,
    money,
    seat_cents,
    seat_name,
)
from agent_envs.envs.web.tasks._template import dialled
from agent_envs.envs.web.tasks.flights._scene import Card, Person, Scene

from agent_envs.tools import ToolCall

Seats = tuple[tuple[str, ...], ...]
"""By leg, then by traveller; an empty text: no choice."""


@dataclass(frozen=True)
class Plan:
    """What is booked, and how one goes about it."""

    pair: tuple[str, str]
    out: Itinerary
    people: tuple[Person, ...]
    card: Card
    email: str
    phone: str
    back: Itinerary | None = None
    cabin: str = "economy"
    fare: str = "Basic"
    seats: Seats = ()
    bags: tuple[int, ...] = ()
    meals: tuple[str, ...] = ()
    detour: tuple[ToolCall, ...] = ()
    """What comes between the search and the choice of the flight."""
    lost: tuple[ToolCall, ...] = ()
    """Seats of the first flight that one asks for and does not get."""
    saved: bool = False
    """Whether the travellers are taken from the account."""

    @property
    def ways(self) -> list[tuple[str, Itinerary]]:
        """The journeys by direction."""
        return [("outbound", self.out), *([("return", self.back)] if self.back else [])]

    @property
    def rule(self) -> Fare:
        """The fare."""
        found = fare_of(self.cabin, self.fare)
        assert found is not None  # plans name fares that exist
        return found

    def seat(self, leg: int, traveller: int) -> str:
        """The seat of a traveller on a leg; empty: none."""
        return self.seats[leg][traveller] if leg < len(self.seats) else ""

    def total(self, scene: Scene) -> int:
        """What it costs."""
        legs = [(leg, direction) for direction, way in self.ways for leg in way.legs]
        party = [
            Traveller(one.given, one.family, one.born, one.passport, self.bag(n), self.meal(n))
            for n, one in enumerate(self.people)
        ]
        seats = tuple(
            tuple(find_seat(leg.flight.aircraft, self.cabin, self.seat(n, k)) for k in range(len(party)))
            for n, (leg, _) in enumerate(legs)
        )
        bought = Purchase("", self.cabin, self.rule, tuple(legs), tuple(party), seats, "", "", "")
        return sum(cents for _, cents in bought.lines(scene.market))

    def bag(self, traveller: int) -> int:
        """The extra bags of a traveller."""
        return self.bags[traveller] if self.bags else 0

    def meal(self, traveller: int) -> str:
        """The meal of a traveller."""
        return self.meals[traveller] if self.meals else "none"


def click(role: str, name: str) -> ToolCall:
    """Click an element by role and name."""
    return ToolCall("click", {"element_id": f'{role} "{name}"'})


def fill(role: str, name: str, text: str) -> ToolCall:
    """Type into a field."""
    return ToolCall("type", {"element_id": f'{role} "{name}"', "text": text})


def choose(name: str, option: str) -> ToolCall:
    """Choose in a list box."""
    return ToolCall("select_option", {"element_id": f'combobox "{name}"', "options": [option]})


def submit(answer: str = "") -> ToolCall:
    """Say that the task is done."""
    return ToolCall("submit", {"answer": answer} if answer else {})


def search(
    pair: tuple[str, str], day: date, back: date | None = None, count: int = 1, cabin: str = "economy"
) -> list[ToolCall]:
    """Fill in the search form and send it."""
    calls = [click("radio", "Return" if back else "One way")]
    calls += [fill("combobox", "From", pair[0]), fill("combobox", "To", pair[1])]
    calls += [fill("date", "Departure date", day.isoformat())]
    calls += [fill("date", "Return date", back.isoformat())] if back else []
    calls += [choose("Travellers", str(count))] if count > 1 else []
    calls += [choose("Class", CABINS[cabin])] if cabin != "economy" else []
    return [*calls, click("button", "Search flights")]


def select(
    scene: Scene,
    way: Itinerary,
    pair: tuple[str, str],
    cabin: str = "economy",
    count: int = 1,
    after: Itinerary | None = None,
) -> list[ToolCall]:
    """Find a journey among the results and choose it."""
    ways = (
        scene.direct(pair, way.legs[0].day, cabin, count)
        if not way.stops
        else scene.ways(pair, way.legs[0].day, cabin, count)
    )
    if after:
        ways = [one for one in ways if (one.legs[0].departs - after.legs[-1].arrives).total_seconds() >= 3600]
    page = [one.key for one in ways].index(way.key) // PAGE
    narrow = [ToolCall("check", {"element_id": 'radio "Non-stop only"'}), click("button", "Apply filters")]
    calls = [*(narrow if not way.stops else []), *[click("link", "Next page")] * page]
    return [*calls, click("link", f"Select {named(way)}")]


def named(way: Itinerary) -> str:
    """`JW 104`, or `JW 104 and ST 210`."""
    return " and ".join(leg.flight.name for leg in way.legs)


def book(scene: Scene, plan: Plan) -> list[ToolCall]:
    """All calls from the search form to the confirmation."""
    count, back = len(plan.people), plan.back
    calls = [ToolCall("navigate", {"url": "http://flights.test/"})]
    calls += search(plan.pair, plan.out.legs[0].day, back.legs[0].day if back else None, count, plan.cabin)
    calls += [*plan.detour, *select(scene, plan.out, plan.pair, plan.cabin, count)]
    if back:
        calls += select(scene, back, (plan.pair[1], plan.pair[0]), plan.cabin, count, after=plan.out)
    calls += [click("button", f"Choose {plan.fare}"), *_travellers(scene, plan), *_seats(plan), *_extras(plan)]
    return [*calls, *_payment(scene, plan)]


def _travellers(scene: Scene, plan: Plan) -> Iterator[ToolCall]:
    for number, one in enumerate(plan.people, 1):
        whose = f" of traveller {number}" if len(plan.people) > 1 else ""
        if plan.saved:
            yield choose(f"Fill in a saved traveller{whose}", one.name)
            continue
        yield fill("textbox", f"Given names{whose}", one.given)
        yield fill("textbox", f"Family name{whose}", one.family)
        yield fill("date", f"Date of birth{whose}", one.born)
        yield fill("textbox", f"Passport number{whose}", one.passport)
    if not scene.user:
        yield fill("textbox", "E-mail address", plan.email)
        yield fill("textbox", "Phone number", plan.phone)
    yield click("button", "Continue to seats")


def _seats(plan: Plan) -> Iterator[ToolCall]:
    legs = [leg for _, way in plan.ways for leg in way.legs]
    yield from plan.lost
    for position, leg in enumerate(legs):
        for traveller in range(len(plan.people)):
            if code := plan.seat(position, traveller):
                yield click("button", free_seat(plan.rule, plan.cabin, leg.flight.aircraft, code))
        last = position + 1 == len(legs)
        yield click("link", "Continue to extras" if last else f"Continue to flight {position + 2}")


def free_seat(fare: Fare, cabin: str, aircraft: str, code: str) -> str:
    """What a free seat is called on the map."""
    seat = find_seat(aircraft, cabin, code)
    assert seat is not None  # plans name seats that exist
    return seat_name(seat, "available", seat_cents(fare, exit_row=seat.exit_row, cabin=cabin))


def _extras(plan: Plan) -> Iterator[ToolCall]:
    for number, one in enumerate(plan.people):
        if plan.bag(number):
            yield choose(f"Extra checked bags for {one.name}", str(plan.bag(number)))
        if plan.meal(number) != "none":
            price = "included" if plan.rule.meal else "$12"
            yield choose(f"Meal for {one.name}", f"{MEALS[plan.meal(number)]} ({price})")
    yield click("button", "Continue to payment")


def _payment(scene: Scene, plan: Plan) -> Iterator[ToolCall]:
    yield fill("textbox", "Name on card", plan.card.name)
    yield fill("textbox", "Card number", plan.card.number)
    yield fill("textbox", "Expiry date", plan.card.expiry)
    yield fill("textbox", "Security code", plan.card.code)
    yield ToolCall("check", {"element_id": 'checkbox "I accept the fare rules"'})
    yield click("button", f"Pay {money(plan.total(scene))}")


def booked(scene: Scene, plan: Plan, **loose: Any) -> dict[str, Any]:
    """The check that exactly this was booked. `loose` puts matchers in place of exact values:

    `flight` (a dict for every leg), `seat` (a dict for every seat), `fare`, and `total_cents`.
    """
    count = len(plan.people)
    fare = loose.get("fare", plan.fare)
    total = loose.get("total_cents", plan.total(scene))
    booking = {"status": "confirmed", "cabin": plan.cabin, "fare": fare, "travellers": count, "total_cents": total}
    booking |= {
        "user_id": scene.user or None,
        "email": plan.email,
        "phone": dialled(plan.phone),
        "card": plan.card.number[-4:],
        "card_token": plan.card.token,
    }
    wanted = [_added("bookings", booking), _added("payments", {"kind": "purchase", "card": plan.card.number[-4:]})]
    legs = [(direction, leg) for direction, way in plan.ways for leg in way.legs]
    for position, (direction, leg) in enumerate(legs):
        exact = {"flight": leg.flight.number}
        row = {"position": position, "direction": direction, "date": leg.day.isoformat()}
        row |= {"from_city": leg.from_city, "to_city": leg.to_city, **loose.get("flight", exact)}
        wanted.append(_added("booking_flights", row))
        for number in range(count):
            if code := plan.seat(position, number):
                seat = {"position": position, "traveller": number + 1, **loose.get("seat", {"seat": code})}
                wanted.append(_added("booking_seats", seat))
    for number, one in enumerate(plan.people):
        row = {"given_name": one.given, "family_name": one.family, "birth_date": one.born, "passport": one.passport}
        extras = {"bags": plan.bag(number), "meal": plan.meal(number)}
        wanted.append(_added("booking_travellers", {"number": number + 1, **row, **extras}))
    return {"check": "rows", "host": "flights.test", "wanted": wanted}


def untouched_rows() -> dict[str, Any]:
    """The check that nothing was changed."""
    return {"check": "rows", "host": "flights.test", "wanted": []}


def answered(kind: str, expected: Any, **options: Any) -> dict[str, Any]:
    """The check that this was answered."""
    currency = {"currency": "USD"} if kind == "money" else {}
    return {"check": "answer", "type": kind, "expected": expected, **currency, **options}


def _added(table: str, where: dict[str, Any]) -> dict[str, Any]:
    return {"table": table, "kind": "added", "where": where}


@dataclass
class Outcome:
    """What a template makes of a scene."""

    prompt: str
    checks: list[dict[str, Any]]
    solution: list[ToolCall]
    wrong: list[list[ToolCall]] = field(default_factory=list)


ALL_FARES = {cabin: [fare.name for fare in fares] for cabin, fares in FARES.items()}
