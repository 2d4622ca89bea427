"""A world of the shop as a template sees it: who is signed in, what is there, and the steps that people take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, TypeVar

from agent_envs.envs.web.sites._kit import Form, card_token, money
from agent_envs.envs.web.sites.shop import SHOP
from agent_envs.envs.web.sites.shop._basket import Line, discount
from agent_envs.envs.web.sites.shop._categories import by_slug
from agent_envs.envs.web.sites.shop._people import customers
from agent_envs.envs.web.sites.shop._shelf import SORTS, Item, items, listing
from agent_envs.envs.web.sites.shop._tables import SHIPPING, shipping_price
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, check, choose, click, dialled, fill

from agent_envs.sites import World, untouched
from agent_envs.tools import ToolCall

T = TypeVar("T")
Row = dict[str, Any]
HOST = "shop.test"
_DAYS = ("2026-01-19", "2026-03-10", "2026-04-22", "2026-06-03", "2026-09-15", "2026-11-05")
_CARDS = ("4242 4242 4242 4242", "5555 5555 5555 4444", "4000 0566 5566 5556", "6011 1111 1111 1117")
_CODE = "123"


_LINES = """
SELECT i.*, o.delivered, o.placed, p.id AS product, p.name || CASE WHEN (SELECT COUNT(*) FROM variants
  WHERE product = p.id) > 1 THEN ', ' || v.name ELSE '' END AS label, p.name AS name, v.stock
