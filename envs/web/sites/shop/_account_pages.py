"""The account: signing in and out, profile, addresses, newsletter, wish list."""

from __future__ import annotations

import sqlite3

from agent_envs.envs.web.sites._kit import Form, needs_user, read_form, redirect, safe_path, session_of
from agent_envs.envs.web.sites.shop._basket import MOST
from agent_envs.envs.web.sites.shop._checkout_pages import read_address
from agent_envs.envs.web.sites.shop._common import database_of, pages, user_of
from agent_envs.envs.web.sites.shop._people import password_mark
from agent_envs.envs.web.sites.shop._shelf import items
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

NEWSLETTERS = {"none": "No newsletter", "weekly": "Every week", "monthly": "Once a month"}


async def sign_in(request: Request) -> Response:
    """Ask who it is."""
    return pages.answer(request, "sign_in.html", form=Form(), next=request.query_params.get("next", "/"))


async def enter(request: Request) -> Response:
    """Sign somebody in; what the guest had in the cart comes along."""
    form, session = await read_form(request), session_of(request)
    email, password = form.need("email", "your email address").lower(), form.need("password", "your password")
    row = database_of(request).execute("SELECT mark FROM users WHERE email = ?", [email]).fetchone()
    if not form.errors and (row is None or row["mark"] != password_mark(email, password)):
        form.errors["email"] = "Email address and password do not match."
    if form.errors:
        form.fields.pop("password", None)
        return pages.answer(request, "sign_in.html", status=422, form=form, next=form.text("next"))
    if session.token and not session.user:
        _bring_cart(database_of(request), session.token, email)
    session.user = email
    session.say(f"Welcome back, {user_of(request)['name'].split()[0]}.")
    return redirect(request, safe_path(form.text("next")))


async def sign_out(request: Request) -> Response:
    """Sign whoever it is out."""
    session = session_of(request)
    session.user, session.data = "", {}
    session.say("You are signed out.")
    return redirect(request, "/")


@needs_user
async def account(request: Request) -> Response:
    """What an account has."""
    return pages.answer(request, "account.html")


@needs_user
async def profile(request: Request) -> Response:
    """Show what the shop knows about the user."""
    return pages.answer(request, "profile.html", form=Form(), newsletters=NEWSLETTERS)


@needs_user
async def save_profile(request: Request) -> Response:
    """Change name, phone and newsletter."""
    form = await read_form(request)
    name = form.need("full_name", "your name")
    phone = form.need("phone", "your phone number", matches=r"[+\d][\d -]{5,19}",
                      hint="A phone number has digits, spaces and hyphens only.")  # fmt: skip
    letter = form.choose("newsletter", "how often we may write", list(NEWSLETTERS))
    if form.errors:
        return pages.answer(request, "profile.html", status=422, form=form, newsletters=NEWSLETTERS)
    database_of(request).execute(
        "UPDATE users SET name = ?, phone = ?, newsletter = ? WHERE email = ?",
        [name, phone, letter, session_of(request).user],
    )
    session_of(request).say("Your profile is saved.")
    return redirect(request, "/account")


@needs_user
async def addresses(request: Request) -> Response:
    """All saved addresses."""
    rows = database_of(request).execute(
        "SELECT * FROM addresses WHERE user = ? ORDER BY preferred DESC, id", [session_of(request).user]
    )
    return pages.answer(request, "addresses.html", addresses=rows.fetchall())


@needs_user
async def address(request: Request) -> Response:
    """A form for a new address or a saved one."""
    return pages.answer(request, "address.html", form=Form(), saved=_address(request))


@needs_user
async def save_address(request: Request) -> Response:
    """Save an address; the first one, and one that is said to be, is the preferred one."""
    form, saved, database, user = (
        await read_form(request),
        _address(request),
        database_of(request),
        session_of(request).user,
    )
    label = form.need("label", "a label such as Home", most=30)
    to = read_address(form)
    if form.errors:
        return pages.answer(request, "address.html", status=422, form=form, saved=saved)
    (count,) = database.execute("SELECT COUNT(*) FROM addresses WHERE user = ?", [user]).fetchone()
    preferred = bool(form.text("preferred")) or not count or bool(saved and saved["preferred"])
    if preferred:
        database.execute("UPDATE addresses SET preferred = 0 WHERE user = ? AND preferred = 1", [user])
    database.execute(
        "INSERT OR REPLACE INTO addresses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [saved["id"] if saved else None, user, label, *to.values(), int(preferred)],
    )
    session_of(request).say(f"The address {label} is saved.")
    return redirect(request, "/account/addresses")


@needs_user
async def drop_address(request: Request) -> Response:
    """Delete an address that is not the preferred one."""
    saved = _address(request)
    if saved is None or saved["preferred"]:
        session_of(request).say("Your default address cannot be deleted.", "error")
    else:
        database_of(request).execute("DELETE FROM addresses WHERE id = ?", [saved["id"]])
        session_of(request).say(f"The address {saved['label']} is deleted.")
    return redirect(request, "/account/addresses")


@needs_user
async def wishes(request: Request) -> Response:
    """The wish list."""
    wished = items(
        database_of(request), "JOIN wishes AS w ON w.product = p.id WHERE w.user = ?", [session_of(request).user]
    )
    return pages.answer(request, "wishes.html", wished=wished)


@needs_user
async def change_wishes(request: Request) -> Response:
    """Put a product on the wish list or take it off."""
    form, user, database = await read_form(request), session_of(request).user, database_of(request)
    found = items(database, "WHERE p.id = ?", [form.number("product")])
    if not found:
        raise HTTPException(404)
    if form.text("do") == "add":
        database.execute("INSERT OR IGNORE INTO wishes VALUES (?, ?)", [user, found[0].id])
        session_of(request).say(f"{found[0].name} is on your wish list.")
    else:
        database.execute("DELETE FROM wishes WHERE user = ? AND product = ?", [user, found[0].id])
        session_of(request).say(f"{found[0].name} is off your wish list.")
    return redirect(request, safe_path(form.text("next"), "/wishes"))


def _address(request: Request) -> sqlite3.Row | None:
    """The saved address of this page; None on the page for a new one."""
    if "id" not in request.path_params:
        return None
    row: sqlite3.Row | None = (
        database_of(request)
        .execute(
            "SELECT * FROM addresses WHERE id = ? AND user = ?", [request.path_params["id"], session_of(request).user]
        )
        .fetchone()
    )
    if row is None:
        raise HTTPException(404)
    return row


def _bring_cart(database: sqlite3.Connection, guest: str, user: str) -> None:
    for variant, quantity in database.execute(
        "SELECT variant, quantity FROM cart_items WHERE owner = ? ORDER BY variant", [guest]
    ).fetchall():
        database.execute(
            "INSERT INTO cart_items VALUES (?1, ?2, ?3) ON CONFLICT (owner, variant)"
            " DO UPDATE SET quantity = MIN(quantity + ?3, ?4)",
            [user, variant, quantity, MOST],
        )
    database.execute("DELETE FROM cart_items WHERE owner = ?", [guest])
    database.execute("DELETE FROM cart_vouchers WHERE owner = ?", [guest])
