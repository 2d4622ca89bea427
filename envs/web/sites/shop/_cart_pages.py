"""The cart: what is in it, how many, and a voucher."""

from __future__ import annotations

from agent_envs.envs.web.sites._kit import read_form, redirect, safe_path, session_of
from agent_envs.envs.web.sites.shop._basket import MOST, discount
from agent_envs.envs.web.sites.shop._common import basket_of, database_of, owner_of, pages, today_of
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response


async def cart(request: Request) -> Response:
    """What is in the cart."""
    return pages.answer(request, "cart.html", basket=basket_of(request))


async def add(request: Request) -> Response:
    """Put a number of one variant into the cart."""
    form, database, session = await read_form(request), database_of(request), session_of(request)
    row = database.execute(
        "SELECT v.id, v.stock, p.name, p.slug FROM variants AS v JOIN products AS p ON p.id = v.product WHERE v.id = ?",
        [form.number("variant")],
    ).fetchone()
    if row is None:
        session.say("Choose a version first.", "error")
        return redirect(request, safe_path(form.text("next"), "/"))
    owner, quantity = owner_of(request, to_write=True), form.number("quantity", 1)
    held = _held(request, owner, row["id"])
    if quantity < 1:
        session.say("Choose a quantity of at least 1.", "error")
    elif held + quantity > min(row["stock"], MOST):
        session.say(_too_many(row["name"], row["stock"], held), "error")
    else:
        database.execute("INSERT OR REPLACE INTO cart_items VALUES (?, ?, ?)", [owner, row["id"], held + quantity])
        session.say(f"Added to your cart: {quantity} x {row['name']}.")
    return redirect(request, f"/p/{row['slug']}")


async def update(request: Request) -> Response:
    """Set how many of a line are wanted; 0 takes it out."""
    form, owner = await read_form(request), owner_of(request)
    line = next((one for one in basket_of(request).lines if one.variant == form.number("variant")), None)
    if line is None:
        raise HTTPException(404)
    quantity = form.number("quantity", -1)
    if quantity < 0:
        session_of(request).say("Enter a quantity as a number.", "error")
    elif quantity > line.most:
        session_of(request).say(_too_many(line.name, line.stock, 0), "error")
    elif quantity == 0:
        _take_out(request, owner, line.variant, line.name)
    else:
        database_of(request).execute(
            "UPDATE cart_items SET quantity = ? WHERE owner = ? AND variant = ?", [quantity, owner, line.variant]
        )
        session_of(request).say(f"You now have {quantity} x {line.name}.")
    return redirect(request, "/cart")


async def remove(request: Request) -> Response:
    """Take a line out of the cart."""
    form = await read_form(request)
    line = next((one for one in basket_of(request).lines if one.variant == form.number("variant")), None)
    if line is not None:
        _take_out(request, owner_of(request), line.variant, line.name)
    return redirect(request, "/cart")


async def voucher(request: Request) -> Response:
    """Use a voucher code, or leave it (an empty code)."""
    form, session, database = await read_form(request), session_of(request), database_of(request)
    code, owner = form.text("code").upper(), owner_of(request, to_write=True)
    if form.text("do") == "remove":
        database.execute("DELETE FROM cart_vouchers WHERE owner = ?", [owner])
        session.say("The voucher is removed.")
        return redirect(request, "/cart")
    off, problem = discount(database, code, basket_of(request).lines, today_of(request))
    if problem:
        session.say(problem if code else "Enter a voucher code.", "error")
    else:
        database.execute("INSERT OR REPLACE INTO cart_vouchers VALUES (?, ?)", [owner, code])
        session.say(f"Voucher {code} takes ${off // 100}.{off % 100:02d} off.")
    return redirect(request, "/cart")


def _held(request: Request, owner: str, variant: int) -> int:
    row = database_of(request).execute(
        "SELECT quantity FROM cart_items WHERE owner = ? AND variant = ?", [owner, variant]
    )
    return next((held for (held,) in row), 0)


def _take_out(request: Request, owner: str, variant: int, name: str) -> None:
    database_of(request).execute("DELETE FROM cart_items WHERE owner = ? AND variant = ?", [owner, variant])
    session_of(request).say(f"Removed from your cart: {name}.")


def _too_many(name: str, stock: int, held: int) -> str:
    if stock == 0:
        return f"{name} is sold out in this version."
    there = f"only {stock} of {name} {'is' if stock == 1 else 'are'} in stock" if stock < MOST else ""
    limit = there or f"you can order at most {MOST} of {name}"
    return f"Sorry, {limit}{f', and you have {held} in your cart' if held else ''}."
