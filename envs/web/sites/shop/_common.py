"""What every page of the shop needs: templates, who is here, and what is in the cart."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from agent_envs.envs.web.sites._kit import Form, Pages, session_of, visit_of
from agent_envs.envs.web.sites.shop._basket import Basket, basket
from agent_envs.envs.web.sites.shop._categories import categories
from agent_envs.envs.web.sites.shop._tables import SHIPPING
from starlette.requests import Request
from starlette.responses import Response

_HERE = Path(__file__).parent


def database_of(request: Request) -> sqlite3.Connection:
    """The database of this visit."""
    return visit_of(request).database


def today_of(request: Request) -> date:
    """The day on which this visit happens."""
    return visit_of(request).now.date()


def owner_of(request: Request, *, to_write: bool = False) -> str:
    """Whose cart it is: the user's address or the guest's session."""
    session = session_of(request)
    return session.user or (session.need_token() if to_write else session.token)


def basket_of(request: Request) -> Basket:
    """The cart of whoever asks."""
    return basket(database_of(request), owner_of(request), today_of(request))


def user_of(request: Request) -> sqlite3.Row:
    """The account of whoever is signed in."""
    found = database_of(request).execute("SELECT * FROM users WHERE email = ?", [session_of(request).user]).fetchone()
    row: sqlite3.Row = found
    return row


def words_of(request: Request) -> Form:
    """The query of an address, as a form."""
    form = Form()
    for name, value in request.query_params.multi_items():
        form.fields.setdefault(name, []).append(value)
    return form


def with_query(request: Request, **changed: str | int) -> str:
    """This address with some fields of its query changed; an empty value leaves the field out."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in changed and value]
    query = urlencode([*kept, *((name, value) for name, value in changed.items() if value != "")])
    return f"{request.url.path}?{query}" if query else str(request.url.path)


def _departments() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in categories():
        found.setdefault(one.department, []).append((one.slug, one.name))
    return found


def _common(request: Request) -> Mapping[str, Any]:
    session = session_of(request)
    count = database_of(request).execute(
        "SELECT COALESCE(SUM(quantity), 0) FROM cart_items WHERE owner = ?", [owner_of(request)]
    )
    return {
        "user": user_of(request) if session.user else None,
        "in_cart": count.fetchone()[0],
        "messages": session.take_said(),
        "query": request.query_params.get("q", ""),
        "comparing": session.data.get("compare", []),
    }


pages = Pages(
    _HERE,
    common=_common,
    words={"departments": _departments(), "with_query": with_query, "SHIPPING": SHIPPING},
)


async def not_found(request: Request, error: Exception) -> Response:
    """The answer to an address where there is nothing."""
    return pages.answer(request, "not_found.html", status=404)
