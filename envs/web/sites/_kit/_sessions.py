"""Sessions: who is signed in, what is said once on the next page, and what a site remembers without judging it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from agent_envs.envs.web.sites._kit._pages import redirect, visit_of
from starlette.requests import Request
from starlette.responses import Response

Endpoint = Callable[[Request], Awaitable[Response]]


class Session:
    """One browser's session. It becomes a row when there is something to remember."""

    def __init__(self, database: sqlite3.Connection, token: str, user: str, kept: str) -> None:
        self._database = database
        self._kept, self._was = kept, user
        self.token = token
        """What the cookie holds; empty until there is a row."""
        self.user = user
        """Who is signed in; empty: nobody."""
        self.data: dict[str, Any] = json.loads(kept)
        """What is remembered: JSON data."""
        self.fresh = False
        """Whether the browser has yet to be given its cookie."""

    def say(self, text: str, kind: str = "ok") -> None:
        """Show a message on the next page. Kinds: ok, error."""
        self.data.setdefault("said", []).append({"text": text, "kind": kind})

    def take_said(self) -> list[dict[str, str]]:
        """The messages for this page; they are shown once."""
        said: list[dict[str, str]] = self.data.pop("said", [])
        return said

    def save(self) -> None:
        """Write it down where it has changed. The kit's answers do so by themselves."""
        kept = json.dumps(self.data, sort_keys=True)
        if (kept, self.user) == (self._kept, self._was):
            return
        if not self.token:
            self.need_token()
        self._kept, self._was = kept, self.user
        row = (self.token, self.user, kept)
        self._database.execute("INSERT OR REPLACE INTO sessions (token, user, data) VALUES (?, ?, ?)", row)

    def need_token(self) -> str:
        """The token, made now where there is none."""
        if not self.token:
            (count,) = self._database.execute("SELECT COUNT(*) FROM sessions").fetchone()
            self.token, self.fresh = _token(f"guest/{count}"), True
            self._database.execute("INSERT INTO sessions (token, user, data) VALUES (?, '', '{}')", [self.token])
        return self.token


def create_sessions(database: sqlite3.Connection) -> None:
    """Make the table `sessions`, which a site lists in `unjudged`."""
    database.execute("CREATE TABLE sessions (token TEXT PRIMARY KEY, user TEXT NOT NULL, data TEXT NOT NULL)")


def begin_session(database: sqlite3.Connection, user: str) -> dict[str, str]:
    """The cookies of a visitor who is signed in when the visit begins; none for nobody."""
    if not user:
        return {}
    database.execute("INSERT INTO sessions (token, user, data) VALUES (?, ?, '{}')", [_token(user), user])
    return {"session": _token(user)}


def session_of(request: Request) -> Session:
    """The session of a request; the same object however often it is asked for."""
    found: Session | None = request.scope.get("kit.session")
    if found is None:
        database = visit_of(request).database
        token = request.cookies.get("session", "")
        row = database.execute("SELECT token, user, data FROM sessions WHERE token = ?", [token]).fetchone()
        found = request.scope["kit.session"] = Session(database, *(row or ("", "", "{}")))
    return found


def needs_user(endpoint: Endpoint) -> Endpoint:
    """The endpoint for whoever is signed in; anybody else is asked to sign in first, at `/sign-in`."""

    async def guarded(request: Request) -> Response:
        if session_of(request).user:
            return await endpoint(request)
        query = f"?{request.url.query}" if request.url.query else ""
        back = request.url.path + query if request.method == "GET" else "/"
        return redirect(request, f"/sign-in?next={quote(back)}")

    return guarded


def _token(name: str) -> str:
    return sha256(f"session of {name}".encode()).hexdigest()[:32]
