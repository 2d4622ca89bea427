"""Looking for flights: the search form, its results, the fares of a choice, prices by day, the rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import urlencode

from agent_envs.envs.web.sites._kit import Form, Pages, redirect, session_of, visit_of
from agent_envs.envs.web.sites._kit import read_form as read_body
from agent_envs.envs.web.sites._kit._forms import form_of
from agent_envs.envs.web.sites.flights._ask import (
    SORTS,
    Query,
    Wishes,
    market_of,
    read_query,
    read_wishes,
    tell_gone,
)
from agent_envs.envs.web.sites.flights._departures import DAYS, Leg, Market
from agent_envs.envs.web.sites.flights._fares import (
    BAG_CENTS,
    CABINS,
    EXIT_CENTS,
    FARES,
    MEAL_CENTS,
    SEAT_CENTS,
    fare_of,
    money,
)
from agent_envs.envs.web.sites.flights._places import AIRCRAFT, AIRLINES, CITIES, SUGGESTIONS, airports_of
from agent_envs.envs.web.sites.flights._search import Itinerary, find_itinerary, flights, itineraries
from agent_envs.envs.web.sites.flights._words import long_day
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE = 12
"""Journeys on one page of results."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The journeys that one has picked, and the search that led to them."""

    query: Query
    ways: tuple[tuple[Itinerary, str], ...]
    """With the direction of each."""

    def cents(self, fare: str, market: Market) -> int:
        """What all of it costs per traveller."""
        return sum(market.fares(leg, self.query.cabin)[fare] for way, _ in self.ways for leg in way.legs)


