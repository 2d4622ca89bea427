"""Tasks at the shop about orders of the past and about the account: returns, addresses, profile, reviews, wishes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from agent_envs.envs.web.sites.shop._account_pages import NEWSLETTERS
from agent_envs.envs.web.sites.shop._order_pages import CANCEL_REASONS, REMEDIES, RETURN_REASONS
from agent_envs.envs.web.tasks._shop_scene import Row, Scene, changes, in_cart, put, row
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, check, choose, click, fill, submit


def return_item(random: Chance, level: str) -> Draft:
    """Send something back, for a reason, and say what is wanted for it."""
    scene = Scene(random)
    reason, other = scene.pick(RETURN_REASONS, 2)
    remedy, another = scene.pick(sorted(REMEDIES), 2)
    which, chosen, slip = _to_return(scene, level)
    prompt = f"{which} The reason is “{reason}”, and what I would like is “{REMEDIES[remedy]}”. No comment."
    checks = [changes(*(_returned(one, quantity, reason, remedy) for one, quantity in chosen))]
    solution = _send_back(chosen, reason, remedy)
    wrong = [
        _send_back(chosen, other, remedy),
        _send_back(chosen, reason, another),
        (*solution[:-2], submit()),
        *([_send_back(slip, reason, remedy)] if slip else []),
    ]
    return scene.draft(prompt, checks, solution, wrong)


def _to_return(scene: Scene, level: str) -> tuple[str, list[tuple[Row, int]], list[tuple[Row, int]]]:
    """What is asked for, the lines and quantities that are meant, and others that somebody might take for them."""
    lines = [one for one in scene.bought("delivered") if _lately(scene, one["delivered"])]
    if level == "easy":
        line = scene.one(lines)
        which = f"Return the {line['name']} (all that I got of it) from my order {line['order_number']}."
        return which, [(line, line["quantity"])], [(one, one["quantity"]) for one in lines if one is not line][:1]
    if level == "medium":
        line = scene.one([one for one in lines if one["quantity"] > 1])
        which = f"I got {line['quantity']} x {line['name']} lately. Return just one of them."
        return which, [(line, 1)], [(line, line["quantity"])]
    days = sorted({(one["delivered"], one["order_number"]) for one in lines}, reverse=True)
    if len(days) < 2 or days[0][0] == days[1][0]:
        raise Unsuitable
    last, before = (
        [(one, one["quantity"]) for one in lines if one["order_number"] == number] for _, number in days[:2]
    )
    return "Return everything of the order that was delivered to me last.", last, before


def _send_back(chosen: Sequence[tuple[Row, int]], reason: str, remedy: str) -> Calls:
    number = chosen[0][0]["order_number"]
    calls = [click("link", "Orders"), click("link", f"Order {number}"), click("link", "Return items")]
    for one, quantity in chosen:
        calls.append(check("checkbox", one["label"]))
        if one["quantity"] > 1:
            calls.append(choose(f"Quantity of {one['name']}", str(quantity)))
    return (
        *calls, choose("Why?", reason), check("radio", REMEDIES[remedy]), click("button", "Register return"),
        click("button", "Yes, register it"), submit(),
    )  # fmt: skip


def cancel_order(random: Chance, level: str) -> Draft:
    """Take an order back before it is sent."""
    scene = Scene(random)
    lines = scene.bought("processing")
    number, reason = lines[0]["order_number"], random.choice(CANCEL_REASONS)
    line = scene.one(lines)
    asked = f"The reason is “{reason}”."
    prompt = {
        "easy": f"Cancel my order {number}. {asked}",
        "medium": f"Cancel the order with the {line['name']} that has not been sent yet. {asked}",
        "hard": f"Cancel my order that has not been sent yet. {asked} Then put the {line['name']} from it into the cart"
        " once, in the version that was ordered, and do not order it.",
    }[level]

    def cancelled(reason: str) -> Calls:
        return (
            click("link", "Orders"), click("link", f"Order {number}"), choose("Reason", reason),
            click("button", "Cancel order"), click("button", "Yes, cancel it"),
        )  # fmt: skip

    rows = [row("orders", "changed", {"number": number, "status": "cancelled", "cancel_reason": reason})]
    rows += [
        row("variants", "changed", {"id": one["variant"], "stock": one["stock"] + one["quantity"]}) for one in lines
    ]
    after: Calls = ()
    if level == "hard":
        rows.append(in_cart(scene.me, [line["variant"]]))
        item = next(one for one in scene.items() if one.id == line["product"])
        version = scene.rows(
            "SELECT id, product, name, stock + ? AS stock FROM variants WHERE id = ?", line["quantity"], line["variant"]
        )[0]
        after = put(item, version=version)
    other = next(one for one in CANCEL_REASONS if one != reason)
    wrong = [
        (*cancelled(other), *after, submit()),
        (*cancelled(reason)[:-1], click("button", "Keep the order"), submit()),
    ]
    if after:
        wrong.append((*cancelled(reason), submit()))
    return scene.draft(prompt, [changes(*rows)], (*cancelled(reason), *after, submit()), wrong)


def address(random: Chance, level: str) -> Draft:
    """Change an address, add one, or move the default."""
    scene = Scene(random)
    new = {
        "street": f"{random.randrange(2, 99)} {random.choice(('Cedar Court', 'Lake View', 'Quarry Road'))}",
        **random.choice(_PLACES),
        "phone": f"555-{random.randrange(100, 999)}-{random.randrange(1000, 9999)}",
    }
    return {"easy": _new_street, "medium": _another_address, "hard": _moved}[level](scene, new)


def _new_street(scene: Scene, new: Row) -> Draft:
    _, work = scene.addresses()
    prompt = f"Change the street of my Work address to “{new['street']}”. Leave everything else as it is."
    checks = [changes(row("addresses", "changed", {"id": work["id"], "street": new["street"]}))]
    typed = fill("textbox", "Street and number", new["street"])
    right, wrong = ((*_to_addresses(scene), click("link", f"Edit {label}"), typed) for label in ("Work", "Home"))
    return scene.draft(prompt, checks, (*right, _SAVE, submit()), [(*wrong, _SAVE, submit()), (*right, submit())])


def _another_address(scene: Scene, new: Row) -> Draft:
    home, _ = scene.addresses()
    label = scene.one(("Cabin", "Parents", "Studio"))
    prompt = f"Add a new address for {scene.name} with the label “{label}”: {_spoken(new)}. Make it my default address."
    added = {"user": scene.me, "label": label, "name": scene.name, **new, "preferred": 1}
    checks = [
        changes(row("addresses", "added", added), row("addresses", "changed", {"id": home["id"], "preferred": 0}))
    ]
    start, typed = _to_addresses(scene), (fill("textbox", "Label", label), *_typed(new))
    calls = (*start, click("link", "Add an address"), *typed)
    wrong = [(*calls, _SAVE, submit()), (*start, click("link", "Edit Home"), *typed, _SAVE, submit())]
    return scene.draft(prompt, checks, (*calls, _DEFAULT, _SAVE, submit()), wrong)


def _moved(scene: Scene, new: Row) -> Draft:
    home, work = scene.addresses()
    prompt = (
        f"My office has moved: change my Work address to {_spoken(new)}. Make it my default address, and delete the"
        " Home address."
    )
    changed = row("addresses", "changed", {"id": work["id"], **new, "preferred": 1})
    checks = [changes(changed, row("addresses", "removed", {"id": home["id"]}))]
    calls = (*_to_addresses(scene), click("link", "Edit Work"), *_typed(new))
    drop = (click("button", "Delete Home"), click("button", "Yes, delete it"))
    wrong = [(*calls, _DEFAULT, _SAVE, submit()), (*calls, _SAVE, submit())]
    return scene.draft(prompt, checks, (*calls, _DEFAULT, _SAVE, *drop, submit()), wrong)


_PLACES = (
    {"postcode": "97123", "city": "Hillsboro"},
    {"postcode": "67114", "city": "Newton"},
    {"postcode": "19901", "city": "Dover"},
)
_SAVE, _DEFAULT = click("button", "Save address"), check("checkbox", "Use as default address")


def _to_addresses(scene: Scene) -> Calls:
    return (click("link", f"Account {scene.name}"), click("link", "Addresses Where we send things"))


def _typed(new: Row) -> Calls:
    labels = {"street": "Street and number", "postcode": "Postcode", "city": "City", "phone": "Phone"}
    return tuple(fill("textbox", label, new[name]) for name, label in labels.items())


def _spoken(new: Row) -> str:
    return f"{new['street']}, {new['postcode']} {new['city']}, phone {new['phone']}"


def profile(random: Chance, level: str) -> Draft:
    """Change what the shop knows about somebody, signing in first where nobody is."""
    scene = Scene(random)
    letter = random.choice(("weekly", "monthly"))
    other = "monthly" if letter == "weekly" else "weekly"
    phone = f"555-{random.randrange(100, 999)}-{random.randrange(1000, 9999)}"
    name = f"{scene.name} {random.choice(('Adler', 'Sorensen', 'Ng'))}"
    often = {"weekly": "every week", "monthly": "once a month"}
    wish = f"subscribe me to the newsletter that comes {often[letter]}"
    wanted: dict[str, Any] = {"email": scene.me, "newsletter": letter}
    steps: list[Any] = [check("radio", NEWSLETTERS[letter])]
    prompt = f"In my profile, {wish}. Leave everything else as it is."
    start: Calls = (click("link", f"Account {scene.name}"),)
    if level != "easy":
        prompt = f"In my profile, change my name to “{name}” and my phone number to {phone}, and {wish}."
        wanted |= {"name": name, "phone": phone}
        steps += [fill("textbox", "Full name", name), fill("textbox", "Phone", phone)]
    if level == "hard":
        prompt = f"Sign in as {scene.me} with the password {scene.password}. {prompt}"
        start = (
            click("link", "Sign in"), fill("textbox", "Email address", scene.me),
            fill("textbox", "Password", scene.password), click("button", "Sign in"), *start,
        )  # fmt: skip
    opened = (*start, click("link", "Profile and newsletter Name, phone and how often we write"))
    save = (click("button", "Save profile"), submit())
    checks = [changes(row("users", "changed", wanted))]
    wrong = [
        (*opened, *steps, submit()),
        (*opened, check("radio", NEWSLETTERS[other]), *steps[1:], *save),
        *([(*opened, *steps[:-1], *save)] if len(steps) > 1 else []),
    ]
    return scene.draft(prompt, checks, (*opened, *steps, *save), wrong, guest=level == "hard")


def _lately(scene: Scene, delivered: str) -> bool:
    return (scene.today - date.fromisoformat(delivered)).days <= 30


def _returned(line: Row, quantity: int, reason: str, remedy: str) -> dict[str, Any]:
    where = {"order_number": line["order_number"], "variant": line["variant"], "quantity": quantity}
    return row("returns", "added", {**where, "reason": reason, "remedy": remedy, "comment": ""})


TEMPLATES = {
    "address": address,
    "cancel_order": cancel_order,
    "profile": profile,
    "return_item": return_item,
}
"""By name."""
