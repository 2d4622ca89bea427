from datetime import date
from decimal import Decimal

import pytest

from ledger import RateMissing, RateTable


@pytest.fixture
def rates():
    table = RateTable("EUR")
    table.add(date(2024, 1, 1), "USD", "EUR", "0.90")
    table.add(date(2024, 2, 1), "USD", "EUR", "0.95")
    table.add(date(2024, 1, 1), "EUR", "JPY", "160")
    return table


@pytest.mark.parametrize(
    ("day", "rate"),
    [(date(2024, 1, 1), "0.90"), (date(2024, 1, 31), "0.90"), (date(2024, 2, 1), "0.95"), (date(2025, 1, 1), "0.95")],
)
def test_the_latest_rate_on_or_before_a_day(rates, day, rate):
    assert rates.rate("USD", "EUR", day) == Decimal(rate)


def test_a_rate_is_inverted(rates):
    assert rates.rate("JPY", "EUR", date(2024, 1, 1)) == Decimal(1) / Decimal(160)


def test_a_rate_through_the_base(rates):
    assert rates.rate("USD", "JPY", date(2024, 1, 5)) == Decimal("144.00")


def test_a_currency_is_worth_itself(rates):
    assert rates.rate("CHF", "CHF", date(2000, 1, 1)) == 1


def test_a_missing_rate_is_named(rates):
    with pytest.raises(RateMissing, match="USD in EUR is known on 2023-12-31"):
        rates.rate("USD", "EUR", date(2023, 12, 31))


def test_a_second_rate_of_a_day_replaces_the_first(rates):
    rates.add(date(2024, 2, 1), "USD", "EUR", "0.96")
    assert rates.rate("USD", "EUR", date(2024, 2, 1)) == Decimal("0.96")


@pytest.mark.parametrize("rate", ["0", "-1"])
def test_a_rate_is_positive(rates, rate):
    with pytest.raises(ValueError, match="more than 0"):
        rates.add(date(2024, 1, 1), "USD", "EUR", rate)