class SearchPages:
    """The pages on which one looks for flights."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.routes = [
            Route("/", self.home, name="home"),
            Route("/search", self.search, name="search"),
            Route("/offer", self.offer, name="offer"),
            Route("/offer", self.choose, methods=["POST"]),
            Route("/calendar", self.calendar, name="calendar"),
            Route("/help", self.help, name="help"),
        ]

    async def home(self, request: Request) -> Response:
        """The search form, alone."""
        return self._ask_again(request, _form(request), status=200)

    async def search(self, request: Request) -> Response:
        """The ways out, or, where the way out is chosen, the ways back."""
        form, market = _form(request), market_of(request)
        query = read_query(form, market.now)
        if query is None:
            return self._ask_again(request, form, status=422)
        out = find_itinerary(market, form.text("out"), query.depart, query.cabin, query.travellers)
        leading = query.reversed() if out and query.back else query
        places = (leading.origins, leading.destinations, leading.depart)
        ways = itineraries(market, *places, cabin=query.cabin, travellers=query.travellers)
        if out and query.back:
            landed = out.legs[-1].arrives + timedelta(hours=1)
            ways = [way for way in ways if way.legs[0].departs >= landed]
        wishes = read_wishes(form)
        shown = wishes.pick(ways)
        first = max(0, form.number("page", 1) - 1) * PAGE
        return self._pages.answer(
            request, "results.html", form=form, query=query, leading=leading, out=out, wishes=wishes, sorts=SORTS,
            ways=shown[first : first + PAGE], count=len(shown), all_count=len(ways), page=first // PAGE + 1,
            last_page=max(1, -(-len(shown) // PAGE)), airlines=_airlines(ways), link=_Links(query, wishes, out),
            suggestions=SUGGESTIONS,
        )  # fmt: skip

    async def offer(self, request: Request) -> Response:
        """The chosen journeys in full, and their fares."""
        form, market = _form(request), market_of(request)
        choice = _choice(form, market)
        if choice is None:
            return self._gone(request, form)
        fares = [(fare, choice.cents(fare.name, market)) for fare in FARES[choice.query.cabin]]
        return self._pages.answer(request, "offer.html", form=form, choice=choice, query=choice.query, fares=fares)

    async def choose(self, request: Request) -> Response:
        """Start a booking with these journeys and this fare, if the seats are still there."""
        form, market = await read_body(request), market_of(request)
        choice = _choice(form, market)
        if choice is None:
            return self._gone(request, form)
        query = choice.query
        lost = [leg for way, _ in choice.ways for leg in way.legs if market.vanishes(leg, query.cabin)]
        if lost:
            for leg in lost:
                tell_gone(request, f"{leg.flight.number}/{leg.day.isoformat()}/{query.cabin}")
            text = f"Sold out: the last {CABINS[query.cabin].lower()} seats on {lost[0].flight.name} on"
            text += f" {long_day(lost[0].day)} have just been bought by somebody else. Please choose another flight."
            session_of(request).say(text, "error")
            return redirect(request, query.url())
        fare = fare_of(query.cabin, form.text("fare"))
        if fare is None:
            session_of(request).say("Choose a fare.", "error")
            return redirect(request, _offer_url(choice))
        legs = [(leg, direction) for way, direction in choice.ways for leg in way.legs]
        session_of(request).data["draft"] = {
            "cabin": query.cabin, "fare": fare.name, "count": query.travellers, "back": _offer_url(choice),
            "legs": [[leg.flight.number, leg.day.isoformat(), direction] for leg, direction in legs],
            "people": [], "seats": [[None] * query.travellers for _ in legs], "email": "", "phone": "",
        }  # fmt: skip
        return redirect(request, "/book/travellers")

    async def calendar(self, request: Request) -> Response:
        """The lowest price of each day on sale."""
        form, market = _form(request), market_of(request)
        start, end = airports_of(form.text("from")), airports_of(form.text("to"))
        cabin = form.text("cabin") if form.text("cabin") in CABINS else "economy"
        for name, found in (("from", start), ("to", end)):
            if "from" in form.fields and not found:
                form.errors[name] = f"We do not know “{form.text(name)}”; enter a city or an airport."
        months = _months(market.now.date())
        month = next((one for one in months if f"{one:%Y-%m}" == form.text("month")), months[0])
        days = lowest_prices(market, start, end, cabin, month) if start and end else {}
        cells = [None] * month.weekday() + list(days) if days else []
        return self._pages.answer(
            request, "calendar.html", form=form, cabin=cabin, days=days, months=months, month=month,
            weeks=[cells[index : index + 7] for index in range(0, len(cells), 7)],
            cheapest=min((cents for cents in days.values() if cents), default=0), suggestions=SUGGESTIONS,
        )  # fmt: skip

    async def help(self, request: Request) -> Response:
        """Fare rules, fees, cities."""
        fees = {
            "bag": money(BAG_CENTS),
            "meal": money(MEAL_CENTS),
            "seat": money(SEAT_CENTS),
            "exit": money(EXIT_CENTS),
        }
        return self._pages.answer(request, "help.html", fares=FARES, fees=fees, cities=CITIES, days=DAYS)

    def _ask_again(self, request: Request, form: Form, *, status: int) -> Response:
        today = visit_of(request).now.date()
        limits = {"min": today.isoformat(), "max": (today + timedelta(days=DAYS)).isoformat()}
        return self._pages.answer(
            request, "home.html", status=status, form=form, limits=limits, suggestions=SUGGESTIONS
        )

    def _gone(self, request: Request, form: Form) -> Response:
        session_of(request).say("These flights cannot be booked any more. Please search again.", "error")
        query = read_query(form, visit_of(request).now)
        return redirect(request, query.url() if query else "/")


class _Links:
    """The addresses that the results lead to."""

    def __init__(self, query: Query, wishes: Wishes, out: Itinerary | None) -> None:
        self._query, self._wishes, self._out = query, wishes, out

    def choose(self, way: Itinerary) -> str:
        """Where choosing this way leads: to the ways back, or to the fares."""
        if self._query.back and not self._out:
            return self._query.url(out=way.key)
        if self._out and self._query.back:
            return self._query.url("/offer", out=self._out.key, back=way.key)
        return self._query.url("/offer", out=way.key)

    def page(self, number: int) -> str:
        """Another page of the same results."""
        return f"{self._query.url(**self._chosen())}&{urlencode([*self._wishes.fields(), ('page', str(number))])}"

    def day(self, days: int) -> str:
        """The same search some days later."""
        step = timedelta(days=days)
        if self._chosen() and self._query.back:
            return replace(self._query, back=self._query.back + step).url(**self._chosen())
        return replace(self._query, depart=self._query.depart + step).url()

    def again(self) -> str:
        """The search form, filled in."""
        return f"/?{urlencode(self._query.fields())}"

    def _chosen(self) -> dict[str, str]:
        return {"out": self._out.key} if self._out and self._query.back else {}


def _form(request: Request) -> Form:
    return form_of(request.url.query)


def _choice(form: Form, market: Market) -> Choice | None:
    query = read_query(form, market.now)
    if query is None:
        return None
    asked = [("out", "outbound", query.depart)] + ([("back", "return", query.back)] if query.back else [])
    ways = []
    for name, direction, day in asked:
        way = find_itinerary(market, form.text(name), day, query.cabin, query.travellers)
        if way is None or not way.price:
            return None
        ways.append((way, direction))
    return Choice(query, tuple(ways))


def _offer_url(choice: Choice) -> str:
    names = {"outbound": "out", "return": "back"}
    return choice.query.url("/offer", **{names[direction]: way.key for way, direction in choice.ways})


def _airlines(ways: list[Itinerary]) -> list[tuple[str, str]]:
    codes = {leg.flight.airline for way in ways for leg in way.legs}
    return [(code, line.name) for code, line in AIRLINES.items() if code in codes]


def lowest_prices(
    market: Market, start: tuple[str, ...], end: tuple[str, ...], cabin: str, month: date
) -> dict[date, int]:
    """The lowest price of a non-stop flight on each day of a month; 0 where there is none to buy."""
    today, found, day = market.now.date(), {}, month.replace(day=1)
    timetable = [one for one in flights(market.database, "origin", start) if one.destination in end]
    while day.month == month.month:
        on_sale = today <= day <= today + timedelta(days=DAYS)
        legs = [Leg(one, day) for one in timetable if on_sale and one.flies(day) and cabin in AIRCRAFT[one.aircraft]]
        prices = sorted((market.price(leg, cabin), leg.flight.number, leg) for leg in legs)
        found[day] = next((cents for cents, _, leg in prices if market.left(leg, cabin)), 0)
        day += timedelta(days=1)
    return found


def _months(today: date) -> list[date]:
    """The first day of every month in which there are flights on sale."""
    days = (today + timedelta(days=ahead) for ahead in range(DAYS + 1))
    return list(dict.fromkeys(day.replace(day=1) for day in days))
