"""A visitor without a browser: asks a site for pages, keeps cookies, follows redirects and fills in forms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import pytest

from agent_envs.sites import VISIT, Changes, Site, World, begin, changes, untouched


class Page(HTMLParser):
    """One answer: its status, its text, its links and its forms."""

    def __init__(self, url: str, status: int, body: str) -> None:
        super().__init__()
        self.url, self.status, self.body = url, status, body
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")

    def handle_data(self, data: str) -> None:
        self.words += data.split()

    @property
    def text(self) -> str:
        """What can be read, with single spaces."""
        return " ".join(self.words)


class Visitor:
    """Somebody who visits a site of one world."""

    def __init__(self, site: Site, world: World) -> None:
        self.site, self.world = site, world
        self.visit = begin(site, world)
        self.cookies = dict(self.visit.cookies)

    def get(self, path: str, **query: Any) -> Page:
        return self.ask("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path)

    def post(self, path: str, **fields: Any) -> Page:
        return self.ask("POST", path, urlencode(fields, doseq=True))

    def ask(self, method: str, path: str, body: str = "") -> Page:
        status, headers, answer = self.raw(method, path, body.encode())
        for name, value in headers:
            if name == b"set-cookie":
                key, _, rest = value.decode().partition("=")
                self.cookies[key] = rest.partition(";")[0]
        if status in (302, 303):
            return self.ask("GET", urljoin(path, dict(headers)[b"location"].decode()))
        return Page(path, status, answer.decode())

    def raw(self, method: str, path: str, body: bytes = b"") -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        parts = urlsplit(path)
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": parts.path, "raw_path": parts.path.encode(), "root_path": "", "query_string": parts.query.encode(),
            "server": (self.site.host, 80), "client": ("127.0.0.1", 1), VISIT: self.visit,
            "headers": [(b"host", self.site.host.encode()), (b"cookie", cookie.encode()),
                        (b"content-type", b"application/x-www-form-urlencoded")],
        }  # fmt: skip
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.site.app(scope, receive, send))  # type: ignore[arg-type]
        return sent[0]["status"], sent[0]["headers"], b"".join(one.get("body", b"") for one in sent[1:])

    def changes(self) -> Changes:
        """What differs from the world that nobody has touched."""
        return changes(untouched(self.site, self.world), self.visit.database, but=self.site.unjudged)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        return [tuple(row) for row in self.visit.database.execute(sql, values)]


@pytest.fixture
def visitor() -> Callable[[Site, World], Visitor]:
    """Begins a visit: `visitor(SITE, World(...))`."""
    return Visitor
