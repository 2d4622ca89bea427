"""What a visitor asks for: read from the address of a page, and written back into one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from urllib.parse import urlencode

from agent_envs.envs.web.sites._kit import Form, session_of, visit_of
from agent_envs.envs.web.sites.flights._departures import DAYS, Market
from agent_envs.envs.web.sites.flights._fares import CABINS
from agent_envs.envs.web.sites.flights._places import AIRPORTS, CITIES, airports_of
from agent_envs.envs.web.sites.flights._search import PARTS, Itinerary
from starlette.requests import Request

MOST_TRAVELLERS = 6
_USUAL = {"trip": "one-way", "travellers": "1", "cabin": "economy"}
SORTS = {"price": "Lowest price", "departure": "Departure time", "duration": "Shortest journey"}


@dataclass(frozen=True, slots=True)
class Query:
    """A search that makes sense: known places, a day on sale."""

    start: str
    end: str
    origins: tuple[str, ...]
    destinations: tuple[str, ...]
    depart: date
    back: date | None
    travellers: int
    cabin: str

    def reversed(self) -> Query:
        """The way back."""
        day = self.back or self.depart
        return replace(self, origins=self.destinations, destinations=self.origins, depart=day, back=None)

    def fields(self) -> dict[str, str]:
        """The search as fields of a form."""
        trip = {"trip": "return", "return": self.back.isoformat()} if self.back else {"trip": "one-way"}
        rest = {"from": self.start, "to": self.end, "depart": self.depart.isoformat()}
        return {**trip, **rest, "travellers": str(self.travellers), "cabin": self.cabin}

    def url(self, path: str = "/search", **more: str) -> str:
        """An address with this search in it, as short as it can be: what goes without saying is not said."""
        fields = {name: text for name, text in self.fields().items() if _USUAL.get(name) != text}
        return f"{path}?{urlencode({**fields, **more})}"

    @property
    def cities(self) -> tuple[str, str]:
        """Where from and where to, as cities."""
        return AIRPORTS[self.origins[0]].city, AIRPORTS[self.destinations[0]].city


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which of the ways that were found one wants to see, and in which order."""

    parts: tuple[str, ...] = ()
    airlines: tuple[str, ...] = ()
    stops: str = ""
    most_cents: int = 0
    sort: str = "price"

    def pick(self, ways: list[Itinerary]) -> list[Itinerary]:
        """The ways that fit, in order; sold-out ones last."""
        fit = [way for way in ways if self._fits(way)]
        keys = {
            "price": lambda way: (way.price, way.legs[0].departs),
            "departure": lambda way: (way.legs[0].departs, way.price),
            "duration": lambda way: (way.minutes, way.price),
        }
        return sorted(fit, key=lambda way: (not way.price, keys[self.sort](way)))

    def fields(self) -> list[tuple[str, str]]:
        """The wishes as fields of a form."""
        found = [("time", part) for part in self.parts] + [("airline", name) for name in self.airlines]
        found += [("stops", self.stops)] if self.stops else []
        found += [("max_price", str(self.most_cents // 100))] if self.most_cents else []
        return [*found, ("sort", self.sort)]

    def _fits(self, way: Itinerary) -> bool:
        return (
            (not self.parts or way.part in self.parts)
            and (not self.airlines or all(leg.flight.airline in self.airlines for leg in way.legs))
            and (self.stops != "0" or not way.stops)
            and (not self.most_cents or way.price <= self.most_cents)
        )


def market_of(request: Request) -> Market:
    """What is for sale in this visit, less what its visitor was told to be gone."""
    visit = visit_of(request)
    return Market(visit.database, visit.world.seed, visit.now, session_of(request).data.get("gone", ()))


def tell_gone(request: Request, what: str) -> None:
    """Remember that the visitor was told that this is gone."""
    session_of(request).data.setdefault("gone", []).append(what)


def read_query(form: Form, now: datetime) -> Query | None:
    """The search in a form; where it makes no sense, what is wrong is noted there."""
    origins, destinations = _place(form, "from", "where you leave"), _place(form, "to", "where you go")
    if origins and destinations and AIRPORTS[origins[0]].city == AIRPORTS[destinations[0]].city:
        form.errors["to"] = "Leaving and arriving in the same city is not possible; choose another destination."
    depart = read_day(form, "depart", "departure date", now)
    back = read_day(form, "return", "return date", now) if form.text("trip") == "return" else None
    if depart and back and back < depart:
        form.errors["return"] = "The return date is before the departure date."
    travellers = form.number("travellers", 1)
    if not 1 <= travellers <= MOST_TRAVELLERS:
        form.errors["travellers"] = f"Choose from 1 to {MOST_TRAVELLERS} travellers."
    cabin = form.text("cabin") or "economy"
    if cabin not in CABINS:
        form.errors["cabin"] = "Choose a class."
    if form.errors or depart is None:
        return None
    return Query(form.text("from"), form.text("to"), origins, destinations, depart, back, travellers, cabin)


def read_wishes(form: Form) -> Wishes:
    """The filters in a form; what is not known is left out."""
    parts = tuple(part for part in PARTS if part in form.texts("time"))
    sort = form.text("sort") if form.text("sort") in SORTS else "price"
    stops = "0" if form.text("stops") == "0" else ""
    most = max(0, form.number("max_price")) * 100
    return Wishes(parts, tuple(form.texts("airline")), stops, most, sort)


def read_day(form: Form, name: str, label: str, now: datetime) -> date | None:
    """A day on sale."""
    last = now.date() + timedelta(days=DAYS)
    try:
        day = date.fromisoformat(form.text(name))
    except ValueError:
        form.errors[name] = f"Enter the {label}, such as {now.date().isoformat()}."
        return None
    if not now.date() <= day <= last:
        form.errors[name] = (
            f"The {label} must be from {now.date().isoformat()} to {last.isoformat()}: we sell {DAYS} days ahead."
        )
        return None
    return day


def _place(form: Form, name: str, label: str) -> tuple[str, ...]:
    text = form.text(name)
    found = airports_of(text)
    if not text:
        form.errors[name] = f"Enter {label}: a city or an airport."
    elif not found:
        near = get_close_matches(text.title(), [city for city in CITIES if city[0] == text[0].upper()], n=1)
        hint = f" Did you mean {near[0]}?" if near else " See the list of cities in the help pages."
        form.errors[name] = f"We do not fly to or from “{text}”.{hint}"
    return found


def user_row(request: Request) -> sqlite3.Row | None:
    """The person who is signed in."""
    database = visit_of(request).database
    found: sqlite3.Row | None = database.execute(
        "SELECT * FROM users WHERE id = ?", [session_of(request).user]
    ).fetchone()
    return found


def common(request: Request) -> Mapping[str, object]:
    """What every page knows."""
    session = session_of(request)
    user = user_row(request) if session.user else None
    return {"user": user, "messages": session.take_said(), "now": visit_of(request).now, "path": request.url.path}
