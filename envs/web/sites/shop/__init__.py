"""Marlow: a shop with a catalogue, a cart, orders, returns and accounts, as a site for agents to use."""

from __future__ import annotations

import sqlite3
from functools import cached_property

from agent_envs.envs.web.sites._kit import begin_session
from agent_envs.envs.web.sites.shop._tables import populate

from agent_envs.errors import TaskError
from agent_envs.sites import ASGIApp, World

__all__ = ["SHOP", "Shop"]


class Shop:
    """The site `shop.test`. A user is an email address; without one the visitor is a guest."""

    host = "shop.test"
    unjudged = frozenset({"sessions"})

    @cached_property
    def app(self) -> ASGIApp:
        """The application, made when it is first asked for."""
        from agent_envs.envs.web.sites.shop._application import application

        return application()

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        """Make the tables and fill them."""
        populate(database, world)

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        """Sign the world's user in; `TaskError` where nobody has that address."""
        known = database.execute("SELECT 1 FROM users WHERE email = ?", [world.user]).fetchone()
        if world.user and not known:
            raise TaskError(f"nobody at the shop is called {world.user!r} in the world of seed {world.seed}")
        return begin_session(database, world.user)


SHOP = Shop()
"""The shop, as tasks name it: `agent_envs.envs.web.sites.shop:SHOP`."""
