from datetime import date

import pytest

from ledger import Chart, Entry, Journal, Money, Posting

ACCOUNTS = [
    "Assets:Bank:Checking",
    "Assets:Bank:Savings",
    "Assets:Cash",
    "Liabilities:Card",
    "Equity:Opening",
    "Income:Sales",
    "Expenses:Food",
    "Expenses:Office",
]


def entry(day, memo, debit, credit, amount, currency="EUR", key=""):
    """An entry that moves an amount from one account to another."""
    money = Money.parse(amount, currency)
    return Entry(date.fromisoformat(day), memo, (Posting(debit, money), Posting(credit, -money)), key)


@pytest.fixture
def make_entry():
    return entry


@pytest.fixture
def chart():
    return Chart(ACCOUNTS)


@pytest.fixture
def journal(chart):
    """One quarter of a small shop."""
    journal = Journal(chart)
    journal.add(entry("2024-01-01", "Opening", "Assets:Bank:Checking", "Equity:Opening", "1000"))
    journal.add(entry("2024-01-15", "Sale", "Assets:Bank:Checking", "Income:Sales", "250.50"))
    journal.add(entry("2024-02-03", "Paper", "Expenses:Office", "Liabilities:Card", "40"))
    journal.add(entry("2024-02-20", "Sale abroad", "Assets:Bank:Savings", "Income:Sales", "100", "USD"))
    journal.add(entry("2024-03-05", "Lunch", "Expenses:Food", "Assets:Cash", "12.30"))
    return journal
