"""A gateway answers for the sites of its episode, and there is nothing behind it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent_envs.sites import VISIT, ASGIApp, Gateway, Visit, World, begin


class Counter:
    """A site that counts its visits in its database."""

    host = "counter.test"
    unjudged = frozenset({"sessions"})

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        database.execute("CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER)")
        database.execute("CREATE TABLE sessions (token TEXT PRIMARY KEY)")
        database.execute("INSERT INTO counters VALUES ('all', ?)", [world.seed])

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        database.execute("INSERT INTO sessions VALUES ('t')")
        return {"session": "t"}

    @property
    def app(self) -> ASGIApp:
        return _count


async def _count(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    await receive()
    if scope["path"] == "/broken":
        raise ZeroDivisionError("a mistake of ours")
    visit: Visit = scope[VISIT]
    visit.database.execute("UPDATE counters SET value = value + 1")
    (value,) = visit.database.execute("SELECT value FROM counters").fetchone()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(str(value)))]}
    )
    await send({"type": "http.response.body", "body": str(value).encode()})


SITE = Counter()


async def ask(gateway: Gateway, url: str, *, method: str = "GET", body: bytes = b"", kind: str = "") -> tuple[int, str]:
    """What a browser behind this gateway is answered: status and text."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    head = f"{method} {url} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nConnection: close\r\n"
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer.split()[1]), answer.partition(b"\r\n\r\n")[2].decode()


def test_two_episodes_never_meet() -> None:
    async def both() -> list[str]:
        first, second = await Gateway().open(), await Gateway().open()
        first.serve({SITE.host: begin(SITE, World(seed=1))})
        second.serve({SITE.host: begin(SITE, World(seed=1))})
        said = [(await ask(gateway, "http://counter.test/"))[1] for gateway in (first, first, second)]
        await first.close()
        await second.close()
        return said

    assert asyncio.run(both()) == ["2", "3", "2"]


def test_what_is_no_site_of_the_task_is_refused_and_noted() -> None:
    async def outside() -> tuple[int, int, Gateway]:
        gateway = await Gateway().open()
        gateway.serve({SITE.host: begin(SITE, World())})
        name, _ = await ask(gateway, "http://example.com/secret?q=1")
        address, _ = await ask(gateway, "http://127.0.0.1:80/")
        await gateway.close()
        return name, address, gateway

    name, address, gateway = asyncio.run(outside())
    assert (name, address) == (403, 403)
    assert [(one.url, one.status) for one in gateway.log] == [
        ("http://example.com/secret?q=1", 403),
        ("http://127.0.0.1:80/", 403),
    ]


@pytest.mark.parametrize(
    ("kind", "body", "form"),
    [
        ("application/x-www-form-urlencoded", b"a=1&b=x+y&a=2&c=", {"a": ["1", "2"], "b": "x y", "c": ""}),
        ("application/json", b'{"n": 1}', {"n": 1}),
        ("application/json", b"[1", {}),
        ("application/json", b'{"half a character": "\\ud800"}', {}),
        ("application/json", b'{"no number": 1e999}', {}),
        ("application/json", b"[" * 60_000, {}),
        ("text/plain", b"a=1", {}),
    ],
)
def test_what_was_sent_is_noted_with_its_answer(kind: str, body: bytes, form: dict[str, Any]) -> None:
    async def send() -> Gateway:
        gateway = await Gateway().open()
        gateway.serve({SITE.host: begin(SITE, World())})
        await ask(gateway, "http://counter.test/add?x=1", method="POST", body=body, kind=kind)
        await gateway.close()
        return gateway

    (exchange,) = asyncio.run(send()).log
    assert (exchange.method, exchange.url, exchange.status) == ("POST", "http://counter.test/add?x=1", 200)
    assert exchange.form == form


def test_a_site_that_breaks_is_our_fault() -> None:
    async def broken() -> tuple[int, Gateway]:
        gateway = await Gateway().open()
        gateway.serve({SITE.host: begin(SITE, World())})
        status, _ = await ask(gateway, "http://counter.test/broken")
        await gateway.close()
        return status, gateway

    status, gateway = asyncio.run(broken())
    assert status == 500
    assert gateway.faults == ["GET http://counter.test/broken: ZeroDivisionError: a mistake of ours"]
    assert gateway.in_flight == 0
