"""A booking that is being made: kept in the session, of no account until it is paid."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from agent_envs.envs.web.sites._kit import Form, card_digits, card_token, luhn, session_of, visit_of
from agent_envs.envs.web.sites.flights._bookings import Purchase, Traveller
from agent_envs.envs.web.sites.flights._departures import Flight, Leg, find_seat
from agent_envs.envs.web.sites.flights._fares import MEALS, Fare, fare_of
from starlette.requests import Request

DECLINED = "4000000000000002"
"""The card that every bank declines."""
MOST_BAGS = 3


@dataclass(slots=True)
class Draft:
    """The draft of a session; `kept` is what the session remembers of it."""

    kept: dict[str, Any]
    legs: tuple[tuple[Leg, str], ...]
    fare: Fare

    @property
    def cabin(self) -> str:
        """The class."""
        return str(self.kept["cabin"])

    @property
    def count(self) -> int:
        """How many travel."""
        return int(self.kept["count"])

    @property
    def people(self) -> list[Traveller]:
        """Who travels, once they have been entered."""
        return [Traveller(**one) for one in self.kept["people"]]

    def purchase(self, user: str, card: tuple[str, str] = ("", "")) -> Purchase:
        """What is bought when it is paid."""
        seats = [
            tuple(find_seat(leg.flight.aircraft, self.cabin, code) if code else None for code in codes)
            for (leg, _), codes in zip(self.legs, self.kept["seats"], strict=True)
        ]
        people = tuple(self.people) or (Traveller("", "", "", ""),) * self.count
        contact = (self.kept["email"], self.kept["phone"])
        return Purchase(user, self.cabin, self.fare, self.legs, people, tuple(seats), *contact, *card)


def find_draft(request: Request) -> Draft | None:
    """The draft of this session."""
    kept = session_of(request).data.get("draft")
    if not kept:
        return None
    database = visit_of(request).database
    legs = tuple((leg_of(database, number, day), direction) for number, day, direction in kept["legs"])
    fare = fare_of(kept["cabin"], kept["fare"])
    assert fare is not None  # written by us
    return Draft(kept, legs, fare)


def leg_of(database: sqlite3.Connection, number: str, day: str) -> Leg:
    """A leg that is known to exist."""
    row = database.execute("SELECT * FROM flights WHERE number = ?", [number]).fetchone()
    return Leg(Flight(*row), date.fromisoformat(day))


def read_people(form: Form, count: int, now: datetime, last_day: date) -> list[dict[str, Any]]:
    """The travellers in a form; what is wrong is noted there."""
    found = []
    for number in range(1, count + 1):
        found.append(
            read_person(form, now, last_day, suffix=f"-{number}", whose=f" of traveller {number}" if count > 1 else "")
        )
    passports = [one["passport"] for one in found if one["passport"]]
    for number, one in enumerate(found, 1):
        if passports.count(one["passport"]) > 1 and f"passport-{number}" not in form.errors:
            form.errors[f"passport-{number}"] = f"Two travellers have the passport number {one['passport']}."
    return found


def read_person(form: Form, now: datetime, last_day: date, *, suffix: str = "", whose: str = "") -> dict[str, Any]:
    """One traveller in a form."""
    letters = r"[^\W\d_][^\d_]*"
    plain = "Names have letters only, as they are in the passport."
    given = form.need(f"given_name{suffix}", f"the given names{whose}", most=40, matches=letters, hint=plain)
    family = form.need(f"family_name{suffix}", f"the family name{whose}", most=40, matches=letters, hint=plain)
    born = form.need(f"birth_date{suffix}", f"the date of birth{whose}")
    if f"birth_date{suffix}" not in form.errors:
        _check_birth(form, f"birth_date{suffix}", born, now, last_day)
    hint = "A passport number has from 6 to 9 letters and digits, without spaces."
    passport = form.need(
        f"passport{suffix}", f"the passport number{whose}", matches="[A-Za-z0-9]{6,9}", hint=hint
    ).upper()
    return {"given_name": given, "family_name": family, "birth_date": born, "passport": passport}


def read_contact(form: Form) -> tuple[str, str]:
    """Where to write and whom to call."""
    email = form.need(
        "email",
        "your e-mail address",
        matches=r"[^@\s]+@[^@\s]+\.[^@\s]+",
        hint="Enter an e-mail address such as name@mail.test.",
    )
    phone = form.need(
        "phone",
        "your phone number",
        matches=r"\+?[0-9 ()-]{6,20}",
        hint="Enter a phone number such as +44 20 5550 1234.",
    )
    return email, phone


def read_card(form: Form, now: datetime) -> tuple[str, str]:
    """The last four digits of a card that can be charged, and its token; what is wrong with it is noted."""
    name = form.need("card_name", "the name on the card", most=60)
    number = card_digits(form.need("card_number", "the card number"))
    if number and not luhn(number):
        form.errors["card_number"] = "This is not a valid card number; check the digits."
    expiry = re.fullmatch(r"(0[1-9]|1[0-2]) ?/ ?(?:20)?([0-9]{2})", form.need("expiry", "the expiry date"))
    if form.text("expiry") and not expiry:
        form.errors["expiry"] = "Enter the expiry date as MM/YY."
    elif expiry and (2000 + int(expiry[2]), int(expiry[1])) < (now.year, now.month):
        form.errors["expiry"] = "This card has expired."
    code = form.need("cvc", "the security code", matches="[0-9]{3,4}", hint="The security code has 3 or 4 digits.")
    if not form.errors and number == DECLINED:
        form.errors["card_number"] = "Your bank has declined this card. Use another one; nothing was charged."
    return number[-4:], card_token(number, name=name, expiry=form.text("expiry"), code=code)


def read_extras(form: Form, people: list[dict[str, Any]]) -> None:
    """Put bags and meals from a form into the travellers."""
    for number, one in enumerate(people, 1):
        one["bags"] = min(MOST_BAGS, max(0, form.number(f"bags-{number}")))
        meal = form.text(f"meal-{number}")
        one["meal"] = meal if meal in MEALS else "none"


def _check_birth(form: Form, name: str, born: str, now: datetime, last_day: date) -> None:
    try:
        day = date.fromisoformat(born)
    except ValueError:
        form.errors[name] = "Enter the date of birth as year-month-day, such as 1990-05-31."
        return
    if not date(now.year - 120, 1, 1) <= day <= now.date():
        form.errors[name] = "The date of birth must be in the past."
    elif (last_day.year - day.year) - ((last_day.month, last_day.day) < (day.month, day.day)) < 2:
        form.errors[name] = "Travellers under 2 cannot be booked here; call us."
