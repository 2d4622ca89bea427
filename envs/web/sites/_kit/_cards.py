"""Cards to pay with: which numbers can be one, and what a site keeps of a card."""

from __future__ import annotations

import re
from hashlib import sha256


def card_digits(written: str) -> str:
    """A card number without the spaces and hyphens between its digits."""
    return re.sub(r"[ -]", "", written)


def luhn(number: str) -> bool:
    """Whether these are the digits of a card: enough of them, with the right check digit (ISO/IEC 7812-1)."""
    if not re.fullmatch(r"[0-9]{13,19}", number):
        return False
    digits = [int(digit) for digit in reversed(number)]
    return sum(d if place % 2 == 0 else d * 2 - 9 * (d > 4) for place, d in enumerate(digits)) % 10 == 0


def card_token(number: str, *, name: str, expiry: str, code: str) -> str:
    """What stands for a card where the card itself is not kept: the same for the same one, however it is spelled."""
    month_and_year = re.sub(r"[^0-9]", "", expiry)
    spelled = (card_digits(number), " ".join(name.casefold().split()), month_and_year[:2] + month_and_year[-2:], code)
    return sha256("|".join(spelled).encode()).hexdigest()[:16]
