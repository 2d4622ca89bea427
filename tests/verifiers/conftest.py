"""What tests of web verdicts share: a little stall with a cart, and the record of an episode on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from agent_envs.verifiers.web import WebVerifier

from agent_envs.artifact import Artifact, Verdict
from agent_envs.sites import VISIT, ASGIApp, World, changes, untouched
from agent_envs.tasks import Task

HOST = "stall.test"


class Stall:
    """A site that lists its orders, newest first, to whoever is signed in."""

    host = HOST
    unjudged = frozenset({"sessions"})

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, cents INTEGER, status, note TEXT)")
        database.execute("CREATE TABLE cart (user TEXT, item TEXT, quantity INTEGER, weight, PRIMARY KEY (user, item))")
        database.execute("CREATE TABLE sessions (user TEXT PRIMARY KEY)")
        database.execute("INSERT INTO orders VALUES (1, 'kettle', 1250, 'open', NULL), (2, 'pan', 30, 'open', 'gift')")
        database.execute("INSERT INTO cart VALUES ('ada', 'pot', 1, 1.5)")

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        database.execute("INSERT OR REPLACE INTO sessions VALUES (?)", [world.user])
        return {"user": world.user} if world.user else {}

    @property
    def app(self) -> ASGIApp:
        return _orders


async def _orders(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    await receive()
    if scope["path"] == "/broken":
        raise ZeroDivisionError("a mistake of ours")
    if scope["path"] == "/login":
        await send({"type": "http.response.start", "status": 303, "headers": [(b"location", b"/")]})
        await send({"type": "http.response.body", "body": b""})
        return
    cookies = dict(scope["headers"]).get(b"cookie", b"").decode()
    rows = scope[VISIT].database.execute("SELECT * FROM orders ORDER BY id DESC").fetchall()
    lines = "".join(f"<li><a href='/orders/{row['id']}'>{row['item']}</a> <b>{row['status']}</b></li>" for row in rows)
    body = f"<title>Orders</title><h1>Orders</h1><p>You are {cookies or 'nobody'}</p><ul>{lines}</ul>".encode()
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": 404 if scope["path"] == "/missing" else 200, "headers": headers}
    )
    await send({"type": "http.response.body", "body": body})


STALL = Stall()
WORLD = {"seed": 3, "user": "ada"}

Judge = Callable[..., Verdict]


def task_of(*checks: Any, **secret: Any) -> Task:
    """A task on the stall."""
    setup = {"sites": [f"{__name__}:STALL"], "start": f"http://{HOST}/welcome", "world": WORLD}
    return Task(id="buy", prompt="", kind="web", setup=setup, secret={"checks": list(checks), **secret})


def end_after(*statements: str, answer: str | None = None, **state: Any) -> Artifact:
    """What an agent leaves that did this to the database."""
    before, after = untouched(STALL, World(**WORLD)), untouched(STALL, World(**WORLD))
    for statement in statements:
        after.execute(statement)
    end: Mapping[str, Any] = {
        "urls": [f"http://{HOST}/"],
        "active": 0,
        "infeasible": "",
        "changes": {HOST: changes(before, after, but=STALL.unjudged)},
        "requests": [],
    }
    return Artifact(answer=answer or "", submitted=answer is not None, state={**end, **state})


@pytest.fixture(scope="session")
def web_task() -> Callable[..., Task]:
    """Makes a task on the stall from its checks."""
    return task_of


@pytest.fixture(scope="session")
def web_end() -> Callable[..., Artifact]:
    """Makes what an agent leaves: from what it did to the database (SQL), its `answer`, other parts of the state."""
    return end_after


@pytest.fixture(scope="session")
def web_verdict() -> Callable[..., Verdict]:
    """Judges an episode on the stall: one check, then what `web_end` takes."""

    def judged(check: Any, *statements: str, **end: Any) -> Verdict:
        return WebVerifier().verify(task_of(check), end_after(*statements, **end))

    return judged
