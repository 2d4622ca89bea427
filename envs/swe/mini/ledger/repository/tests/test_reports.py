from datetime import date

import pytest

from ledger import Money, RateTable, balance_sheet, in_currency, income_statement, trial_balance
from ledger.money import total


def eur(text):
    return Money.parse(text, "EUR")


@pytest.fixture
def rates():
    table = RateTable("EUR")
    table.add(date(2024, 1, 1), "USD", "EUR", "0.90")
    return table


def test_trial_balance(journal):
    report = trial_balance(journal)
    assert list(report) == [
        "Assets:Bank:Checking",
        "Assets:Bank:Savings",
        "Assets:Cash",
        "Equity:Opening",
        "Expenses:Food",
        "Expenses:Office",
        "Income:Sales",
        "Liabilities:Card",
    ]
    assert report["Income:Sales"] == {"EUR": eur("-250.50"), "USD": Money(-10000, "USD")}


def test_the_trial_balance_adds_up_to_zero(journal):
    amounts = [amount for found in trial_balance(journal).values() for amount in found.values()]
    assert total(amounts) == {}


def test_trial_balance_until_a_day(journal):
    assert list(trial_balance(journal, date(2024, 1, 1))) == ["Assets:Bank:Checking", "Equity:Opening"]


def test_balance_sheet_has_subtotals_in_the_order_of_kinds(journal):
    report = balance_sheet(journal, date(2024, 2, 10))
    assert report == {
        "Assets": {"EUR": eur("1250.50")},
        "Assets:Bank": {"EUR": eur("1250.50")},
        "Assets:Bank:Checking": {"EUR": eur("1250.50")},
        "Liabilities": {"EUR": eur("-40")},
        "Liabilities:Card": {"EUR": eur("-40")},
        "Equity": {"EUR": eur("-1210.50")},
        "Equity:Opening": {"EUR": eur("-1000")},
        "Equity:Unclosed": {"EUR": eur("-210.50")},
    }
    assert list(report)[3] == "Liabilities"


def test_income_statement_of_a_period(journal):
    assert income_statement(journal, date(2024, 2, 1), date(2024, 3, 31)) == {
        "Income": {"USD": Money(-10000, "USD")},
        "Income:Sales": {"USD": Money(-10000, "USD")},
        "Expenses": {"EUR": eur("52.30")},
        "Expenses:Food": {"EUR": eur("12.30")},
        "Expenses:Office": {"EUR": eur("40")},
    }


def test_balance_sheet_in_one_currency(journal, rates):
    report = in_currency(journal, rates, "EUR", last=date(2024, 3, 31))
    assert report["Assets"] == eur("1328.20")
    assert report["Assets:Bank:Savings"] == eur("90")


def test_income_statement_in_one_currency(journal, rates):
    report = in_currency(journal, rates, "EUR", first=date(2024, 1, 1), last=date(2024, 3, 31))
    assert report["Income"] == eur("-340.50")
    assert report["Expenses"] == eur("52.30")
