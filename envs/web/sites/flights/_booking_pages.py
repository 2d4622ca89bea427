"""Booking, step by step: travellers, seats, extras, payment, confirmation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from agent_envs.envs.web.sites._kit import Form, Pages, redirect, session_of, visit_of
from agent_envs.envs.web.sites._kit import read_form as read_body
from agent_envs.envs.web.sites.flights._ask import market_of, tell_gone, user_row
from agent_envs.envs.web.sites.flights._bookings import find_booking, write
from agent_envs.envs.web.sites.flights._departures import Leg, Market, Seat, find_seat, seats_of
from agent_envs.envs.web.sites.flights._drafts import (
    MOST_BAGS,
    Draft,
    find_draft,
    read_card,
    read_contact,
    read_extras,
    read_people,
)
from agent_envs.envs.web.sites.flights._fares import BAG_CENTS, MEAL_CENTS, Fare, money, seat_cents
from agent_envs.envs.web.sites.flights._words import seat_name
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_STEPS = ("travellers", "seats", "extras", "payment")
_Step = Callable[[Request, Draft], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Place:
    """A seat on the map."""

    seat: Seat
    state: str
    """free, taken, mine"""
    name: str
    """What it is called for whoever does not see the map."""


class BookingPages:
    """The pages between choosing a fare and flying."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.routes = [
            Route("/book/travellers", _with_draft(self.travellers), methods=["GET"]),
            Route("/book/travellers", _with_draft(self.put_travellers), methods=["POST"]),
            Route("/book/seats/{position:row}", _with_draft(self.seats), methods=["GET"]),
            Route("/book/seats/{position:row}", _with_draft(self.put_seat), methods=["POST"]),
            Route("/book/extras", _with_draft(self.extras), methods=["GET"]),
            Route("/book/extras", _with_draft(self.put_extras), methods=["POST"]),
            Route("/book/payment", _with_draft(self.payment), methods=["GET"]),
            Route("/book/payment", _with_draft(self.pay), methods=["POST"]),
            Route("/booked/{reference}", self.booked, name="booked"),
        ]

    async def travellers(self, request: Request, draft: Draft) -> Response:
        """Who travels."""
        fields = {
            f"{name}-{n}": [str(text)] for n, one in enumerate(draft.people, 1) for name, text in asdict(one).items()
        }
        if (user := user_row(request)) is not None:
            fields |= {"email": [user["email"]], "phone": [user["phone"]]}
        if draft.kept["email"]:
            fields |= {"email": [draft.kept["email"]], "phone": [draft.kept["phone"]]}
        return self._travellers(request, draft, Form(fields))

    async def put_travellers(self, request: Request, draft: Draft) -> Response:
        """Take them down, if there is nothing wrong with them."""
        form, now = await read_body(request), visit_of(request).now
        people = read_people(form, draft.count, now, draft.legs[-1][0].day)
        email, phone = read_contact(form)
        if form.errors:
            return self._travellers(request, draft, form, status=422)
        had = draft.kept["people"] or [{}] * draft.count
        extras = [{"bags": old.get("bags", 0), "meal": old.get("meal", "none")} for old in had]
        draft.kept["people"] = [{**one, **extra} for one, extra in zip(people, extras, strict=True)]
        draft.kept |= {"email": email, "phone": phone}
        return redirect(request, "/book/seats/0")

    async def seats(self, request: Request, draft: Draft) -> Response:
        """The seat map of one flight."""
        position = request.path_params["position"]
        if not draft.people:
            return redirect(request, "/book/travellers")
        if position >= len(draft.legs):
            return redirect(request, "/book/extras")
        leg, codes = draft.legs[position][0], draft.kept["seats"][position]
        current = _current(Form({name: [text] for name, text in request.query_params.items()}), codes)
        names = {code: one.name for code, one in zip(codes, draft.people, strict=True) if code}
        rows = seat_map(market_of(request), leg, draft.cabin, draft.fare, names)
        return self._show(
            request, draft, "seats.html", "seats", leg=leg, position=position, codes=codes, current=current,
            rows=rows, people=draft.people,
        )  # fmt: skip

    async def put_seat(self, request: Request, draft: Draft) -> Response:
        """Give one traveller a seat, unless somebody else is faster."""
        position, form = request.path_params["position"], await read_body(request)
        if position >= len(draft.legs) or not draft.people:
            return redirect(request, "/book/travellers")
        leg, codes = draft.legs[position][0], draft.kept["seats"][position]
        traveller, code = form.number("traveller", 1), form.text("seat")
        page = f"/book/seats/{position}"
        if not 1 <= traveller <= draft.count:
            return redirect(request, page)
        if code in codes:
            codes[codes.index(code)] = None
            return redirect(request, f"{page}?traveller={traveller}")
        problem = seat_problem(request, leg, draft.cabin, code)
        if problem:
            session_of(request).say(problem, "error")
            return redirect(request, f"{page}?traveller={traveller}")
        codes[traveller - 1] = code
        session_of(request).say(f"Seat {code} is chosen for {draft.people[traveller - 1].name}.")
        return redirect(request, page)

    async def extras(self, request: Request, draft: Draft) -> Response:
        """Bags and meals."""
        if not draft.people:
            return redirect(request, "/book/travellers")
        prices = {"bag": money(BAG_CENTS), "meal": "" if draft.fare.meal else money(MEAL_CENTS)}
        return self._show(
            request, draft, "extras.html", "extras", people=draft.people, most_bags=MOST_BAGS, prices=prices
        )

    async def put_extras(self, request: Request, draft: Draft) -> Response:
        """Take them down."""
        read_extras(await read_body(request), draft.kept["people"])
        return redirect(request, "/book/payment")

    async def payment(self, request: Request, draft: Draft) -> Response:
        """What it all costs, and a card."""
        if not draft.people:
            return redirect(request, "/book/travellers")
        return self._payment(request, draft, Form())

    async def pay(self, request: Request, draft: Draft) -> Response:
        """Charge the card and write the booking down."""
        if not draft.people:
            return redirect(request, "/book/travellers")
        form, visit, session = await read_body(request), visit_of(request), session_of(request)
        if not form.text("terms"):
            form.errors["terms"] = "Accept the fare rules to go on."
        card = read_card(form, visit.now)
        if form.errors:
            return self._payment(request, draft, form, status=422)
        reference = write(market_of(request), visit.random, draft.purchase(session.user, card), visit.now)
        session.data.pop("draft")
        session.data.setdefault("known", []).append(reference)
        return redirect(request, f"/booked/{reference}")

    async def booked(self, request: Request) -> Response:
        """The confirmation."""
        reference = request.path_params["reference"]
        booking = find_booking(visit_of(request).database, reference)
        if booking is None or reference not in session_of(request).data.get("known", ()):
            return redirect(request, "/trips")
        return self._pages.answer(request, "booked.html", booking=booking)

    def _travellers(self, request: Request, draft: Draft, form: Form, *, status: int = 200) -> Response:
        user, database = session_of(request).user, visit_of(request).database
        saved = database.execute("SELECT * FROM travellers WHERE user_id = ? ORDER BY id", [user]).fetchall()
        return self._show(request, draft, "travellers.html", "travellers", status=status, form=form, saved=saved)

    def _payment(self, request: Request, draft: Draft, form: Form, *, status: int = 200) -> Response:
        form.fields.pop("cvc", None)
        return self._show(request, draft, "payment.html", "payment", status=status, form=form, people=draft.people)

    def _show(
        self, request: Request, draft: Draft, template: str, step: str, *, status: int = 200, **values: object
    ) -> Response:
        lines = draft.purchase(session_of(request).user).lines(market_of(request))
        total = sum(cents for _, cents in lines)
        steps = [(name, name == step, _STEPS.index(name) < _STEPS.index(step)) for name in _STEPS]
        return self._pages.answer(
            request, template, status=status, draft=draft, lines=lines, total=total, steps=steps, **values
        )


