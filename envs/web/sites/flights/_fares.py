"""What a seat costs on a day, what the fare allows, and what comes back: pure functions of the world's seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import blake2b
from types import MappingProxyType

CABINS = MappingProxyType({"economy": "Economy", "premium": "Premium economy", "business": "Business"})
_FACTOR = MappingProxyType({"economy": 1.0, "premium": 1.75, "business": 3.4})
BAG_CENTS = 3500
"""A checked bag more than the fare includes, for the whole trip."""
MEALS = MappingProxyType(
    {
        "none": "No meal",
        "standard": "Standard meal",
        "vegetarian": "Vegetarian meal",
        "vegan": "Vegan meal",
        "halal": "Halal meal",
        "kosher": "Kosher meal",
        "gluten_free": "Gluten-free meal",
    }
)
MEAL_CENTS = 1200
"""A meal, where the fare does not include it."""
EXIT_CENTS = 2500
SEAT_CENTS = 900


@dataclass(frozen=True, slots=True)
class Fare:
    """One of the prices of a cabin, and what it allows."""

    name: str
    factor: float
    bags: int
    """Checked bags included."""
    meal: bool
    seat: bool
    """Whether an ordinary seat may be chosen for nothing."""
    change_cents: int
    """The fee per traveller for another date; -1: not allowed."""
    refund_percent: int
    """Of the fare, where one cancels 24 hours before the first departure or earlier."""
    refund_fee_cents: int
    """Kept per traveller from that."""

    @property
    def change_text(self) -> str:
        """The rule on changes, in words."""
        if self.change_cents < 0:
            return "Changes are not allowed"
        fee = "no fee" if not self.change_cents else f"a fee of {money(self.change_cents)} per traveller"
        return f"Change of date for {fee}, plus any difference in fare"

    @property
    def refund_text(self) -> str:
        """The rule on refunds, in words."""
        if not self.refund_percent:
            return "Not refundable; extras are not refunded either"
        if not self.refund_fee_cents:
            return f"{self.refund_percent} % refund until departure"
        fee = money(self.refund_fee_cents)
        return f"Refund of what you paid minus {fee} per traveller; half of that within 24 hours of departure"


FARES = MappingProxyType(
    {
        "economy": (
            Fare("Basic", 1.0, 0, False, False, -1, 0, 0),
            Fare("Standard", 1.22, 1, False, True, 4000, 100, 6000),
            Fare("Flex", 1.55, 2, True, True, 0, 100, 0),
        ),
        "premium": (Fare("Standard", 1.0, 2, True, True, 5000, 100, 9000), Fare("Flex", 1.3, 2, True, True, 0, 100, 0)),
        "business": (
            Fare("Standard", 1.0, 2, True, True, 8000, 100, 15000),
            Fare("Flex", 1.25, 3, True, True, 0, 100, 0),
        ),
    }
)


def fare_of(cabin: str, name: str) -> Fare | None:
    """The fare of this name, if the cabin has it."""
    return next((fare for fare in FARES.get(cabin, ()) if fare.name == name), None)


def money(cents: int) -> str:
    """`$1,234` or `$1,234.50`."""
    sign, cents = ("-" if cents < 0 else ""), abs(cents)
    return f"{sign}${cents // 100:,}" + (f".{cents % 100:02d}" if cents % 100 else "")


def chance(*parts: int | str) -> float:
    """A number in [0, 1) that these words fix: the dice of everything that is not a row of the database."""
    digest = blake2b(repr(parts).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / (1 << 48)


def base_cents(seed: int, flight: str, base: int, day: date, today: date, cabin: str) -> int:
    """The cheapest fare of a cabin on one flight on one day, in whole dollars."""
    ahead = (day - today).days
    lead = next(factor for days, factor in _LEAD if ahead <= days)
    weekday = (0.97, 0.92, 0.93, 1.0, 1.14, 0.98, 1.12)[day.weekday()]
    luck = 0.84 + 0.36 * chance(seed, flight, day.isoformat(), cabin)
    return round(base * lead * weekday * luck * _FACTOR[cabin] / 100) * 100


_LEAD = ((2, 1.6), (6, 1.3), (13, 1.12), (30, 1.0), (100_000, 0.92))


def fare_cents(base: int, fare: Fare) -> int:
    """What a fare costs where the cheapest of its cabin costs `base`."""
    return round(base * fare.factor / 100) * 100


def seat_cents(fare: Fare, *, exit_row: bool, cabin: str) -> int:
    """What choosing a seat costs: exit rows of economy always, others with the fares that do not include it."""
    if exit_row and cabin == "economy":
        return EXIT_CENTS
    return 0 if fare.seat else SEAT_CENTS


def refund_cents(fare: Fare, paid: int, travellers: int, departs: datetime, now: datetime) -> int:
    """What comes back when one cancels now."""
    if departs <= now or not fare.refund_percent:
        return 0
    back = max(0, paid * fare.refund_percent // 100 - fare.refund_fee_cents * travellers)
    late = departs - now < timedelta(hours=24) and fare.refund_fee_cents
    return back // 2 if late else back
