"""The only way out of a browser context: a proxy on loopback that knows the sites of one episode and nothing else.

A context sends everything it asks for to its own gateway, by the name of the host it wants. So addresses are the same
in every episode, two episodes never meet, and what is not a site of the task has no answer: there is no network
behind it. Runs on the event loop it was opened on.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from agent_envs.errors import MissingExtra
from agent_envs.sites._site import VISIT, Message, Visit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

_LARGEST_BODY = 16 << 20
_LOGGED_BODY = 1 << 16
MOST_LOGGED = 2_000
"""So many requests of an episode are kept; of later ones nobody knows."""


@dataclass(slots=True)
class Exchange:
    """One request that a page made, and how it was answered."""

    method: str
    url: str
    status: int = 0
    """0 while there is no answer; 403 where the host is no site of the task."""
    form: dict[str, Any] = field(default_factory=dict)
    """The fields of a form or of a JSON object that was sent."""

    def to_json(self) -> dict[str, Any]:
        """The exchange as JSON data."""
        return {name: getattr(self, name) for name in self.__slots__}


class Gateway:
    """A proxy for one browser context at a time. `open` it, give `port` to the context, `serve` each episode."""

    def __init__(self) -> None:
        self.port = 0
        self.log: list[Exchange] = []
        """What was asked for in this episode, up to a bound."""
        self.faults: list[str] = []
        """What broke in a site: our fault, and the end of the episode."""
        self.in_flight = 0
        """Requests that are being answered."""
        self.imports = False
        """Whether a script was sent that may ask for others as it runs, or something that cannot be read here."""
        self.news = asyncio.Event()
        """Set when one of them has been answered; whoever waits for it clears it."""
        self._visits: Mapping[str, Visit] = {}
        self._server: Any = None
        self._held_port: socket.socket | None = None

    async def open(self) -> Gateway:
        """Listen on a free port of loopback."""
        try:
            import httptools  # noqa: F401 - reads requests to a proxy, which the other parser does not
            import uvicorn
        except ImportError as error:
            raise MissingExtra("uvicorn", extra="web") from error
        # The protocol is named because asyncio turns Nagle's delay (40 ms an answer) off only where it is.
        listener = socket.socket(proto=socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self._held_port = listener.dup()
        config = uvicorn.Config(
            self._answer, interface="asgi3",
            http="httptools", ws="none", lifespan="off", log_config=None, log_level="critical",
            access_log=False, date_header=False, server_header=False, proxy_headers=False, timeout_keep_alive=3600,
        )  # fmt: skip
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        await self._server.startup(sockets=[listener])
        return self

    def serve(self, visits: Mapping[str, Visit]) -> None:
        """Answer for these sites (by host name) from now on, and forget what was asked for before."""
        self._visits, self.log, self.faults, self.imports = visits, [], [], False

    async def close(self) -> None:
        """Cut it off and give its port away; idempotent. From then on another gateway may be found there."""
        self.cut_off()
        if self._held_port is not None:
            self._held_port.close()

    def cut_off(self) -> None:
        """Drop every connection, and take no more: whoever still asks waits, until it is closed. Idempotent."""
        self._visits = {}
        if self._server is not None:
            server, self._server = self._server, None
            for one in server.servers:
                one.close()
            for connection in list(server.server_state.connections):
                connection.transport.abort()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope["method"], _url(scope))
        if len(self.log) < MOST_LOGGED:
            self.log.append(exchange)
        flight = _Flight(self)
        try:
            await self._pass_on(exchange, scope, receive, send, flight)
        finally:
            flight.over()

    async def _pass_on(self, exchange: Exchange, scope: Message, receive: Receive, send: Send, flight: _Flight) -> None:
        visit = self._visits.get(urlsplit(exchange.url).hostname or "")
        if visit is None:
            return await _say(exchange, send, 403, "This host is not part of the task.")
        body = await _body(receive)
        if body is None:
            return await _say(exchange, send, 413, "The request is too large.")
        exchange.form = _form(body, _header(scope, b"content-type"))
        sent = False

        async def ask() -> Message:
            nonlocal sent
            if sent:
                return {"type": "http.disconnect"}
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            self.imports = self.imports or _imports(message)
            await send(message)

        try:
            async with flight.watched(receive):
                await visit.site.app({**scope, "scheme": "http", VISIT: visit}, ask, note)
        except Exception as fault:  # noqa: BLE001 - whatever a site raises is the site's fault: kept for the episode's end
            self.faults.append(f"{exchange.method} {exchange.url}: {type(fault).__name__}: {fault}")
            if not exchange.status:
                await _say(exchange, send, 500, "The site has failed.")
        return None


class _Flight:
    """A request that is being answered, for as long as somebody waits for the answer."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway: Gateway | None = gateway
        gateway.in_flight += 1

    def over(self) -> None:
        """Nobody waits for it any more; idempotent."""
        gateway, self._gateway = self._gateway, None
        if gateway is not None:
            gateway.in_flight -= 1
            gateway.news.set()

    @contextlib.asynccontextmanager
    async def watched(self, receive: Receive) -> AsyncIterator[None]:
        """Answering it, which goes on where the page has given it up meanwhile."""
        watching = asyncio.ensure_future(self._watch(receive))
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self, receive: Receive) -> None:
        # The body has been read: what comes now is the end of the connection.
        while (await receive())["type"] != "http.disconnect":
            pass
        self.over()


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None where it is too large."""
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        size += len(message.get("body", b""))
        if size <= _LARGEST_BODY:
            pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces) if size <= _LARGEST_BODY else None


async def _say(exchange: Exchange, send: Send, status: int, text: str) -> None:
    exchange.status = status
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _imports(message: Message) -> bool:
    if message["type"] == "http.response.start":
        return any(name.lower() == b"content-encoding" for name, _ in message.get("headers", ()))
    return any(sign in message.get("body", b"") for sign in (b"import(", b"import ("))


def _url(scope: Message) -> str:
    host = _header(scope, b"host")
    query = scope["query_string"].decode("latin-1")
    return f"http://{host}{scope['raw_path'].decode('latin-1')}{'?' + query if query else ''}"


def _header(scope: Message, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _form(body: bytes, content_type: str) -> dict[str, Any]:
    """What was sent, where it is a form or a JSON object of a readable size; of a repeated field all values."""
    if not body or len(body) > _LOGGED_BODY:
        return {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            sent = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return {}
        return sent if isinstance(sent, dict) else {}
    if kind != "application/x-www-form-urlencoded":
        return {}
    fields: dict[str, Any] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        fields[name] = [*_listed(fields[name]), value] if name in fields else value
    return fields


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
