"""Trips that are booked: looked at, given other seats, moved to another day, cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, timedelta

from agent_envs.envs.web.sites._kit import Form, Pages, needs_user, redirect, session_of, visit_of
from agent_envs.envs.web.sites._kit import read_form as read_body
from agent_envs.envs.web.sites.flights._ask import market_of, read_day
from agent_envs.envs.web.sites.flights._booking_pages import seat_map, seat_problem
from agent_envs.envs.web.sites.flights._bookings import (
    BookedLeg,
    Booking,
    bookings_of,
    cancel,
    change_cost,
    change_day,
    change_seat,
    find_booking,
    seat_change_cost,
)
from agent_envs.envs.web.sites.flights._departures import DAYS, Market, find_seat
from agent_envs.envs.web.sites.flights._fares import fare_cents, money
from agent_envs.envs.web.sites.flights._places import airports_of
from agent_envs.envs.web.sites.flights._search import Itinerary, itineraries
from agent_envs.envs.web.sites.flights._words import long_day
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_Page = Callable[[Request, Booking], Awaitable[Response]]


class TripPages:
    """The pages on what one has booked."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        seats, change, leave = (
            "/trips/{reference}/seats/{position:row}",
            "/trips/{reference}/change/{direction}",
            "/trips/{reference}/cancel",
        )
        self.routes = [
            Route("/trips", needs_user(self.trips), name="trips"),
            Route("/trips/find", self.find, methods=["GET", "POST"]),
            Route("/trips/{reference}", _with_booking(self.trip)),
            Route(seats, _with_booking(self.seats, changes=True), methods=["GET"]),
            Route(seats, _with_booking(self.put_seat, changes=True), methods=["POST"]),
            Route(change, _with_booking(self.change, changes=True), methods=["GET"]),
            Route(change, _with_booking(self.put_change, changes=True), methods=["POST"]),
            Route(leave, _with_booking(self.cancel, changes=True), methods=["GET"]),
            Route(leave, _with_booking(self.put_cancel, changes=True), methods=["POST"]),
        ]

    async def trips(self, request: Request) -> Response:
        """All trips of whoever is signed in."""
        visit = visit_of(request)
        found = bookings_of(visit.database, session_of(request).user)
        live = [one for one in found if one.status == "confirmed"]
        groups = {
            "Upcoming trips": [one for one in live if not one.is_over(visit.now)],
            "Past trips": [one for one in reversed(live) if one.is_over(visit.now)],
            "Cancelled trips": [one for one in found if one.status != "confirmed"],
        }
        return self._pages.answer(request, "trips.html", groups=groups)

    async def find(self, request: Request) -> Response:
        """A trip by its reference and a family name, for whoever is not signed in."""
        if request.method == "GET":
            return self._pages.answer(request, "find_trip.html", form=Form())
        form = await read_body(request)
        reference, name = (
            form.need("reference", "the booking reference").upper(),
            form.need("family_name", "the family name"),
        )
        booking = find_booking(visit_of(request).database, reference)
        if not form.errors and (
            booking is None or name.casefold() not in {one.family_name.casefold() for one in booking.travellers}
        ):
            form.errors["reference"] = "We have no booking with this reference and this family name."
        if form.errors:
            return self._pages.answer(request, "find_trip.html", status=422, form=form)
        known = session_of(request).data.setdefault("known", [])
        known += [] if reference in known else [reference]
        return redirect(request, f"/trips/{reference}")

    async def trip(self, request: Request, booking: Booking) -> Response:
        """One trip and what can be done with it."""
        return self._pages.answer(request, "trip.html", booking=booking, over=booking.is_over(visit_of(request).now))

    async def seats(self, request: Request, booking: Booking) -> Response:
        """The seat map of one flight, and what is chosen on it."""
        found = _leg(request, booking)
        if found is None:
            return redirect(request, f"/trips/{booking.reference}")
        count, form = len(booking.travellers), Form({name: [text] for name, text in request.query_params.items()})
        current = form.number("traveller", 1) if 1 <= form.number("traveller", 1) <= count else 1
        picked = find_seat(found.leg.flight.aircraft, booking.cabin, form.text("seat"))
        if picked and (problem := seat_problem(request, found.leg, booking.cabin, picked.code)):
            session_of(request).say(problem, "error")
            return redirect(request, f"/trips/{booking.reference}/seats/{found.position}?traveller={current}")
        names = {code: booking.travellers[number - 1].name for number, code in found.seats.items()}
        rows = seat_map(market_of(request), found.leg, booking.cabin, booking.fare, names)
        cost = seat_change_cost(booking, picked) if picked else 0
        return self._pages.answer(
            request,
            "change_seat.html",
            booking=booking,
            booked=found,
            rows=rows,
            current=current,
            picked=picked,
            cost=cost,
        )

    async def put_seat(self, request: Request, booking: Booking) -> Response:
        """Change a seat."""
        found, form = _leg(request, booking), await read_body(request)
        page = f"/trips/{booking.reference}"
        if found is None or not 1 <= form.number("traveller") <= len(booking.travellers):
            return redirect(request, page)
        seat = find_seat(found.leg.flight.aircraft, booking.cabin, form.text("seat"))
        problem = seat_problem(request, found.leg, booking.cabin, form.text("seat"))
        if problem or seat is None:
            session_of(request).say(problem, "error")
            return redirect(request, f"{page}/seats/{found.position}?traveller={form.number('traveller')}")
        traveller = form.number("traveller")
        cost = change_seat(visit_of(request).database, booking, found.position, traveller, seat)
        paid = f" {money(cost)} was charged to the card ending in {booking.card}." if cost else ""
        session_of(request).say(
            f"{booking.travellers[traveller - 1].name} now has seat {seat.code} on {found.leg.flight.name}.{paid}"
        )
        return redirect(request, page)

    async def change(self, request: Request, booking: Booking) -> Response:
        """Other flights for one journey: a day is asked for, then a flight, then a yes."""
        direction, market = request.path_params["direction"], market_of(request)
        if direction not in booking.directions or booking.fare.change_cents < 0:
            session_of(request).say("This journey cannot be changed.", "error")
            return redirect(request, f"/trips/{booking.reference}")
        form = Form({name: [text] for name, text in request.query_params.items()})
        day = _new_day(form, booking, direction, market) if "date" in form.fields else None
        ways = alternatives(market, booking, direction, day) if day else []
        offers = [(way, _new_fares(market, booking, way)) for way in ways]
        chosen = next((offer for offer in offers if offer[0].key == form.text("flight")), None)
        costs = {way.key: change_cost(booking, direction, fares) for way, fares in offers}
        last = market.now.date() + timedelta(days=DAYS)
        limits = {"min": market.now.date().isoformat(), "max": last.isoformat()}
        return self._pages.answer(
            request, "change_day.html", booking=booking, direction=direction, form=form, day=day, offers=offers,
            costs=costs, chosen=chosen, limits=limits, old=booking.way(direction),
        )  # fmt: skip

    async def put_change(self, request: Request, booking: Booking) -> Response:
        """Move a journey to another day."""
        direction, market, form = request.path_params["direction"], market_of(request), await read_body(request)
        page = f"/trips/{booking.reference}"
        day = _new_day(form, booking, direction, market) if direction in booking.directions else None
        ways = alternatives(market, booking, direction, day) if day and booking.fare.change_cents >= 0 else []
        way = next((way for way in ways if way.key == form.text("flight")), None)
        if way is None:
            session_of(request).say("This flight cannot be booked any more. Please choose another one.", "error")
            return redirect(request, f"{page}/change/{direction}" if direction in booking.directions else page)
        cost = change_day(market, booking, direction, way.legs, _new_fares(market, booking, way))
        paid = f"{money(cost)} was charged to the card ending in {booking.card}" if cost else "There was nothing to pay"
        text = f"Your {direction} journey is now on {long_day(way.legs[0].day)}. {paid}."
        text += " The seats were given up: choose new ones below."
        session_of(request).say(text)
        return redirect(request, page)

    async def cancel(self, request: Request, booking: Booking) -> Response:
        """What comes back, before one decides."""
        return self._pages.answer(request, "cancel.html", booking=booking, back=booking.refund(visit_of(request).now))

    async def put_cancel(self, request: Request, booking: Booking) -> Response:
        """Cancel."""
        back = cancel(visit_of(request).database, booking, visit_of(request).now)
        text = f"Booking {booking.reference} is cancelled."
        text += f" {money(back)} goes back to the card ending in {booking.card}." if back else " Nothing is refunded."
        session_of(request).say(text)
        return redirect(request, f"/trips/{booking.reference}")


