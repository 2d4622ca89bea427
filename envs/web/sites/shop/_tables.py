"""The shop's database: its tables, and what is in them when a visit begins."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from agent_envs.envs.web.sites._kit import create_sessions
from agent_envs.envs.web.sites.shop._categories import by_slug
from agent_envs.envs.web.sites.shop._people import Customer, PastOrder, password_mark, people
from agent_envs.envs.web.sites.shop._products import Product, products

from agent_envs.errors import TaskError
from agent_envs.sites import World

SHIPPING: dict[str, tuple[str, str, int]] = {
    "standard": ("Standard delivery", "3 to 5 days; free from $100.00", 490),
    "express": ("Express delivery", "next working day", 1290),
    "pickup": ("Collect from a shop", "ready tomorrow", 0),
}
"""Label, detail and price in cents of each way to get an order."""
FREE_FROM = 10_000
"""Standard delivery costs nothing from this sum (in cents) on, vouchers deducted."""

_GAP = re.compile(r"[^a-z0-9.]+")
_SCHEMA = """
CREATE TABLE products (id INTEGER PRIMARY KEY, slug TEXT UNIQUE NOT NULL, name TEXT NOT NULL, brand TEXT NOT NULL,
  category TEXT NOT NULL, cents INTEGER NOT NULL, was INTEGER NOT NULL, about TEXT NOT NULL, specs TEXT NOT NULL,
  added TEXT NOT NULL, words TEXT NOT NULL);
CREATE INDEX products_by_category ON products (category);
CREATE TABLE variants (id INTEGER PRIMARY KEY, product INTEGER NOT NULL REFERENCES products, name TEXT NOT NULL,
  stock INTEGER NOT NULL CHECK (stock >= 0));
CREATE INDEX variants_by_product ON variants (product);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product INTEGER NOT NULL REFERENCES products, user TEXT NOT NULL,
  author TEXT NOT NULL, stars INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, written TEXT NOT NULL);
CREATE INDEX reviews_by_product ON reviews (product);
CREATE TABLE users (email TEXT PRIMARY KEY, name TEXT NOT NULL, phone TEXT NOT NULL, newsletter TEXT NOT NULL,
  mark TEXT NOT NULL);
CREATE TABLE addresses (id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL REFERENCES users, label TEXT NOT NULL,
  name TEXT NOT NULL, street TEXT NOT NULL, postcode TEXT NOT NULL, city TEXT NOT NULL, phone TEXT NOT NULL,
  preferred INTEGER NOT NULL);
CREATE TABLE wishes (user TEXT NOT NULL REFERENCES users, product INTEGER NOT NULL REFERENCES products,
  PRIMARY KEY (user, product));
CREATE TABLE cart_items (owner TEXT NOT NULL, variant INTEGER NOT NULL REFERENCES variants, quantity INTEGER NOT NULL,
  PRIMARY KEY (owner, variant));
CREATE TABLE cart_vouchers (owner TEXT PRIMARY KEY, code TEXT NOT NULL REFERENCES vouchers);
CREATE TABLE vouchers (code TEXT PRIMARY KEY, about TEXT NOT NULL, percent INTEGER NOT NULL, cents INTEGER NOT NULL,
  department TEXT NOT NULL, least INTEGER NOT NULL, ends TEXT NOT NULL);
CREATE TABLE orders (number TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES users, placed TEXT NOT NULL,
  status TEXT NOT NULL, delivered TEXT NOT NULL, shipping TEXT NOT NULL, items_cents INTEGER NOT NULL,
  discount_cents INTEGER NOT NULL, shipping_cents INTEGER NOT NULL, total_cents INTEGER NOT NULL, voucher TEXT NOT NULL,
  ship_name TEXT NOT NULL, ship_street TEXT NOT NULL, ship_postcode TEXT NOT NULL, ship_city TEXT NOT NULL,
  ship_phone TEXT NOT NULL, card TEXT NOT NULL, card_token TEXT NOT NULL, gift_note TEXT NOT NULL,
  cancel_reason TEXT NOT NULL);
CREATE TABLE order_items (order_number TEXT NOT NULL REFERENCES orders, variant INTEGER NOT NULL REFERENCES variants,
  quantity INTEGER NOT NULL, cents INTEGER NOT NULL, PRIMARY KEY (order_number, variant));
CREATE TABLE returns (order_number TEXT NOT NULL REFERENCES orders, variant INTEGER NOT NULL REFERENCES variants,
  quantity INTEGER NOT NULL, reason TEXT NOT NULL, remedy TEXT NOT NULL, comment TEXT NOT NULL, asked TEXT NOT NULL,
  PRIMARY KEY (order_number, variant));