def seat_map(market: Market, leg: Leg, cabin: str, fare: Fare, names: dict[str, str]) -> list[list[Place | None]]:
    """The cabin as a visitor sees it; `names` says who has which seat already."""
    taken = market.taken(leg, cabin)

    def place(seat: Seat) -> Place:
        if seat.code in names:
            return Place(seat, "mine", seat_name(seat, f"chosen for {names[seat.code]}"))
        if seat.code in taken:
            return Place(seat, "taken", seat_name(seat, "taken"))
        cents = seat_cents(fare, exit_row=seat.exit_row, cabin=cabin)
        return Place(seat, "free", seat_name(seat, "available", cents))

    return [[place(seat) if seat else None for seat in row] for row in seats_of(leg.flight.aircraft, cabin)]


def seat_problem(request: Request, leg: Leg, cabin: str, code: str) -> str:
    """Why one cannot have a seat; empty where one can."""
    market, seat = market_of(request), find_seat(leg.flight.aircraft, cabin, code)
    if seat is None:
        return "Choose a seat on the map."
    if code in market.taken(leg, cabin):
        return f"Seat {code} is taken. Please choose another seat."
    if market.is_ghost(leg, code):
        tell_gone(request, f"{leg.flight.number}/{leg.day.isoformat()}/seat/{code}")
        return f"Seat {code} has just been taken by somebody else. Please choose another seat."
    return ""


def _current(form: Form, codes: list[str | None]) -> int:
    """Whose seat is chosen next: who was asked for, else the first without one."""
    if 1 <= form.number("traveller") <= len(codes):
        return form.number("traveller")
    return codes.index(None) + 1 if None in codes else 1


def _with_draft(step: _Step) -> Callable[[Request], Awaitable[Response]]:
    """A step of booking; without a draft one is sent to the start."""

    async def guarded(request: Request) -> Response:
        draft = find_draft(request)
        if draft is None:
            session_of(request).say("There is no booking in progress. Search for flights first.", "error")
            return redirect(request, "/")
        return await step(request, draft)

    return guarded
