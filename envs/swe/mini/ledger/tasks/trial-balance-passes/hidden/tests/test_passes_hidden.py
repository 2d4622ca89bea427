from datetime import date, timedelta

import pytest

from ledger import Chart, Entry, Journal, Money, Posting, balance_sheet, trial_balance

COUNT = 60
MANY = 60_000


def move(day, debit, units, currency="EUR"):
    postings = (Posting(debit, Money(units, currency)), Posting("Assets:Bank", Money(-units, currency)))
    return Entry(day, "moved", postings)


class TooMuchWork(Exception):
    """More entries were read than the size of the journal allows."""


class CountingJournal(Journal):
    """Tells early who reads too often; whoever goes round it has the clock of the test run against him."""

    left = 0

    def entries(self, first=None, last=None):
        for entry in super().entries(first, last):
            self.left -= 1
            if self.left < 0:
                raise TooMuchWork
            yield entry


@pytest.fixture(scope="module")
def everything():
    """A journal in which every entry has an account of its own."""
    names = [f"Expenses:Part{number:05}" for number in range(MANY)]
    journal = CountingJournal(Chart(["Assets:Bank", *names]))
    for number, name in enumerate(names):
        journal.add(move(date(2024, 1, 1 + number // 2000), name, number))
    return journal


@pytest.fixture
def large(everything):
    everything.left = 3 * MANY
    return everything


@pytest.fixture
def journal():
    names = [f"Expenses:Part{number:02}" for number in range(COUNT)]
    journal = CountingJournal(Chart(["Assets:Bank", "Assets:Unused", *names]))
    for number, name in enumerate(names):
        journal.add(move(date(2024, 1, 1) + timedelta(days=number), name, 100 + number))
    journal.left = 100 * COUNT
    return journal


def test_trial_balance_of_a_large_journal(large):
    report = trial_balance(large, date(2024, 1, 20))
    assert len(report) == 40_001
    assert report["Assets:Bank"] == {"EUR": Money(-799_980_000, "EUR")}
    assert report["Expenses:Part39999"] == {"EUR": Money(39_999, "EUR")}
    assert list(report)[-1] == "Expenses:Part39999"


def test_balance_sheet_of_a_large_journal(large):
    report = balance_sheet(large, date(2024, 1, 30))
    assert list(report) == ["Assets", "Assets:Bank", "Equity", "Equity:Unclosed"]
    assert report["Assets"] == {"EUR": Money(-1_799_970_000, "EUR")}
    assert report["Equity:Unclosed"] == {"EUR": Money(1_799_970_000, "EUR")}


def test_both_reports_of_a_small_journal(journal):
    assert len(trial_balance(journal)) == 61
    assert balance_sheet(journal, date(2024, 12, 31))["Equity:Unclosed"] == {"EUR": Money(7770, "EUR")}


def test_trial_balance_is_the_same_as_before(journal):
    report = trial_balance(journal, date(2024, 1, 3))
    assert list(report) == ["Assets:Bank", "Expenses:Part00", "Expenses:Part01", "Expenses:Part02"]
    assert report["Assets:Bank"] == {"EUR": Money(-303, "EUR")}
    assert report["Expenses:Part02"] == {"EUR": Money(102, "EUR")}


def test_an_account_that_came_to_nothing_is_still_listed(journal):
    journal.add(move(date(2024, 1, 2), "Expenses:Part00", -100))
    assert trial_balance(journal)["Expenses:Part00"] == {}


def test_entries_added_later_are_seen(journal):
    assert trial_balance(journal)["Expenses:Part05"] == {"EUR": Money(105, "EUR")}
    journal.add(move(date(2024, 1, 9), "Expenses:Part05", 10, "USD"))
    assert trial_balance(journal)["Expenses:Part05"] == {"EUR": Money(105, "EUR"), "USD": Money(10, "USD")}
    sheet = balance_sheet(journal, date(2024, 12, 31))
    assert sheet["Assets"] == {"EUR": Money(-7770, "EUR"), "USD": Money(-10, "USD")}


def test_an_account_without_postings_is_not_listed(journal):
    assert "Assets:Unused" not in trial_balance(journal)
    assert "Assets:Unused" not in balance_sheet(journal, date(2024, 12, 31))