def _with_booking(page: _Page, *, changes: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """A page for the owner of a booking and for whoever has found it; `changes`: only while it can be changed."""

    async def guarded(request: Request) -> Response:
        reference, session = request.path_params["reference"], session_of(request)
        booking = find_booking(visit_of(request).database, reference)
        mine = booking is not None and session.user and booking.user == session.user
        if booking is None or not (mine or reference in session.data.get("known", ())):
            session.say("There is no such booking in your account.", "error")
            return redirect(request, "/trips" if session.user else "/trips/find")
        if changes and (booking.status != "confirmed" or booking.is_over(visit_of(request).now)):
            session.say("This booking cannot be changed any more.", "error")
            return redirect(request, f"/trips/{reference}")
        return await page(request, booking)

    return guarded


def _leg(request: Request, booking: Booking) -> BookedLeg | None:
    position = request.path_params["position"]
    return next((one for one in booking.legs if one.position == position), None)


def _new_day(form: Form, booking: Booking, direction: str, market: Market) -> date | None:
    day = read_day(form, "date", "new date", market.now)
    other = booking.way("return" if direction == "outbound" else "outbound")
    if day and other and (day > other[0].leg.day if direction == "outbound" else day < other[-1].leg.arrives.date()):
        form.errors["date"] = "The way back cannot be before the way out."
        return None
    return day


def alternatives(market: Market, booking: Booking, direction: str, day: date) -> list[Itinerary]:
    """Flights between the same cities, with as many stops as before, that have seats for everybody."""
    old = booking.way(direction)
    places = airports_of(old[0].leg.from_city), airports_of(old[-1].leg.to_city)
    ways = itineraries(market, *places, day, cabin=booking.cabin, travellers=len(booking.travellers))
    same = "-".join(one.leg.flight.number for one in old) if day == old[0].leg.day else ""
    return [way for way in ways if way.price and len(way.legs) == len(old) and way.key != same]


def _new_fares(market: Market, booking: Booking, way: Itinerary) -> list[int]:
    return [fare_cents(market.price(leg, booking.cabin), booking.fare) for leg in way.legs]
