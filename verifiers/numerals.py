"""Reads a written number as an exact fraction, cheaply for any text: no float, no `eval`, no power that explodes."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction

MAX_CHARACTERS = 20_000
"""Longer text is no number that anyone meant to write."""
MAX_EXPONENT = 20_000
"""Numbers outside 10**-20000 .. 10**20000 are refused: writing one out would cost more than the whole episode."""

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_DECIMAL = rf"(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{{1,9}})?"
_SIGNED = rf"[+-]?{_DECIMAL}"
_NUMBER = re.compile(rf"(?P<top>{_SIGNED})(?:\s*/\s*(?P<bottom>{_SIGNED}))?\s*(?P<percent>%?)")
_MENTIONED = re.compile(rf"(?<![0-9A-Za-z_.,/]){_NUMBER.pattern}(?![0-9A-Za-z_])")


class NotANumber(ValueError):
    """Text is not one number; the message says why."""


def exact(text: str) -> Fraction:
    """The number that the text is, as a whole; raises `NotANumber`.

    Understood are ASCII digits with a sign, `,` between groups of three, a decimal point, an exponent, `a/b`, and a
    final `%` (a hundredth). Not understood are words, `nan`, `inf`, `_` and digits of other scripts.
    """
    return _value(_NUMBER.fullmatch(_prepared(text)))


def last_mentioned(text: str) -> Fraction:
    """The last number that a sentence mentions; raises `NotANumber` where it mentions none."""
    *_, last = (None, *_MENTIONED.finditer(_prepared(text)))
    return _value(last)


def _prepared(text: str) -> str:
    if len(text) > MAX_CHARACTERS:
        raise NotANumber(f"a text of {len(text)} characters is not read as a number")
    return text.strip().replace("\N{MINUS SIGN}", "-")


def _value(match: re.Match[str] | None) -> Fraction:
    if match is None:
        raise NotANumber("the text is not a number")
    value = _fraction(match["top"])
    if match["bottom"]:
        bottom = _fraction(match["bottom"])
        if not bottom:
            raise NotANumber("the text divides by zero")
        value /= bottom
    return value / 100 if match["percent"] else value


def _fraction(text: str) -> Fraction:
    with localcontext() as context:
        context.traps[InvalidOperation] = True
        number = Decimal(text.replace(",", ""))
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise NotANumber(f"the number's magnitude is outside 10**±{MAX_EXPONENT}")
    if not number:
        return Fraction(0)
    return Fraction(number)
