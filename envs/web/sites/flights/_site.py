"""The site as one application: its routes, its templates, its world."""

from __future__ import annotations

import sqlite3
from functools import cached_property
from pathlib import Path

from agent_envs.envs.web.sites._kit import Pages, begin_session
from agent_envs.envs.web.sites.flights._account_pages import AccountPages
from agent_envs.envs.web.sites.flights._ask import common
from agent_envs.envs.web.sites.flights._booking_pages import BookingPages
from agent_envs.envs.web.sites.flights._search_pages import SearchPages
from agent_envs.envs.web.sites.flights._trip_pages import TripPages
from agent_envs.envs.web.sites.flights._words import WORDS
from agent_envs.envs.web.sites.flights._world import USERS, populate
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from agent_envs.errors import TaskError
from agent_envs.sites import ASGIApp, World

_FOLDER = Path(__file__).parent


class Flights:
    """Kestrel: search, book, change and cancel flights."""

    host = "flights.test"
    unjudged = frozenset({"sessions"})

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        """Make the tables and fill them."""
        populate(database, world)

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        """The session of the user, if there is one."""
        if world.user and world.user not in USERS:
            raise TaskError(f"nobody called {world.user!r} has an account; expected one of {', '.join(USERS)}")
        return begin_session(database, world.user)

    @cached_property
    def app(self) -> ASGIApp:
        """The application."""
        pages = Pages(_FOLDER, common=common, words=WORDS)

        async def lost(request: Request, _: Exception) -> Response:
            return pages.answer(request, "lost.html", status=404)

        parts = (SearchPages(pages), BookingPages(pages), TripPages(pages), AccountPages(pages))
        routes = [route for part in parts for route in part.routes]
        app: ASGIApp = Starlette(routes=routes, exception_handlers={404: lost})
        return app


FLIGHTS = Flights()
"""The site; it keeps nothing between requests."""
