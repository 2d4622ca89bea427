"""Answers that are numbers: with units, and as money. All arithmetic is exact."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import msgspec
from agent_envs.verifiers.numerals import NotANumber, exact
from agent_envs.verifiers.web._kind import Kind, Unreadable, brief, one_line, plain, quoted

_RELATIVE = Fraction(1, 10**6)
_SPACED = re.compile(r"([+-]?)([0-9]{1,3}(?: [0-9]{3})+|[0-9]{1,3}(?:'[0-9]{3})+)([.,][0-9]+)?")
_POINTS_THEN_COMMA = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[+-]?[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:0,[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))")
_SIGNS = {
    "$": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"}, "US$": {"USD"}, "C$": {"CAD"}, "CA$": {"CAD"},
    "A$": {"AUD"}, "AU$": {"AUD"}, "NZ$": {"NZD"}, "S$": {"SGD"}, "HK$": {"HKD"}, "€": {"EUR"}, "£": {"GBP"},
    "¥": {"CNY", "JPY"}, "CN¥": {"CNY"}, "JP¥": {"JPY"}, "元": {"CNY"}, "rmb": {"CNY"}, "yuan": {"CNY"},
    "円": {"JPY"}, "yen": {"JPY"}, "₹": {"INR"}, "₩": {"KRW"}, "kr": {"SEK", "NOK", "DKK"}, "zł": {"PLN"},
    "人民币": {"CNY"},
    "dollar": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD"}, "dollars": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD"},
    "euro": {"EUR"}, "euros": {"EUR"}, "pound": {"GBP"}, "pounds": {"GBP"}, "francs": {"CHF"},
}  # fmt: skip
_CENTS = {
    "¢": {"USD", "CAD", "AUD", "NZD"}, "cent": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "EUR"},
    "cents": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "EUR"}, "p": {"GBP"}, "pence": {"GBP"},
}  # fmt: skip
_MEANINGS = {sign.casefold(): codes for sign, codes in (_SIGNS | _CENTS).items()}
_HUNDREDTHS = frozenset(_CENTS)
_CODE = re.compile(r"[A-Za-z]{3}")
_NUMBER = r"[0-9.](?:[0-9.,' ]*[0-9])?"
_AMOUNT = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>[^0-9\s.+-]*)\s*(?P<inner>[+-]?)(?P<number>{_NUMBER})\s*(?P<after>\D*)"
)
_MEASURE = re.compile(r"(?P<number>.*?[0-9.])\s*(?P<unit>[^0-9\s.,][^0-9]*)")


class Number(Kind, frozen=True, tag="number"):
    """A number: `1,299.50`, `1 299,50`, `3/10`, `1.5e3`, with one of the stated units or none."""

    absolute: float = 0.0
    """How far off it may be. Without `absolute` and `relative`: an integer not at all, others by a millionth."""
    relative: float = 0.0
    units: dict[str, float] = msgspec.field(default_factory=dict)
    """Units that may follow, each with what one of it is worth: `{"kg": 1, "g": 0.001}`. A bare number counts as is."""

    def contradictions(self) -> Iterator[str]:
        """Tolerances below zero, units worth nothing."""
        yield from _tolerance_contradictions(self)
        for unit, worth in self.units.items():
            if not unit.strip() or not (math.isfinite(worth) and worth > 0):
                yield f"`units` has {unit!r}: {worth}; expected a name and a finite number above 0"
        if len({_unit(unit) for unit in self.units}) < len(self.units):
            yield "`units` has two that differ in case alone; units are read without case"

    def value(self, text: str) -> Fraction:
        """The number, in terms of what the task expects."""
        line = brief(text)
        match = _MEASURE.fullmatch(line.removesuffix("."))
        worths = {_unit(unit): worth for unit, worth in self.units.items()}
        if match and _unit(match["unit"]) in worths:
            return number(match["number"]) * Fraction(repr(worths[_unit(match["unit"])]))
        return number(line)

    def gold(self, expected: object) -> Fraction:
        """A number of JSON is the decimal that its author wrote."""
        return gold_number(self, expected)

    def same(self, answer: Any, expected: Any) -> bool:
        """Within the tolerance."""
        if not self.absolute and not self.relative:
            slack = Fraction(0) if expected.denominator == 1 else _RELATIVE * abs(expected)
        else:
            slack = max(Fraction(repr(self.absolute)), Fraction(repr(self.relative)) * abs(expected))
        return bool(abs(answer - expected) <= slack)


class Money(Kind, frozen=True, tag="money"):
    """An amount: `$1,299.00`, `1299 USD`, `USD 1299`, `1.299,00 €`, `99 cents`. Another currency is wrong."""

    currency: str
    """The code of ISO 4217, such as `USD`."""
    absolute: float = 0.0
    """How far off it may be; 0 is to the cent."""
    require_currency: bool = False
    """Whether an amount without any currency is wrong."""

    def contradictions(self) -> Iterator[str]:
        """A currency that is no code."""
        if not _CODE.fullmatch(self.currency) or self.currency != self.currency.upper():
            yield f"`currency` is {self.currency!r}; expected a code of ISO 4217, such as 'USD'"
        if not (math.isfinite(self.absolute) and self.absolute >= 0):
            yield f"`absolute` is {self.absolute}; expected a finite number >= 0"

    def value(self, text: str) -> Fraction:
        """The amount in units of the currency."""
        return self._amount(text, needs_mark=self.require_currency)

    def _amount(self, text: str, *, needs_mark: bool) -> Fraction:
        match = _AMOUNT.fullmatch(brief(text).removesuffix("."))
        if match is None or (match["sign"] and match["inner"]):
            raise Unreadable(f"{quoted(text)} is not one amount of money")
        marks = [mark for mark in (match["before"].strip(), match["after"].strip()) if mark]
        if not marks and needs_mark:
            raise Unreadable(f"the amount has no currency; expected {self.currency}")
        for mark in marks:
            self._agree(mark)
        amount = number(match["number"]) / (100 if any(mark.casefold() in _HUNDREDTHS for mark in marks) else 1)
        return -amount if "-" in (match["sign"], match["inner"]) else amount

    def gold(self, expected: object) -> Fraction:
        """A number of JSON, like a text without a currency, is an amount of the currency."""
        if isinstance(expected, str):
            return self._amount(plain(expected), needs_mark=False)
        return gold_number(self, expected)

    def same(self, answer: Any, expected: Any) -> bool:
        """To the cent, or as close as the task says."""
        return bool(abs(answer - expected) <= Fraction(repr(self.absolute)))

    def _agree(self, mark: str) -> None:
        codes = _MEANINGS.get(mark.casefold())
        if codes is None and not _CODE.fullmatch(mark):
            raise Unreadable(f"{quoted(mark)} is no currency that is known here")
        if self.currency not in (codes or {mark.upper()}):
            raise Unreadable(f"the amount is in {quoted(mark)}, not in {self.currency}")


def number(text: str) -> Fraction:
    """The number that a text is, in any style that can be read in one way; raises `Unreadable`.

    One comma before exactly three digits groups them (`1,299` is 1299), a single point is a decimal point.
    """
    line = text.strip()
    if match := _SPACED.fullmatch(line):
        line = match[1] + match[2].replace(" ", "").replace("'", "") + (match[3] or "").replace(",", ".")
    elif _POINTS_THEN_COMMA.fullmatch(line):
        line = line.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(line):
        line = line.replace(",", ".")
    try:
        return exact(line)
    except NotANumber as reason:
        raise Unreadable(f"{quoted(text)}: {reason}") from None


def gold_number(kind: Kind, expected: object) -> Fraction:
    """The number that a task expects: text as an agent would write it, or a number of JSON."""
    if isinstance(expected, int) and not isinstance(expected, bool):
        return Fraction(expected)
    if isinstance(expected, float) and math.isfinite(expected):
        return Fraction(repr(expected))
    if isinstance(expected, str):
        value: Fraction = kind.read(expected)
        return value
    raise Unreadable(f"expected a finite number or its text, not {expected!r}")


def _unit(text: str) -> str:
    return one_line(text).casefold()


def _tolerance_contradictions(kind: Number) -> Iterator[str]:
    for name in ("absolute", "relative"):
        value = getattr(kind, name)
        if not (math.isfinite(value) and value >= 0 and (name == "absolute" or value < 1)):
            yield f"`{name}` is {value}; expected a finite number >= 0" + (", below 1" if name == "relative" else "")
