from decimal import Decimal

import pytest

from ledger import CurrencyMismatch, Money
from ledger.money import total


@pytest.mark.parametrize(
    ("text", "currency", "units"),
    [
        ("12.50", "EUR", 1250),
        ("-0.01", "EUR", -1),
        ("1,234.5", "USD", 123450),
        (" 7 ", "JPY", 7),
        ("1.234", "KWD", 1234),
        ("2.50", "JPY", None),
        ("1.005", "EUR", None),
        ("abc", "EUR", None),
        ("NaN", "EUR", None),
    ],
)
def test_parse(text, currency, units):
    if units is None:
        with pytest.raises(ValueError):
            Money.parse(text, currency)
    else:
        assert Money.parse(text, currency) == Money(units, currency)


def test_parse_with_a_decimal_comma():
    assert Money.parse("1.234,50", "EUR", decimal=",") == Money(123450, "EUR")


@pytest.mark.parametrize(
    ("money", "text"),
    [
        (Money(1250, "EUR"), "12.50 EUR"),
        (Money(-5, "EUR"), "-0.05 EUR"),
        (Money(7, "JPY"), "7 JPY"),
        (Money(1, "KWD"), "0.001 KWD"),
    ],
)
def test_text(money, text):
    assert str(money) == text


def test_arithmetic():
    assert Money(5, "EUR") + Money(7, "EUR") == Money(12, "EUR")
    assert Money(5, "EUR") - Money(7, "EUR") == Money(-2, "EUR")
    assert -Money(5, "EUR") < Money(0, "EUR")
    assert not Money.zero("EUR")


def test_currencies_do_not_mix():
    with pytest.raises(CurrencyMismatch, match="convert one first"):
        Money(5, "EUR") + Money(5, "USD")


def test_conversion_rounds_once_half_to_even():
    assert Money(5, "EUR").converted(Decimal("0.5"), "USD") == Money(2, "USD")
    assert Money(1000, "EUR").converted(Decimal("160.4"), "JPY") == Money(1604, "JPY")


def test_allocation_of_what_divides_evenly():
    assert Money(900, "EUR").allocate([1, 1, 1]) == [Money(300, "EUR")] * 3
    assert Money(900, "EUR").allocate([1, 2]) == [Money(300, "EUR"), Money(600, "EUR")]


@pytest.mark.parametrize("weights", [[0, 0], [1, -1, 3], [-1]])
def test_allocation_refuses_weights(weights):
    with pytest.raises(ValueError, match="weights"):
        Money(100, "EUR").allocate(weights)


def test_total_leaves_out_zero_and_sorts():
    amounts = [Money(5, "USD"), Money(1, "EUR"), Money(-1, "EUR"), Money(2, "CHF")]
    assert list(total(amounts).items()) == [("CHF", Money(2, "CHF")), ("USD", Money(5, "USD"))]
