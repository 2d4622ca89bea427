from datetime import date

import pytest

from ledger import Chart, Entry, Kind, Money, Posting, Unbalanced, UnknownAccount


def test_entries_are_in_the_order_of_days(journal, make_entry):
    journal.add(make_entry("2024-01-20", "Late", "Expenses:Food", "Assets:Cash", "1"))
    assert [entry.memo for entry in journal.entries()] == ["Opening", "Sale", "Late", "Paper", "Sale abroad", "Lunch"]


def test_entries_of_one_day_keep_their_order(journal, make_entry):
    for memo in ("b", "a", "c"):
        journal.add(make_entry("2024-05-01", memo, "Expenses:Food", "Assets:Cash", "1"))
    assert [entry.memo for entry in journal.entries(date(2024, 5, 1))] == ["b", "a", "c"]


def test_both_ends_of_a_period_are_included(journal):
    period = journal.entries(date(2024, 1, 15), date(2024, 2, 3))
    assert [entry.memo for entry in period] == ["Sale", "Paper"]


def test_balance_until_a_day(journal):
    assert journal.balance("Assets:Bank:Checking", date(2024, 1, 14)) == {"EUR": Money(100000, "EUR")}
    assert journal.balance("Assets:Bank:Checking") == {"EUR": Money(125050, "EUR")}
    assert journal.balance("Equity:Opening", date(2023, 1, 1)) == {}


def test_an_unknown_account_is_refused_with_a_hint(journal, make_entry):
    with pytest.raises(UnknownAccount, match="did you mean 'Expenses:Food'"):
        journal.add(make_entry("2024-01-01", "x", "Expenses:Fod", "Assets:Cash", "1"))
    assert len(journal) == 5


def test_a_key_is_booked_once(journal, make_entry):
    journal.add(make_entry("2024-04-01", "x", "Expenses:Food", "Assets:Cash", "1", key="k1"))
    with pytest.raises(ValueError, match="k1"):
        journal.add(make_entry("2024-04-02", "y", "Expenses:Food", "Assets:Cash", "1", key="k1"))


def test_an_entry_must_balance_in_every_currency():
    postings = (Posting("Assets:Cash", Money(100, "EUR")), Posting("Income:Sales", Money(-100, "USD")))
    with pytest.raises(Unbalanced, match="off by 1.00 EUR, -1.00 USD"):
        Entry(date(2024, 1, 1), "mixed", postings)


def test_an_entry_needs_two_postings():
    with pytest.raises(Unbalanced, match="at least two"):
        Entry(date(2024, 1, 1), "half", (Posting("Assets:Cash", Money(0, "EUR")),))


@pytest.mark.parametrize("name", ["Assets", "Things:Bank", "Assets:", "Assets: Bank", "assets:Bank"])
def test_a_bad_account_name_is_refused(name):
    with pytest.raises(ValueError, match="no account name"):
        Chart([name])


def test_an_account_knows_its_kind_and_parents(chart):
    account = chart["Assets:Bank:Checking"]
    assert account.kind is Kind.ASSETS
    assert account.parents == ["Assets", "Assets:Bank"]
    assert "Assets:Nothing" not in chart
    assert len(chart) == 8