"""


def populate(database: sqlite3.Connection, world: World) -> None:
    """Make the tables and fill them for a world."""
    now = datetime.fromisoformat(world.now)
    for statement in _SCHEMA.split(";\n"):
        database.execute(statement)
    create_sessions(database)
    for table, rows in _rows(world.seed, now.date()):
        holes = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {table} VALUES ({holes})", rows)
    _prepare(database, dict(world.options))


def shipping_price(way: str, sum_cents: int) -> int:
    """What it costs to get goods of this sum in this way."""
    return 0 if way == "standard" and sum_cents >= FREE_FROM else SHIPPING[way][2]


@lru_cache(maxsize=8)
def _rows(seed: int, today: date) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Every table's rows; kept, because the worlds of one seed differ only in what their tasks prepare."""
    shelf = list(products(seed, today))
    crowd = people(seed, today, shelf)
    first = _first_variants(shelf)
    tables: dict[str, list[tuple[Any, ...]]] = {
        "products": [_product_row(one) for one in shelf],
        "variants": [
            (first[one.id] + place, one.id, name, stock)
            for one in shelf
            for place, (name, stock) in enumerate(one.variants)
        ],
        "reviews": [
            (one.id * 100 + place, one.id, "", r.author, r.stars, r.title, r.body, r.written.isoformat())
            for one in shelf
            for place, r in enumerate(one.reviews)
        ],
        "users": [(c.email, c.name, c.phone, "none", password_mark(c.email, c.password)) for c in crowd],
        "addresses": [
            (who * 10 + place, c.email, a.label, a.name, a.street, a.postcode, a.city, a.phone, int(place == 1))
            for who, c in enumerate(crowd, 1)
            for place, a in enumerate(c.addresses, 1)
        ],
        "wishes": [(c.email, one.id) for c in crowd for one in c.wishes],
        "vouchers": _vouchers(seed, today),
        "orders": [_order_row(c, order) for c in crowd for order in c.orders],
        "order_items": [
            (order.number, first[one.id] + variant, quantity, one.cents)
            for c in crowd
            for order in c.orders
            for one, variant, quantity in order.lines
        ],
    }
    return list(tables.items())


def plain_words(text: str) -> str:
    """The words of a text in small letters, with a space before and after each."""
    return f" {_GAP.sub(' ', text.lower()).strip()} "


def _first_variants(shelf: list[Product]) -> dict[int, int]:
    first, found = 1, {}
    for one in shelf:
        found[one.id] = first
        first += len(one.variants)
    return found


def _product_row(one: Product) -> tuple[Any, ...]:
    specs = json.dumps(one.specs, ensure_ascii=False)
    kind = by_slug()[one.category]
    title = plain_words(f"{one.name} {one.brand} {kind.name}")
    rest = plain_words(f"{specs} {one.about} {kind.department} {kind.variants}")
    day = one.added.isoformat()
    return (
        one.id,
        one.slug,
        one.name,
        one.brand,
        one.category,
        one.cents,
        one.was,
        one.about,
        specs,
        day,
        f"{title}|{rest}",
    )


def _order_row(customer: Customer, order: PastOrder) -> tuple[Any, ...]:
    items = sum(one.cents * quantity for one, _, quantity in order.lines)
    post = shipping_price(order.shipping, items)
    to = customer.addresses[0]
    delivered = order.delivered.isoformat() if order.delivered else ""
    reason = "Ordered by mistake" if order.status == "cancelled" else ""
    return (
        order.number, customer.email, order.placed.isoformat(), order.status, delivered, order.shipping, items, 0, post,
        items + post, "", to.name, to.street, to.postcode, to.city, to.phone, "4242", "", "",
        reason,
    )  # fmt: skip


def _vouchers(seed: int, today: date) -> list[tuple[Any, ...]]:
    """Code, about, percent, cents, department, least, last day."""
    soon, past = (today + timedelta(days=21)).isoformat(), (today - timedelta(days=9)).isoformat()
    mark = 10 + seed % 90
    return [
        (f"TENOFF{mark}", "10 % off everything", 10, 0, "", 5_000, soon),
        (f"KITCHEN{mark}", "20 % off everything for the kitchen", 20, 0, "Kitchen", 0, soon),
        (f"SOUND{mark}", "15 % off headphones and speakers", 15, 0, "Sound", 8_000, soon),
        (f"THIRTY{mark}", "$30.00 off a large order", 0, 3_000, "", 30_000, soon),
        (f"WINTER{mark}", "25 % off everything", 25, 0, "", 0, past),
    ]


def _prepare(database: sqlite3.Connection, options: dict[str, Any]) -> None:
    """What a task puts into its world: `cart` and `stock` by variant, `wishes`."""
    for owner, variant, quantity in options.pop("cart", []):
        database.execute("INSERT INTO cart_items VALUES (?, ?, ?)", [owner, variant, quantity])
    for variant, stock in options.pop("stock", []):
        database.execute("UPDATE variants SET stock = ? WHERE id = ?", [stock, variant])
    for user, product in options.pop("wishes", []):
        database.execute("INSERT INTO wishes VALUES (?, ?)", [user, product])
    if options:
        raise TaskError(f"the shop knows no option {sorted(options)[0]!r}; its options: cart, stock, wishes")
