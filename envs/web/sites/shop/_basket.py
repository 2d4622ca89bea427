"""What is in a cart and what it costs: one sum for the cart, the checkout and the order."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import date

from agent_envs.envs.web.sites.shop._categories import by_slug
from agent_envs.envs.web.sites.shop._tables import shipping_price

MOST = 10
"""Of one variant in one cart."""


@dataclass(slots=True)
class Line:
    """One variant in a cart."""

    variant: int
    product: int
    slug: str
    name: str
    version: str
    """The variant's name; empty where the product has one only."""
    category: str
    cents: int
    stock: int
    quantity: int

    @property
    def sum(self) -> int:
        """Price times quantity."""
        return self.cents * self.quantity

    @property
    def most(self) -> int:
        """How many can be had."""
        return min(self.stock, MOST)


@dataclass(slots=True)
class Basket:
    """A cart with its voucher, where it has one that counts."""

    lines: list[Line]
    voucher: str = ""
    discount: int = 0
    problem: str = ""
    """Why the voucher does not count (any more)."""
    short: list[Line] = field(default_factory=list)
    """Lines with more than there is."""

    @property
    def count(self) -> int:
        """Things in the cart."""
        return sum(line.quantity for line in self.lines)

    @property
    def items(self) -> int:
        """The sum before discount and shipping."""
        return sum(line.sum for line in self.lines)

    def shipping(self, way: str) -> int:
        """What this way of shipping costs."""
        return shipping_price(way, self.items - self.discount)

    def total(self, way: str) -> int:
        """What is to be paid."""
        return self.items - self.discount + self.shipping(way)


def basket(database: sqlite3.Connection, owner: str, today: date) -> Basket:
    """The cart of an owner: a user's address or a guest's session."""
    rows = database.execute(
        "SELECT v.id AS variant, p.id AS product, slug, p.name, v.name AS version, category, cents, stock, quantity,"
        " (SELECT COUNT(*) FROM variants WHERE product = p.id) AS versions FROM cart_items AS c"
        " JOIN variants AS v ON v.id = c.variant JOIN products AS p ON p.id = v.product"
        " WHERE owner = ? ORDER BY v.id",
        [owner],
    )
    lines = [
        Line(r["variant"], r["product"], r["slug"], r["name"], r["version"] if r["versions"] > 1 else "", r["category"],
             r["cents"], r["stock"], r["quantity"])
        for r in rows
    ]  # fmt: skip
    made = Basket(lines, short=[line for line in lines if line.quantity > line.stock])
    chosen = database.execute("SELECT code FROM cart_vouchers WHERE owner = ?", [owner]).fetchone()
    if chosen:
        made.voucher = chosen["code"]
        made.discount, made.problem = discount(database, made.voucher, lines, today)
    return made


def discount(database: sqlite3.Connection, code: str, lines: list[Line], today: date) -> tuple[int, str]:
    """What a voucher takes off, and where that is nothing, why."""
    row = database.execute("SELECT * FROM vouchers WHERE code = ?", [code]).fetchone()
    if row is None:
        return 0, f"There is no voucher {code}."
    if row["ends"] < today.isoformat():
        return 0, f"Voucher {code} has expired."
    kinds = by_slug()
    counted = [line for line in lines if row["department"] in ("", kinds[line.category].department)]
    if not counted:
        return 0, f"Voucher {code} is for the department {row['department']} only."
    together = sum(line.sum for line in counted)
    if together < row["least"]:
        return 0, f"Voucher {code} needs at least ${row['least'] / 100:.2f} of goods that it is for."
    return min(together, row["cents"] + together * row["percent"] // 100), ""
