"""What a site is: an application with a database of its own, so that every episode visits a world nobody has touched.

A site is written once and visited by many episodes. What differs between visits (database, clock, randomness) is in
the `Visit` of each request, and nothing else may be: the same world and the same requests give the same bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from importlib import import_module
from random import Random
from typing import Any, Protocol, runtime_checkable

import msgspec

from agent_envs.errors import TaskError

Message = MutableMapping[str, Any]
"""What an application and its server tell each other: a scope, a request, a part of an answer."""
ASGIApp = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
"""An application as the ASGI specification 3.0 defines it."""

VISIT = "agent_envs.visit"
"""The key under which the scope of a request holds its `Visit`."""
_WORLDS = 32
_HALF = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """From what a site's database is made. JSON data; equal worlds give equal databases."""

    seed: int = 0
    """Picks what the site offers: products, flights, people."""
    now: str = "2026-03-10T09:00:00"
    """The instant at which every clock stands still, in the site's own time zone (ISO 8601, without an offset)."""
    user: str = ""
    """Who is signed in when the visit begins; empty: nobody."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What a task prepares: the content of a cart, a seat that is taken."""

    def __post_init__(self) -> None:
        try:
            offset = datetime.fromisoformat(self.now).tzinfo
        except (TypeError, ValueError) as error:
            raise TaskError(f"now is {self.now!r}; expected a local time such as '2026-03-10T09:00:00'") from error
        if offset is not None:
            raise TaskError(f"now is {self.now!r}; expected a local time, without an offset")
        if type(self.seed) is not int or not -_HALF <= self.seed < _HALF:
            raise TaskError(f"seed is {self.seed!r}; expected a whole number of 64 bits")
        if not isinstance(self.user, str):
            raise TaskError(f"user is {self.user!r}; expected a text, empty where nobody is signed in")
        if not isinstance(self.options, Mapping) or not _is_json(self.options):
            raise TaskError(f"options are {self.options!r}; expected a dict of JSON data")


@runtime_checkable
class Site(Protocol):
    """One application under one host name. Its handlers are coroutines that never wait for anything but the request."""

    @property
    def host(self) -> str:
        """The host name under which a browser finds it; ends in `.test`, which nobody can own (RFC 6761)."""

    @property
    def app(self) -> ASGIApp:
        """The application; `scope[VISIT]` is the visit. What it raises counts as our fault, not the agent's."""

    @property
    def unjudged(self) -> frozenset[str]:
        """Tables that change without anybody's intent (sessions, what was viewed last); verdicts do not see them."""

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        """Make the tables and fill them. Every judged table needs a primary key."""

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        """The cookies of whoever is signed in when the visit begins; may add rows to unjudged tables."""


@dataclass(slots=True)
class Visit:
    """One episode's stay at one site."""

    site: Site
    world: World
    database: sqlite3.Connection
    random: Random
    cookies: dict[str, str]

    @property
    def now(self) -> datetime:
        """The time, which stands still."""
        return datetime.fromisoformat(self.world.now)

    def close(self) -> None:
        """Forget the database; idempotent."""
        self.database.close()


def begin(site: Site, world: World) -> Visit:
    """A visit to an untouched copy of a world, which is made once and kept: later visits cost about a millisecond."""
    database = untouched(site, world)
    return Visit(site, world, database, Random(world.seed), site.cookies(database, world))


def opened(image: bytes) -> sqlite3.Connection:
    """A database in memory from its serialized form. Used by one thread at a time, whichever that is."""
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.deserialize(image)
    database.row_factory = sqlite3.Row
    database.execute("PRAGMA foreign_keys = ON")
    return database


def untouched(site: Site, world: World) -> sqlite3.Connection:
    """The database as `begin` finds it, before anybody is signed in."""
    key: Any = site
    return opened(_image(key, msgspec.json.encode(world, order="deterministic")))


@lru_cache(maxsize=_WORLDS)
def _image(site: Any, world: bytes) -> bytes:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.row_factory = sqlite3.Row
    try:
        database.execute("BEGIN")
        # A site without a table has a database all the same; SQLite makes none as long as nothing is written.
        database.execute("PRAGMA user_version = 1")
        site.populate(database, msgspec.json.decode(world, type=World))
        database.execute("COMMIT")
        return database.serialize()
    finally:
        database.close()


def _is_json(value: object) -> bool:
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def find_site(name: str) -> Site:
    """The site that `module:attribute` names; a task refers to its sites in this way, so that it stays data."""
    if not isinstance(name, str):
        raise TaskError(f"{name!r} names no site; expected a text 'module:attribute', such as 'my.sites:shop'")
    return _find_site(name)


@lru_cache(maxsize=64)
def _find_site(name: str) -> Site:
    module, _, attribute = name.partition(":")
    try:
        site = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise TaskError(f"there is no site {name!r}; expected 'module:attribute', such as 'my.sites:shop'") from error
    if not isinstance(site, Site):
        raise TaskError(f"{name!r} is a {type(site).__name__}; expected a Site")
    return site
