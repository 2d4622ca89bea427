"""Amounts of money as whole numbers of minor units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from ledger.errors import CurrencyMismatch

DIGITS = {"JPY": 0, "KRW": 0, "KWD": 3, "BHD": 3}
"""Minor digits of the currencies that do not have two."""


def digits_of(currency: str) -> int:
    """How many decimals amounts of a currency have."""
    return DIGITS.get(currency, 2)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount: `units` minor units of a currency."""

    units: int
    currency: str

    @classmethod
    def zero(cls, currency: str) -> Money:
        return cls(0, currency)

    @classmethod
    def parse(cls, text: str, currency: str, *, decimal: str = ".") -> Money:
        """The amount in a text such as `-1,234.50`; `ValueError` where it is no amount or has too many decimals."""
        grouping = "," if decimal == "." else "."
        plain = text.strip().replace(" ", "").replace(grouping, "").replace(decimal, ".")
        try:
            scaled = Decimal(plain).scaleb(digits_of(currency))
        except InvalidOperation:
            raise ValueError(f"{text!r} is no amount of {currency}") from None
        if not scaled.is_finite() or scaled != scaled.to_integral_value():
            raise ValueError(f"{text!r} has more decimals than {currency} has")
        return cls(int(scaled), currency)

    @property
    def decimal(self) -> Decimal:
        """The amount in major units, exactly."""
        return Decimal(self.units).scaleb(-digits_of(self.currency))

    def plain(self) -> str:
        """The amount without its currency, for instance `-12.50`."""
        return f"{self.decimal:.{digits_of(self.currency)}f}"

    def __str__(self) -> str:
        return f"{self.plain()} {self.currency}"

    def __bool__(self) -> bool:
        return self.units != 0

    def __neg__(self) -> Money:
        return Money(-self.units, self.currency)

    def __add__(self, other: Money) -> Money:
        return Money(self.units + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.units - self._same(other), self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.units < self._same(other)

    def converted(self, rate: Decimal, currency: str) -> Money:
        """The amount in another currency, rounded half to even once."""
        exact = (self.decimal * rate).scaleb(digits_of(currency))
        return Money(int(exact.to_integral_value(ROUND_HALF_EVEN)), currency)

    def allocate(self, weights: Sequence[int]) -> list[Money]:
        """Shares by weight that add up to the amount; see docs/money.md for who gets what cannot be divided."""
        total = sum(weights)
        if total <= 0 or min(weights) < 0:
            raise ValueError(f"weights must not be negative and must not all be 0, got {list(weights)}")
        sign = -1 if self.units < 0 else 1
        size = abs(self.units)
        shares = [size * weight // total for weight in weights]
        left = size - sum(shares)
        for position, weight in enumerate(weights):
            if left and weight:
                shares[position] += 1
                left -= 1
        return [Money(sign * share, self.currency) for share in shares]

    def _same(self, other: Money) -> int:
        if other.currency != self.currency:
            raise CurrencyMismatch(f"{self} and {other} are of different currencies; convert one first")
        return other.units


def total(amounts: Iterable[Money]) -> dict[str, Money]:
    """The sums by currency; a sum of zero is left out."""
    sums: dict[str, Money] = {}
    for amount in amounts:
        sums[amount.currency] = sums.get(amount.currency, Money.zero(amount.currency)) + amount
    return {currency: amount for currency, amount in sorted(sums.items()) if amount}
