"""Tasks at the shop that place an order: where to, how, with which card and which voucher."""

from __future__ import annotations

from random import Random
from typing import Any

from agent_envs.envs.web.sites.shop._shelf import Item
from agent_envs.envs.web.tasks._shop_scene import (
    Row,
    Scene,
    changes,
    in_cart,
    put,
    row,
    send_by,
    send_to,
    ship,
    to_checkout,
)
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, check, click, fill, submit

_SHIPPED = {"standard": "Standard delivery", "express": "Express delivery", "pickup": "Collect from a shop"}


def order(random: Chance, level: str) -> Draft:
    """Buy something: what, how many, where to, how, paid with which card."""
    scene = Scene(random)
    item = scene.one([one for one in scene.items() if one.stock > 6])
    version = scene.one([one for one in scene.versions(item) if one["stock"] > 3])
    quantity = 1 if level == "easy" else random.randrange(2, 4)
    way = "standard" if level == "easy" else random.choice(("express", "pickup"))
    home, work = scene.addresses()
    to = work if level == "medium" else home
    note = random.choice(("Happy birthday, Kim!", "Get well soon", "Thanks for everything")) if level == "hard" else ""
    new = _new_address(random, scene.name) if level == "hard" else None
    where = f"my {to['label']} address" if new is None else _spoken(new)
    prompt = (
        f"Order {quantity} x {item.name}{_in_version(item, version)}. Have it sent to {where} with “{_SHIPPED[way]}”,"
        f" and pay with {scene.card_words()}."
        + (f" Add the gift note “{note}”." if note else " No gift note.")
        + " Buy nothing else."
    )

    def bought(to: Row | None, way: str, quantity: int, note: str, *, new: Row | None = new, code: str = "") -> Calls:
        place = (send_to(to),) if to is not None else _fill_address(new or {})
        noted = (fill("textbox", "Gift note (optional)", note),) if note else ()
        return (
            *put(item, version=version, quantity=quantity), *to_checkout(quantity), *place,
            send_by(way, item.cents * quantity), *noted, click("button", "Continue to payment"),
            *scene.pay(code=code), submit(),
        )  # fmt: skip

    target = None if new else to
    checks = [changes(*_ordered(scene, [(item, version, quantity)], way, new or to, note=note))]
    wrong = [
        bought(target, "standard" if way != "standard" else "express", quantity, note),
        bought(target, way, quantity + 1, note),
        bought(work if to is home else home, way, quantity, note),
        (*put(item, version=version, quantity=quantity), submit()),
        bought(target, way, quantity, note, code="321"),
    ]
    if new:
        wrong.append(bought(None, way, quantity, note, new={**new, "phone": "555-001-2020"}))
    return scene.draft(prompt, checks, bought(target, way, quantity, note), wrong)


def voucher(random: Chance, level: str) -> Draft:
    """Use a voucher: one that is named, the one for a department, or the one that saves most."""
    scene = Scene(random)
    shelf = [one for one in scene.items() if one.stock > 6 and one.cents > 9_000]
    item = scene.one([one for one in shelf if level != "medium" or one.kind.department in ("Kitchen", "Sound")])
    version = scene.one([one for one in scene.versions(item) if one["stock"] > 2])
    valid = scene.rows("SELECT * FROM vouchers WHERE ends >= ? ORDER BY code", scene.today.isoformat())
    saved = sorted(((scene.taken_off(one["code"], [(item, 1)]), one["code"]) for one in valid), reverse=True)
    code, named = {
        "easy": (saved[1][1], f"apply the voucher {saved[1][1]}"),
        "medium": (
            next((one["code"] for one in valid if one["department"] == item.kind.department), ""),
            f"apply the voucher for {_MEANT.get(item.kind.department)} that is on the Offers page",
        ),
        "hard": (saved[0][1], "apply, of the vouchers on the Offers page, the one that takes most off this order"),
    }[level]
    other = next((name for off, name in saved if name != code and off), "")
    if saved[0][0] == saved[1][0] or not other or not scene.taken_off(code, [(item, 1)]):
        raise Unsuitable
    prompt = f"Put one {item.name}{_in_version(item, version)} into the cart and {named}."
    in_the_cart = (*put(item, version=version), click("link", "Cart (1)"))
    used, slip = (
        (*in_the_cart, fill("textbox", "Voucher code", one), click("button", "Apply voucher")) for one in (code, other)
    )
    if level == "hard":
        return _with_voucher(scene, prompt, (item, version), {code: used, other: slip, "": in_the_cart})
    kept = row("cart_vouchers", "added", {"owner": scene.me, "code": code})
    checks = [changes(in_cart(scene.me, [version["id"]]), kept)]
    wrong = [(*slip, submit()), (*in_the_cart, submit())]
    return scene.draft(f"{prompt} Do not order yet.", checks, (*used, submit()), wrong)