FROM orders AS o JOIN order_items AS i ON i.order_number = o.number JOIN variants AS v ON v.id = i.variant
JOIN products AS p ON p.id = v.product WHERE o.user = ? AND o.status = ? ORDER BY o.placed, i.variant
"""


class Scene:
    """One world, seen before anybody has done anything in it."""

    def __init__(self, random: Chance) -> None:
        self.random = random
        seed = random.world
        self.me, self.name, self.password = customers(seed)[0]
        self.world = World(seed=seed, now=f"{_DAYS[seed % len(_DAYS)]}T09:30:00", user=self.me)
        self.database = untouched(SHOP, self.world)
        self.card = random.choice(_CARDS)
        self.expiry = f"{random.randrange(1, 13):02d}/{random.randrange(28, 33)}"

    @property
    def today(self) -> date:
        """The day of the visit."""
        return date.fromisoformat(self.world.now[:10])

    def rows(self, sql: str, *values: object) -> list[Row]:
        """The rows that a query finds."""
        return [dict(one) for one in self.database.execute(sql, values)]

    def bought(self, status: str) -> list[Row]:
        """What is in the user's orders of this status, line by line, the oldest order first."""
        return self.rows(_LINES, self.me, status)

    def addresses(self) -> tuple[Row, Row]:
        """The user's addresses: Home, which is the default, and Work."""
        home, work = self.rows("SELECT * FROM addresses WHERE user = ? ORDER BY id", self.me)
        return home, work

    def items(self, category: str = "") -> list[Item]:
        """All products, or those of a category."""
        return items(self.database, "WHERE p.category = ?", [category]) if category else items(self.database)

    def wished(self) -> list[Item]:
        """What is on the user's wish list, the cheapest first."""
        found = items(self.database, "JOIN wishes AS w ON w.product = p.id WHERE w.user = ?", [self.me])
        return sorted(found, key=lambda one: (one.cents, one.id))

    def versions(self, item: Item) -> list[Row]:
        """The variants of a product that can be bought."""
        return self.rows("SELECT * FROM variants WHERE product = ? AND stock > 0 ORDER BY id", item.id)

    def pick(self, found: Sequence[T], count: int = 1) -> list[T]:
        """Some of these by chance; raises `Unsuitable` where there are too few."""
        if len(found) < count:
            raise Unsuitable
        return self.random.sample(found, count)

    def one(self, found: Sequence[T]) -> T:
        """One of these by chance."""
        return self.pick(found)[0]

    def draft(
        self,
        prompt: str,
        checks: Sequence[Mapping[str, Any]],
        solution: Calls,
        wrong: Sequence[Calls],
        *,
        guest: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> Draft:
        """A task in this world."""
        world = replace(self.world, user="" if guest else self.me, options=options or {})
        return Draft(prompt=prompt, checks=checks, solution=solution, wrong=wrong, world=world)

    def to_pay(self, line_sum: int, off: int, way: str) -> int:
        """What an order comes to."""
        return line_sum - off + shipping_price(way, line_sum - off)

    def taken_off(self, code: str, bought: Sequence[tuple[Item, int]]) -> int:
        """What a voucher takes off these products."""
        lines = [Line(0, 0, "", "", "", one.category, one.cents, 99, quantity) for one, quantity in bought]
        return discount(self.database, code, lines, self.today)[0]

    def card_words(self) -> str:
        """The card, as a prompt gives it."""
        return f"the card {self.card} (name on card: {self.name}, expiry date: {self.expiry}, security code: {_CODE})"

    @property
    def card_token(self) -> str:
        """What the shop keeps of the card."""
        return card_token(self.card, name=self.name, expiry=self.expiry, code=_CODE)

    def pay(self, *, code: str = "") -> Calls:
        """Fill in the card, with another security code where one is given, and place the order."""
        return (
            fill("textbox", "Name on card", self.name),
            fill("textbox", "Card number", self.card),
            fill("textbox", "Expiry date", self.expiry),
            fill("textbox", "Security code", code or _CODE),
            click("button", "Place order"),
        )


def changes(*wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The check that these rows changed and nothing else did."""
    return {"check": "rows", "host": HOST, "wanted": list(wanted)}


def only_looked() -> dict[str, Any]:
    """The check that nothing changed but the cart, which adds up prices for whoever asks."""
    return {**changes(), "free": [{"table": "cart_items"}, {"table": "cart_vouchers"}]}


def row(table: str, kind: str, where: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One row that has to change."""
    made: dict[str, Any] = {"table": table, "kind": kind, "where": dict(where)}
    return {**made, "where_before": dict(before)} if before else made


def answers(kind: str, expected: object, **options: object) -> dict[str, Any]:
    """The check that this was answered."""
    return {"check": "answer", "type": kind, "expected": expected, **options}


def dollars(cents: int) -> dict[str, Any]:
    """The check that this sum was answered."""
    return answers("money", f"{cents / 100:.2f}", currency="USD")


def search(words: str) -> ToolCall:
    """Search for something."""
    return fill("combobox", "Search products", words, enter=True)


def show(item: Item) -> Calls:
    """Open the page of a product."""
    return (search(item.name), click("link", item.name))


def narrowed(scene: Scene, slug: str, filters: Sequence[tuple[str, str]], *, sort: str = "") -> Calls:
    """Open a category from the front page, choose filters one after the other, and an order."""
    found, form, calls = scene.items(slug), Form(), [click("link", by_slug()[slug].name)]
    for field, value in filters:
        facets = listing(found, form).facets
        labels = [f"{option} ({count})" for facet in facets for option, count, _ in facet.options]
        label = next(
            f"{option} ({count})"
            for one in facets
            if one.field == field
            for option, count, _ in one.options
            if option == value
        )
        if labels.count(label) > 1:
            raise Unsuitable  # Two check boxes of the same name cannot be told apart.
        calls.append(check("checkbox", label))
        form.fields.setdefault(field, []).append(value)
    if sort:
        calls.append(choose("Sort by", SORTS[sort]))
    return tuple(calls)


def put(item: Item, *, version: Row | None = None, quantity: int = 1) -> Calls:
    """Put a product into the cart."""
    return (*show(item), *take(item, version=version, quantity=quantity))


def take(item: Item, *, version: Row | None = None, quantity: int = 1) -> Calls:
    """The same on the page of the product."""
    calls = []
    if version is not None and len(item.kind.variants) > 1:
        left = f"only {version['stock']} left" if version["stock"] <= 3 else "in stock"
        calls.append(choose("Version", f"{version['name']} ({left})"))
    if quantity > 1:
        calls.append(fill("spinbutton", "Quantity", str(quantity)))
    return (*calls, click("button", "Add to cart"))


def in_cart(me: str, variants: Sequence[int], quantity: int = 1) -> dict[str, Any]:
    """The row of a cart for one of these variants."""
    return row("cart_items", "added", {"owner": me, "variant": {"in": list(variants)}, "quantity": quantity})


def to_checkout(things: int) -> Calls:
    """Open the cart with so many things in it and go on to the checkout."""
    return (click("link", f"Cart ({things})"), click("link", "Check out"))


def send_to(address: Row) -> ToolCall:
    """Choose a saved address at the checkout."""
    name = f"{address['label']} {address['name']}, {address['street']}, {address['postcode']} {address['city']}"
    return check("radio", name)


def send_by(way: str, sum_cents: int) -> ToolCall:
    """Choose a way of delivery for goods of this sum."""
    label, detail, _ = SHIPPING[way]
    cost = shipping_price(way, sum_cents)
    return check("radio", f"{label} ({money(cost) if cost else 'free'}) {detail}")


def ship(address: Row) -> dict[str, Any]:
    """The columns of an order that say where it goes."""
    exact = {f"ship_{name}": address[name] for name in ("name", "street", "postcode", "city")}
    return {**exact, "ship_phone": dialled(address["phone"])}
