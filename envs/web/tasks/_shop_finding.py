"""Tasks at the shop whose result is an answer: prices, specifications, numbers of products, reviews, past orders."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_envs.envs.web.sites._kit import money
from agent_envs.envs.web.sites.shop._categories import Spec, categories
from agent_envs.envs.web.sites.shop._shelf import Item, spec_field
from agent_envs.envs.web.sites.shop._tables import shipping_price
from agent_envs.envs.web.tasks._shop_scene import Scene, answers, dollars, narrowed, only_looked, show
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, click, submit

_PRICE = "Answer with the amount in dollars."


def price(random: Chance, level: str) -> Draft:
    """What something costs: one product, several, or an order with voucher and delivery that is not placed."""
    scene = Scene(random)
    first, second = scene.pick([one for one in scene.items() if one.stock > 8], 2)
    if level == "easy":
        prompt, right, slip = f"What does the {first.name} cost? {_PRICE}", first.cents, first.was or second.cents
        return scene.draft(prompt, [dollars(right), only_looked()], *_answered(show(first), money(right), money(slip)))
    many, more = random.randrange(2, 5), random.randrange(2, 4)
    together = first.cents * many + second.cents * more
    what = f"{many} pieces of the {first.name} and {more} pieces of the {second.name}"
    looked = (*show(first), *show(second))
    if level == "medium":
        prompt = f"What do {what} cost together, without delivery and without any voucher? {_PRICE}"
        wrong = money(first.cents + second.cents)
        return scene.draft(prompt, [dollars(together), only_looked()], *_answered(looked, money(together), wrong))
    code = next(one["code"] for one in scene.rows("SELECT code FROM vouchers WHERE code LIKE 'TENOFF%'"))
    off = scene.taken_off(code, [(first, many), (second, more)])
    if not off:
        raise Unsuitable
    total = scene.to_pay(together, off, "express")
    prompt = (
        f"How much would I have to pay in all for {what}, with the voucher {code} and Express delivery? {_PRICE}"
        " Do not place the order."
    )
    calls = (*looked, click("link", "Offers"))
    wrong = money(together - off + shipping_price("standard", together - off))
    return scene.draft(prompt, [dollars(total), only_looked()], *_answered(calls, money(total), wrong))


def best_spec(random: Chance, level: str) -> Draft:
    """Which of some products has most or least of something."""
    scene = Scene(random)
    kind, spec = scene.one([(kind, spec) for kind in categories() for spec in kind.specs if spec.range])
    shelf = scene.items(kind.slug)
    some = scene.pick(shelf, {"easy": 2, "medium": 4, "hard": 3}[level])
    scope = f"Which of these {kind.name.lower()}"
    listed = ", ".join(one.name for one in some[:-1]) + f" and {some[-1].name}"
    calls: Calls = tuple(call for one in some for call in show(one))
    if level == "hard":
        brand = some[0].brand
        some = [one for one in shelf if one.brand == brand]
        if len(some) < 4:
            raise Unsuitable
        scope, listed = f"Of all {kind.name.lower()} of the brand {brand}, sold out or not, which one", ""
        calls = narrowed(scene, kind.slug, [("brand", brand)])
    most = random.random() < 0.5
    ordered = sorted(some, key=lambda one: (_amount(one, spec), one.id), reverse=most)
    if _amount(ordered[0], spec) == _amount(ordered[1], spec):
        raise Unsuitable
    prompt = (
        f"{scope} has the {'highest' if most else 'lowest'} value of “{spec.name}” in its specifications"
        f"{': ' + listed if listed else ''}? Answer with the full name of the product."
    )
    right, wrong = ordered[0].name, ordered[1].name
    return scene.draft(prompt, [answers("text", right), only_looked()], *_answered(calls, right, wrong))


def count(random: Chance, level: str) -> Draft:
    """How many products fit some conditions."""
    scene = Scene(random)
    kind, spec = scene.one([(kind, spec) for kind in categories() for spec in kind.specs if spec.facet])
    shelf = scene.items(kind.slug)
    brand, value = scene.one(shelf).brand, scene.one(shelf).specs[spec.name]
    limit = sorted(one.cents for one in shelf)[len(shelf) * 2 // 3] // 1000 * 10
    tests: list[tuple[str, Callable[[Item], bool]]] = [
        (f"are of the brand {brand}", lambda one: one.brand == brand),
        (f"have “{spec.name}: {value}” in their specifications", lambda one: one.specs[spec.name] == value),
        (f"cost at most ${limit}", lambda one: one.cents <= limit * 100),
        ("have a customer rating of at least 4.0 out of 5", lambda one: one.stars >= 4),
    ]
    chosen = {"easy": tests[:1], "medium": tests[1:3], "hard": tests[1:]}[level]
    right = sum(all(test(one) for _, test in chosen) for one in shelf)
    wrong = sum(chosen[0][1](one) for one in shelf) if len(chosen) > 1 else right + 1
    if right in (0, wrong):
        raise Unsuitable
    filters = [("brand", brand)] if level == "easy" else [(spec_field(spec.name), value)]
    conditions = " and ".join([", ".join(words for words, _ in chosen[:-1]), chosen[-1][0]]).removeprefix(" and ")
    prompt = f"How many of the shop's {kind.name.lower()}, sold out or not, {conditions}? Answer with a number."
    calls = narrowed(scene, kind.slug, filters)
    return scene.draft(prompt, [answers("number", right), only_looked()], *_answered(calls, str(right), str(wrong)))


def reviews(random: Chance, level: str) -> Draft:
    """What the reviews of a product say."""
    scene = Scene(random)
    item = scene.one([one for one in scene.items() if one.count >= 5])
    found = scene.rows("SELECT * FROM reviews WHERE product = ? ORDER BY written, id", item.id)
    if level == "easy":
        stars = scene.one(found)["stars"]
        right = sum(one["stars"] == stars for one in found)
        prompt = (
            f"How many reviews of the {item.name} give exactly {stars} star{'s' * (stars > 1)}? Answer with a number."
        )
        return scene.draft(
            prompt, [answers("number", right), only_looked()], *_answered(show(item), str(right), str(len(found)))
        )
    if level == "medium":
        if found[0]["written"] == found[1]["written"]:
            raise Unsuitable
        first, last = found[0]["written"], found[-1]["written"]
        prompt = (
            f"On which day was the oldest review of the {item.name} written? Answer with a date such as 2026-01-31."
        )
        return scene.draft(prompt, [answers("date", first), only_looked()], *_answered(show(item), first, last))
    worst = [one for one in found if one["stars"] == min(one["stars"] for one in found)]
    if len(worst) != 1:
        raise Unsuitable
    other = next(one["author"] for one in found if one["author"] != worst[0]["author"])
    prompt = f"Who wrote the review that gives the {item.name} the fewest stars? Answer with the name as it is shown."
    right = worst[0]["author"]
    return scene.draft(prompt, [answers("text", right), only_looked()], *_answered(show(item), right, other))


def spent(random: Chance, level: str) -> Draft:
    """Sums over the orders of the past."""
    scene = Scene(random)
    orders = scene.rows("SELECT * FROM orders WHERE user = ? ORDER BY placed", scene.me)
    start = click("link", "Orders")
    if level == "easy":
        order = scene.one([one for one in orders if one["shipping_cents"]])
        prompt = f"How much did I pay in all for my order {order['number']}? {_PRICE}"
        right, wrong = order["total_cents"], order["items_cents"]
        calls: Calls = (start, click("link", f"Order {order['number']}"))
    elif level == "medium":
        counted = [one for one in orders if one["status"] == "delivered"]
        prompt = f"How much did I pay in all, delivery included, for those of my orders that were delivered? {_PRICE}"
        right, wrong = (sum(one["total_cents"] for one in some) for some in (counted, orders))
        calls = (start,)
    else:
        return _spent_on_brand(scene, start)
    return scene.draft(prompt, [dollars(right), only_looked()], *_answered(calls, money(right), money(wrong)))


def _spent_on_brand(scene: Scene, start: object) -> Draft:
    lines = scene.rows(
        "SELECT o.number, o.status, p.brand, i.quantity, i.cents FROM orders o JOIN order_items i ON i.order_number ="
        " o.number JOIN variants v ON v.id = i.variant JOIN products p ON p.id = v.product WHERE user = ?", scene.me,
    )  # fmt: skip
    counted = [one for one in lines if one["status"] != "cancelled"]
    brand = scene.one(sorted({one["brand"] for one in counted if sum(o["brand"] == one["brand"] for o in counted) > 1}))
    mine = [one for one in counted if one["brand"] == brand]
    right = sum(one["cents"] * one["quantity"] for one in mine)
    wrong = sum(one["cents"] for one in mine)
    if right == wrong:
        raise Unsuitable
    prompt = (
        f"How much have I spent on products of the brand {brand} in all of my orders so far? Count what the items cost,"
        f" without delivery, and leave out cancelled orders. {_PRICE}"
    )
    calls = [click("link", "Orders")]
    for number in sorted({one["number"] for one in mine}):
        calls += [click("link", f"Order {number}"), click("link", "Orders")]
    return scene.draft(prompt, [dollars(right), only_looked()], *_answered(tuple(calls), money(right), money(wrong)))


def _answered(calls: Calls, right: str, wrong: str) -> tuple[Calls, tuple[Calls, ...]]:
    """The solution that looks and answers; the wrong ends: another answer, and none."""
    if right == wrong:
        raise Unsuitable
    return (*calls, submit(right)), ((*calls, submit(wrong)), (*calls, submit()))


def _amount(item: Item, spec: Spec) -> int:
    found = re.match(r"\d+", item.specs[spec.name])
    return int(found[0]) if found else 0


TEMPLATES = {"best_spec": best_spec, "count": count, "price": price, "reviews": reviews, "spent": spent}
"""By name."""
