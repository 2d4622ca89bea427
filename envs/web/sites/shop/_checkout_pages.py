"""Checkout in two steps: where and how to send it, then how it is paid; the order is placed by the second."""

from __future__ import annotations

from typing import Any

from agent_envs.envs.web.sites._kit import (
    Form,
    card_digits,
    card_token,
    luhn,
    needs_user,
    read_form,
    redirect,
    session_of,
    visit_of,
)
from agent_envs.envs.web.sites.shop._basket import Basket
from agent_envs.envs.web.sites.shop._common import basket_of, database_of, pages, today_of, user_of
from agent_envs.envs.web.sites.shop._tables import SHIPPING
from starlette.requests import Request
from starlette.responses import Response

_TO = ("name", "street", "postcode", "city", "phone")


@needs_user
async def delivery(request: Request) -> Response:
    """Ask where to send it and how."""
    return _delivery_page(request, Form())


@needs_user
async def choose_delivery(request: Request) -> Response:
    """Remember where to send it and how."""
    form = await read_form(request)
    saved = {str(one["id"]): one for one in _addresses(request)}
    chosen = form.choose("address", "a delivery address", [*saved, "new"])
    way = form.choose("shipping", "a way of delivery", list(SHIPPING))
    to = read_address(form) if chosen == "new" else {}
    if len(form.text("gift_note")) > 200:
        form.errors["gift_note"] = "The gift note can have at most 200 characters."
    if form.errors:
        return _delivery_page(request, form, status=422)
    if chosen != "new":
        to = {name: saved[chosen][name] for name in _TO}
    kept = {"to": {name: to[name] for name in _TO}, "shipping": way, "gift_note": form.text("gift_note")}
    session_of(request).data["checkout"] = kept
    return redirect(request, "/checkout/payment")


@needs_user
async def payment(request: Request) -> Response:
    """Ask for a card, beside everything that is about to be ordered."""
    return _payment_page(request, Form())


@needs_user
async def place(request: Request) -> Response:
    """Place the order."""
    form, plan, basket = await read_form(request), session_of(request).data.get("checkout"), basket_of(request)
    if plan is None or not basket.lines or basket.short:
        return _payment_page(request, form)
    name = form.need("card_name", "the name on the card")
    number = card_digits(form.need("card_number", "the card number", most=30))
    if number and not luhn(number):
        form.errors["card_number"] = "This card number is not valid. Check its digits."
    _check_expiry(request, form)
    code = form.need("card_code", "the security code", matches=r"\d{3,4}", hint="The security code has 3 or 4 digits.")
    if form.errors:
        return _payment_page(request, form, status=422)
    token = card_token(number, name=name, expiry=form.text("card_expiry"), code=code)
    order = _place(request, plan, basket, (number[-4:], token))
    del session_of(request).data["checkout"]
    session_of(request).say(f"Thank you! Your order {order} is placed.")
    return redirect(request, f"/orders/{order}")


def read_address(form: Form) -> dict[str, str]:
    """The address in a form, with what is wrong with it noted."""
    return {
        "name": form.need("name", "a name"),
        "street": form.need("street", "a street and house number", matches=r".*\d.*",
                            hint="Enter a street with a house number."),
        "postcode": form.need("postcode", "a postcode", matches=r"\d{5}", hint="A postcode has five digits."),
        "city": form.need("city", "a city"),
        "phone": form.need("phone", "a phone number", matches=r"[+\d][\d -]{5,19}",
                           hint="A phone number has digits, spaces and hyphens only."),
    }  # fmt: skip


def _check_expiry(request: Request, form: Form) -> None:
    text = form.need(
        "card_expiry", "when the card expires", matches=r"(0[1-9]|1[0-2]) ?/ ?\d{2}", hint="Write it as MM/YY."
    )
    if "card_expiry" in form.errors:
        return
    month, year = (int(part) for part in text.split("/"))
    now = today_of(request)
    if (2000 + year, month) < (now.year, now.month):
        form.errors["card_expiry"] = "This card has expired."


def _place(request: Request, plan: dict[str, Any], basket: Basket, card: tuple[str, str]) -> str:
    database, user = database_of(request), session_of(request).user
    (last,) = database.execute("SELECT MAX(CAST(SUBSTR(number, 3) AS INTEGER)) FROM orders").fetchone()
    number, way = f"M-{last + 1}", plan["shipping"]
    database.execute("BEGIN")
    database.execute(
        f"INSERT INTO orders VALUES ({', '.join('?' * 20)})",
        [number, user, visit_of(request).now.date().isoformat(), "processing", "", way, basket.items, basket.discount,
         basket.shipping(way), basket.total(way), basket.voucher if basket.discount else "",
         *(plan["to"][name] for name in _TO), *card, plan["gift_note"], ""],
    )  # fmt: skip
    for line in basket.lines:
        database.execute(
            "INSERT INTO order_items VALUES (?, ?, ?, ?)", [number, line.variant, line.quantity, line.cents]
        )
        database.execute("UPDATE variants SET stock = stock - ? WHERE id = ?", [line.quantity, line.variant])
    database.execute("DELETE FROM cart_items WHERE owner = ?", [user])
    database.execute("DELETE FROM cart_vouchers WHERE owner = ?", [user])
    database.execute("COMMIT")
    return number


def _addresses(request: Request) -> list[Any]:
    user = session_of(request).user
    rows = database_of(request).execute("SELECT * FROM addresses WHERE user = ? ORDER BY preferred DESC, id", [user])
    return rows.fetchall()


def _delivery_page(request: Request, form: Form, *, status: int = 200) -> Response:
    basket = basket_of(request)
    if not basket.lines or basket.short:
        return redirect(request, "/cart")
    return pages.answer(
        request, "delivery.html", status=status, basket=basket, form=form, addresses=_addresses(request),
        account=user_of(request),
    )  # fmt: skip


def _payment_page(request: Request, form: Form, *, status: int = 200) -> Response:
    basket, plan = basket_of(request), session_of(request).data.get("checkout")
    if not basket.lines or basket.short:
        return redirect(request, "/cart")
    if plan is None:
        return redirect(request, "/checkout")
    return pages.answer(request, "payment.html", status=status, basket=basket, plan=plan, form=form)
