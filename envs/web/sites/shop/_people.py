"""Who shops here: customers with addresses, orders of the past and wishes, from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from itertools import islice
from random import Random

from agent_envs.envs.web.sites.shop._products import Product

_FIRST = ("Mara", "Theo", "Yuki", "Elif", "Jakob", "Nadia", "Ruben", "Signe", "Tomas", "Wanda", "Imani", "Pavel")
_LAST = ("Lindqvist", "Okafor", "Brandt", "Castellano", "Ito", "Kowalski", "Moreau", "Novak", "Petersen", "Vargas")
_STREETS = ("Maple Street", "Harbour Road", "Mill Lane", "Station Street", "Orchard Way", "Bridge Street", "Elm Grove")
_CITIES = (
    ("Springfield", "62704"), ("Riverton", "84065"), ("Fairview", "97024"), ("Ashland", "97520"), ("Milton", "19968"),
    ("Georgetown", "78626"), ("Salem", "97301"), ("Clayton", "63105"),
)  # fmt: skip
CUSTOMERS = 4


@dataclass(slots=True)
class Address:
    """Where somebody wants things to be sent."""

    label: str
    name: str
    street: str
    postcode: str
    city: str
    phone: str


@dataclass(slots=True)
class PastOrder:
    """An order that was placed before the visit."""

    number: str
    placed: date
    status: str
    """processing, shipped, delivered or cancelled"""
    delivered: date | None
    shipping: str
    lines: list[tuple[Product, int, int]]
    """Product, index of its variant, quantity."""


@dataclass(slots=True)
class Customer:
    """Somebody with an account."""

    email: str
    name: str
    phone: str
    password: str
    addresses: list[Address]
    orders: list[PastOrder]
    wishes: list[Product]


def customers(seed: int) -> list[tuple[str, str, str]]:
    """Email, name and password of everybody who has an account; the first is the one with the longest history."""
    random = Random(f"shop/{seed}/customers")
    firsts, lasts = random.sample(_FIRST, CUSTOMERS), random.sample(_LAST, CUSTOMERS)
    return [
        (
            f"{first}.{last}@example.com".lower(),
            f"{first} {last}",
            f"{random.choice(_STREETS).split()[0]}-{random.randrange(1000, 9999)}",
        )
        for first, last in zip(firsts, lasts, strict=True)
    ]


def password_mark(email: str, password: str) -> str:
    """What the shop keeps of a password."""
    return sha256(f"{email}\n{password}".encode()).hexdigest()


def people(seed: int, today: date, shelf: list[Product]) -> list[Customer]:
    """Everybody, with what they have done so far."""
    found = []
    number = 10400 + seed % 89 * 10
    for place, (email, name, password) in enumerate(customers(seed)):
        random = Random(f"shop/{seed}/{email}")
        count = 7 if place == 0 else random.randrange(2, 5)
        orders = _orders(random, today, shelf, number, count)
        number += count
        addresses = [_address(random, label, name) for label in ("Home", "Work")]
        wishes = random.sample(shelf, 3)
        found.append(Customer(email, name, _phone(random), password, addresses, orders, wishes))
    return found


def _phone(random: Random) -> str:
    return f"555-{random.randrange(100, 999)}-{random.randrange(1000, 9999)}"


def _address(random: Random, label: str, name: str) -> Address:
    city, postcode = random.choice(_CITIES)
    return Address(label, name, f"{random.randrange(2, 190)} {random.choice(_STREETS)}", postcode, city, _phone(random))


def _orders(random: Random, today: date, shelf: list[Product], first: int, count: int) -> list[PastOrder]:
    """From the oldest to the newest: the newest is being packed, the one before is on its way."""
    ages = sorted(random.sample(range(55, 360, 3), max(0, count - 4)), reverse=True)
    ages += sorted(random.sample(range(8, 24, 2), min(2, max(0, count - 2))), reverse=True) + [3, 1][-min(2, count) :]
    chosen = iter(random.sample(shelf, 3 * count))
    return [
        _order(random, today - timedelta(days=age), age, f"M-{first + place}", chosen) for place, age in enumerate(ages)
    ]


def _order(random: Random, placed: date, age: int, number: str, chosen: Iterator[Product]) -> PastOrder:
    status = (
        "processing"
        if age == 1
        else "shipped"
        if age == 3
        else "cancelled"
        if age > 60 and random.random() < 0.15
        else "delivered"
    )
    lines = [
        (product, random.randrange(len(product.variants)), random.choice((1, 1, 1, 2)))
        for product in islice(chosen, random.choice((1, 2, 2, 3)))
    ]
    shipping = random.choice(("standard", "standard", "express"))
    delivered = placed + timedelta(days=2 if shipping == "express" else 4) if status == "delivered" else None
    return PastOrder(number, placed, status, delivered, shipping, lines)