def _with_voucher(scene: Scene, prompt: str, bought: tuple[Item, Row], carts: dict[str, Calls]) -> Draft:
    """The same, and then the order; `carts` says by voucher how it gets into the cart, the right one first."""
    home, _ = scene.addresses()
    item, version = bought
    code, *_ = carts
    off = {name: scene.taken_off(name, [(item, 1)]) for name in carts}
    prompt += (
        f" Then order it to my default address with “Standard delivery”, and pay with {scene.card_words()}."
        " No gift note. Buy nothing else."
    )
    # What delivery costs may depend on the voucher, and the label of the choice says what it costs.
    ends = {
        name: (
            *calls, click("link", "Check out"), send_to(home), send_by("standard", item.cents - off[name]),
            click("button", "Continue to payment"), *scene.pay(), submit(),
        )
        for name, calls in carts.items()
    }  # fmt: skip
    checks = [changes(*_ordered(scene, [(item, version, 1)], "standard", home, code=code, off=off[code]))]
    solution, *wrong = ends.values()
    return scene.draft(prompt, checks, solution, [*wrong, (*carts[code], submit())])


_MEANT = {"Kitchen": "kitchen products", "Sound": "headphones and speakers"}


def _ordered(
    scene: Scene,
    bought: list[tuple[Item, Row, int]],
    way: str,
    to: Row,
    *,
    note: str = "",
    code: str = "",
    off: int = 0,
) -> list[dict[str, Any]]:
    """The rows of an order, and of the stock that it takes."""
    together = sum(item.cents * quantity for item, _, quantity in bought)
    placed = {
        "user": scene.me, "status": "processing", "shipping": way, "items_cents": together, "discount_cents": off,
        "total_cents": scene.to_pay(together, off, way), "voucher": code, "gift_note": note,
        "card": scene.card.replace(" ", "")[-4:], "card_token": scene.card_token, **ship(to),
    }  # fmt: skip
    rows = [row("orders", "added", placed)]
    for item, version, quantity in bought:
        rows.append(row("order_items", "added", {"variant": version["id"], "quantity": quantity, "cents": item.cents}))
        rows.append(row("variants", "changed", {"id": version["id"], "stock": version["stock"] - quantity}))
    return rows


def _in_version(item: Item, version: Row) -> str:
    return f" in the version “{version['name']}”" if len(item.kind.variants) > 1 else ""


def _new_address(random: Random, name: str) -> dict[str, str]:
    street = f"{random.randrange(2, 99)} {random.choice(('Cedar Court', 'Lake View', 'Quarry Road'))}"
    city, postcode = random.choice((("Hillsboro", "97123"), ("Newton", "67114"), ("Dover", "19901")))
    return {
        "name": name,
        "street": street,
        "postcode": postcode,
        "city": city,
        "phone": f"555-{random.randrange(100, 999)}-2020",
    }


def _spoken(new: Row) -> str:
    place = f"{new['name']}, {new['street']}, {new['postcode']} {new['city']}, phone {new['phone']}"
    return f"another address ({place}; do not save it)"


def _fill_address(new: Row) -> Calls:
    labels = {
        "name": "Full name",
        "street": "Street and number",
        "postcode": "Postcode",
        "city": "City",
        "phone": "Phone",
    }
    return (check("radio", "Another address"), *(fill("textbox", label, new[name]) for name, label in labels.items()))


TEMPLATES = {"order": order, "voucher": voucher}
"""By name."""
