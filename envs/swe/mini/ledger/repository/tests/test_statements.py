from datetime import date

import pytest

from ledger import Money, StatementError, StatementFormat, import_statement, read_statement

TEXT = """\
Date,Description,Amount
2024-06-01,Salary,2000.00
2024-06-02,"Rent, June",-800.00
2024-06-02,Groceries,-55.10
"""
BOOK = {"account": "Assets:Bank:Checking", "counter": "Equity:Opening"}


def test_lines_are_read_in_order():
    lines = read_statement(TEXT, StatementFormat(), "EUR")
    assert [line.memo for line in lines] == ["Salary", "Rent, June", "Groceries"]
    assert lines[1].day == date(2024, 6, 2)
    assert lines[1].amount == Money(-80000, "EUR")


def test_another_bank():
    fmt = StatementFormat(
        day="Buchung", memo="Text", amount="Betrag", day_format="%d.%m.%Y", decimal=",", delimiter=";"
    )
    text = "\ufeffBuchung;Text;Betrag\n31.12.2023;Miete   Dezember;-1.250,00\n"
    (line,) = read_statement(text, fmt, "EUR")
    assert (line.day, line.memo, line.amount) == (date(2023, 12, 31), "Miete Dezember", Money(-125000, "EUR"))


@pytest.mark.parametrize("bad", ["2024-13-01,x,1", "2024-01-01,x,one", "2024-01-01,x"])
def test_a_bad_line_is_named(bad):
    with pytest.raises(StatementError, match="line 3") as caught:
        read_statement(f"Date,Description,Amount\n2024-01-01,ok,1\n{bad}\n", StatementFormat(), "EUR")
    assert caught.value.line == 3


def test_missing_columns_are_named():
    with pytest.raises(StatementError, match="Amount, Description"):
        read_statement("Date\n2024-01-01\n", StatementFormat(), "EUR")


def test_every_line_is_booked_against_the_counter_account(journal):
    booked = import_statement(journal, read_statement(TEXT, StatementFormat(), "EUR"), **BOOK)
    assert [entry.memo for entry in booked] == ["Salary", "Rent, June", "Groceries"]
    assert journal.balance("Assets:Bank:Checking", date(2024, 6, 30))["EUR"] == Money(239540, "EUR")


def test_the_same_file_is_booked_once(journal):
    lines = read_statement(TEXT, StatementFormat(), "EUR")
    import_statement(journal, lines, **BOOK)
    assert import_statement(journal, lines, **BOOK) == []
    assert len(journal) == 8


def test_a_file_that_overlaps_books_only_what_is_new(journal):
    import_statement(journal, read_statement(TEXT, StatementFormat(), "EUR"), **BOOK)
    longer = TEXT + "2024-06-03,Bakery,-3.20\n"
    booked = import_statement(journal, read_statement(longer, StatementFormat(), "EUR"), **BOOK)
    assert [entry.memo for entry in booked] == ["Bakery"]


def test_a_bank_that_changes_the_case_of_a_memo_is_not_booked_again(journal):
    import_statement(journal, read_statement(TEXT, StatementFormat(), "EUR"), **BOOK)
    shouted = read_statement(TEXT.replace("Groceries", "GROCERIES"), StatementFormat(), "EUR")
    assert import_statement(journal, shouted, **BOOK) == []


def test_two_accounts_may_have_the_same_line(journal):
    lines = read_statement(TEXT, StatementFormat(), "EUR")
    import_statement(journal, lines, **BOOK)
    assert len(import_statement(journal, lines, **{**BOOK, "account": "Assets:Bank:Savings"})) == 3
