"""A site made of whatever pages a test writes, and windows on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import pytest

from agent_envs.browser import BrowserOptions, Window, open_window
from agent_envs.browser._eyes import look
from agent_envs.browser._loop import call
from agent_envs.browser._settle import rest
from agent_envs.browser._snapshot import Snapshot
from agent_envs.browser._tab import Tab
from agent_envs.sites import World, begin

Page = str | Callable[[Any], Awaitable[tuple[int, dict[str, str], str]]]
"""The HTML, or what answers a request: status, headers, body."""
OpenPages = Callable[..., Window]


class Pages:
    """A site without a memory: path -> page."""

    unjudged: frozenset[str] = frozenset()

    def __init__(self, pages: Mapping[str, Page], host: str) -> None:
        self.pages = pages
        self.host = host

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        database.execute("CREATE TABLE notes (name PRIMARY KEY)")

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        return {"session": "t"}

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        page = self.pages.get(unquote(scope["path"]))
        if page is None:
            status, headers, body = 404, {}, "<title>Not found</title>There is no such page."
        elif isinstance(page, str):
            status, headers, body = 200, {}, f"<!doctype html>{page}"
        else:
            status, headers, body = await page(scope)
        content = body.encode()
        headers = {"content-type": "text/html; charset=utf-8", "content-length": str(len(content))} | headers
        lines = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": content})


def redirect(to: str) -> Page:
    """A page that is somewhere else."""

    async def answer(scope: Any) -> tuple[int, dict[str, str], str]:
        return 302, {"location": to}, ""

    return answer


@pytest.fixture
def open_pages(a_browser: None) -> Iterator[OpenPages]:
    """Opens a window on pages of `a.test` (and of other hosts, by keyword), at its page `/`."""
    opened: list[Window] = []

    def open_(pages: Mapping[str, Page], *, start: str = "/", seed: int = 1, **options: Any) -> Window:
        sites = [Pages(pages, "a.test"), Pages(pages, "b.test")]
        visits = {site.host: begin(site, World(seed=1)) for site in sites}
        # What is promised does not depend on how busy this machine is, so that nothing is given up but on purpose.
        patient = BrowserOptions(**{"timeout_s": 60.0, "settle_s": 30.0, **options})
        window = open_window(patient, visits=visits, now="2026-03-10T09:00:00", seed=seed)
        opened.append(window)
        if start:
            window.navigate(f"http://a.test{start}")
        return window

    yield open_
    for window in opened:
        window.close()


class Reader:
    """Looks at the front tab of a window and acts on it, as a window does, one layer below its tools."""

    def __init__(self, window: Window) -> None:
        self.window = window
        desk = window._desk
        assert desk is not None
        self.desk = desk

    @property
    def tab(self) -> Tab:
        return self.desk.tabs.front

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return call(work, timeout_s=200)

    def look(self) -> Snapshot:
        snapshot: Snapshot = self.run(look(self.tab))
        return snapshot

    def text(self) -> str:
        return "\n".join(self.look().lines)

    def do(self, action: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any, **options: Any) -> Any:
        done = self.run(action(self.tab, *arguments, **options))
        self.run(rest(self.tab, cap_s=60))
        return done

    def js(self, code: str) -> Any:
        """What a script of the page itself would do."""
        return self.run(self.tab.page.evaluate(code))


@pytest.fixture
def read(open_pages: OpenPages) -> Callable[..., Reader]:
    """Opens a page, given by its HTML or by several pages, and reads it."""

    def read_(page: str | Mapping[str, Page], *, start: str = "/", seed: int = 1, **options: Any) -> Reader:
        return Reader(open_pages({"/": page} if isinstance(page, str) else page, start=start, seed=seed, **options))

    return read_
