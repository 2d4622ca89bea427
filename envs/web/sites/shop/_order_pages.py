"""Orders that were placed: the list, one of them, taking it back before it is sent and sending it back after."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

from agent_envs.envs.web.sites._kit import Form, needs_user, read_form, redirect, session_of
from agent_envs.envs.web.sites.shop._common import database_of, pages, today_of
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

RETURN_DAYS = 30
"""After delivery."""
CANCEL_REASONS = ("Ordered by mistake", "Found it cheaper elsewhere", "Delivery takes too long", "No longer needed")
RETURN_REASONS = ("Does not work", "Not as described", "Wrong size or colour", "Arrived damaged", "Changed my mind")
REMEDIES = {"refund": "Money back", "replacement": "Send a replacement", "credit": "Store credit"}
_LINES = """
SELECT i.*, p.name, p.slug, v.name AS version, r.quantity AS returned, r.reason, r.remedy,
  (SELECT COUNT(*) FROM variants WHERE product = p.id) AS versions
FROM order_items AS i JOIN variants AS v ON v.id = i.variant JOIN products AS p ON p.id = v.product
LEFT JOIN returns AS r ON r.order_number = i.order_number AND r.variant = i.variant
WHERE i.order_number = ? ORDER BY i.variant
"""


@needs_user
async def orders(request: Request) -> Response:
    """All orders of the user, the newest first."""
    rows = database_of(request).execute(
        "SELECT * FROM orders WHERE user = ? ORDER BY placed DESC, number DESC", [session_of(request).user]
    )
    return pages.answer(request, "orders.html", orders=[(one, _lines(request, one["number"])) for one in rows])


@needs_user
async def order(request: Request) -> Response:
    """One order."""
    return _order_page(request, Form())


@needs_user
async def cancel(request: Request) -> Response:
    """Take back an order that has not been sent; what it held is in stock again."""
    found, form, database = _find(request), await read_form(request), database_of(request)
    reason = form.choose("reason", "a reason", CANCEL_REASONS)
    if found["status"] != "processing":
        session_of(request).say("This order can no longer be cancelled.", "error")
        return redirect(request, f"/orders/{found['number']}")
    if form.errors:
        return _order_page(request, form, status=422)
    database.execute(
        "UPDATE orders SET status = 'cancelled', cancel_reason = ? WHERE number = ?", [reason, found["number"]]
    )
    for line in _lines(request, found["number"]):
        database.execute("UPDATE variants SET stock = stock + ? WHERE id = ?", [line["quantity"], line["variant"]])
    session_of(request).say(f"Order {found['number']} is cancelled.")
    return redirect(request, f"/orders/{found['number']}")


@needs_user
async def send_back(request: Request) -> Response:
    """Ask what is to be returned, and why."""
    return _return_page(request, Form())


@needs_user
async def ask_return(request: Request) -> Response:
    """Note what comes back."""
    found, form, database = _find(request), await read_form(request), database_of(request)
    open_lines = {str(one["variant"]): one for one in _lines(request, found["number"]) if one["returned"] is None}
    chosen = [open_lines[one] for one in form.texts("item") if one in open_lines]
    if not chosen:
        form.errors["item"] = "Choose at least one item."
    reason = form.choose("reason", "a reason", RETURN_REASONS)
    remedy = form.choose("remedy", "what you would like", list(REMEDIES))
    amounts = [form.number(f"quantity_{one['variant']}", 1) for one in chosen]
    if any(not 1 <= amount <= one["quantity"] for amount, one in zip(amounts, chosen, strict=True)):
        form.errors["item"] = "You cannot return more than you ordered."
    if len(form.text("comment")) > 500:
        form.errors["comment"] = "The comment can have at most 500 characters."
    if form.errors or not returnable(found, today_of(request)):
        return _return_page(request, form, status=422)
    for amount, one in zip(amounts, chosen, strict=True):
        database.execute(
            "INSERT INTO returns VALUES (?, ?, ?, ?, ?, ?, ?)",
            [found["number"], one["variant"], amount, reason, remedy, form.text("comment"),
             today_of(request).isoformat()],
        )  # fmt: skip
    session_of(request).say("Your return is registered. We have sent you a label by email.")
    return redirect(request, f"/orders/{found['number']}")


def returnable(found: sqlite3.Row, today: date) -> bool:
    """Whether the goods of an order may still come back."""
    if found["status"] != "delivered":
        return False
    return today <= date.fromisoformat(found["delivered"]) + timedelta(days=RETURN_DAYS)


def _find(request: Request) -> sqlite3.Row:
    """The order of this address; another user's is not there."""
    found = database_of(request).execute(
        "SELECT * FROM orders WHERE number = ? AND user = ?", [request.path_params["number"], session_of(request).user]
    )
    row: sqlite3.Row | None = found.fetchone()
    if row is None:
        raise HTTPException(404)
    return row


def _lines(request: Request, number: str) -> list[sqlite3.Row]:
    return database_of(request).execute(_LINES, [number]).fetchall()


def _order_page(request: Request, form: Form, *, status: int = 200) -> Response:
    found = _find(request)
    return pages.answer(
        request, "order.html", status=status, order=found, lines=_lines(request, found["number"]), form=form,
        returnable=returnable(found, today_of(request)), remedies=REMEDIES,
        reasons=[(one, one) for one in CANCEL_REASONS],
    )  # fmt: skip


def _return_page(request: Request, form: Form, *, status: int = 200) -> Response:
    found = _find(request)
    lines = [one for one in _lines(request, found["number"]) if one["returned"] is None]
    if not returnable(found, today_of(request)) or not lines:
        session_of(request).say("Nothing of this order can be returned.", "error")
        return redirect(request, f"/orders/{found['number']}")
    return pages.answer(
        request, "return.html", status=status, order=found, lines=lines, form=form, remedies=REMEDIES,
        reasons=[(one, one) for one in RETURN_REASONS],
    )  # fmt: skip
