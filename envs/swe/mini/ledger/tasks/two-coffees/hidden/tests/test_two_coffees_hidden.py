from datetime import date

import pytest

from ledger import (
    Chart,
    Entry,
    Journal,
    Money,
    Posting,
    StatementFormat,
    export_journal,
    import_statement,
    load_journal,
    read_statement,
)

ACCOUNT, COUNTER = "Assets:Bank", "Expenses:Food"
COFFEE = "2024-06-02,Coffee machine,-3.20\n"
SALARY = "2024-06-01,Salary,2000.00\n"
LUNCH = "2024-06-03,Lunch,-9.90\n"


def book(journal, *rows):
    lines = read_statement("Date,Description,Amount\n" + "".join(rows), StatementFormat(), "EUR")
    return len(import_statement(journal, lines, account=ACCOUNT, counter=COUNTER))


@pytest.fixture
def journal():
    return Journal(Chart([ACCOUNT, "Assets:Savings", COUNTER]))


def test_both_coffees_are_booked(journal):
    assert book(journal, COFFEE, COFFEE) == 2
    assert journal.balance(ACCOUNT) == {"EUR": Money(-640, "EUR")}


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_same_file_again_books_nothing(journal, count):
    assert book(journal, *[COFFEE] * count) == count
    assert book(journal, *[COFFEE] * count) == 0
    assert len(journal) == count


def test_files_that_overlap_book_only_what_is_new(journal):
    assert book(journal, SALARY, COFFEE, COFFEE) == 3
    assert book(journal, COFFEE, COFFEE, LUNCH) == 1
    assert book(journal, SALARY, COFFEE, COFFEE, LUNCH) == 0


def test_a_third_coffee_of_the_day_is_booked_once(journal):
    book(journal, COFFEE, COFFEE)
    assert book(journal, SALARY, COFFEE, COFFEE, COFFEE) == 2
    assert journal.balance(COUNTER) == {"EUR": Money(-199040, "EUR")}


def test_capitals_make_no_new_payment_in_a_later_file(journal):
    book(journal, COFFEE, COFFEE)
    assert book(journal, COFFEE.upper(), COFFEE) == 0


def test_lines_of_one_file_that_differ_in_capitals_are_two_payments(journal):
    assert book(journal, COFFEE, COFFEE.upper()) == 2
    assert book(journal, COFFEE, COFFEE.upper()) == 0


def test_a_known_key_is_an_error(journal):
    postings = (Posting(ACCOUNT, Money(100, "EUR")), Posting(COUNTER, Money(-100, "EUR")))
    journal.add(Entry(date(2024, 1, 1), "first", postings, "k1"))
    with pytest.raises(ValueError, match="k1"):
        journal.add(Entry(date(2024, 1, 2), "second", postings, "k1"))
    assert len(journal) == 1


def test_entries_without_a_key_are_never_refused(journal):
    postings = (Posting(ACCOUNT, Money(100, "EUR")), Posting(COUNTER, Money(-100, "EUR")))
    for _ in range(2):
        journal.add(Entry(date(2024, 1, 1), "by hand", postings))
    assert len(journal) == 2


def test_a_journal_that_was_saved_still_knows_both(journal):
    book(journal, COFFEE, COFFEE)
    again = load_journal(export_journal(journal), Chart())
    assert book(again, COFFEE, COFFEE) == 0


def test_a_payment_booked_by_hand_is_not_one_of_the_file(journal):
    postings = (Posting(ACCOUNT, Money(-320, "EUR")), Posting(COUNTER, Money(320, "EUR")))
    journal.add(Entry(date(2024, 6, 2), "Coffee machine", postings))
    assert book(journal, COFFEE, COFFEE) == 2
    assert book(journal, COFFEE, COFFEE) == 0
    assert journal.balance(ACCOUNT) == {"EUR": Money(-960, "EUR")}


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_the_lines_may_come_one_by_one(journal, kind):
    rows = "Date,Description,Amount\n" + COFFEE + SALARY + COFFEE + COFFEE
    for expected in ([(2, -320), (1, 200000), (2, -320), (2, -320)], []):
        lines = kind(read_statement(rows, StatementFormat(), "EUR"))
        booked = import_statement(journal, lines, account=ACCOUNT, counter=COUNTER)
        assert [(entry.day.day, entry.postings[0].amount.units) for entry in booked] == expected
    assert journal.balance(ACCOUNT) == {"EUR": Money(199040, "EUR")}


def test_every_account_has_its_own_payments(journal):
    lines = read_statement("Date,Description,Amount\n" + COFFEE * 2, StatementFormat(), "EUR")
    for account in (ACCOUNT, "Assets:Savings"):
        assert len(import_statement(journal, lines, account=account, counter=COUNTER)) == 2
        assert len(import_statement(journal, lines, account=account, counter=COUNTER)) == 0
    assert journal.balance(COUNTER) == {"EUR": Money(1280, "EUR")}


def test_two_journals_know_nothing_of_each_other(journal):
    other = Journal(Chart([ACCOUNT, COUNTER]))
    assert book(journal, COFFEE, COFFEE) == 2
    assert book(other, COFFEE) == 1
    assert book(other, COFFEE, COFFEE, COFFEE) == 2
    assert book(journal, COFFEE, COFFEE, COFFEE) == 1


def test_equal_lines_need_not_stand_together(journal):
    assert book(journal, COFFEE, LUNCH, COFFEE, SALARY, LUNCH, COFFEE) == 6
    assert book(journal, LUNCH, LUNCH, LUNCH) == 1
    assert book(journal, COFFEE, COFFEE, COFFEE, COFFEE) == 1
    assert journal.balance(ACCOUNT) == {"EUR": Money(200000 - 4 * 320 - 3 * 990, "EUR")}
