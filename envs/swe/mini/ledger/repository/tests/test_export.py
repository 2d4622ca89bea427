import pytest

from ledger import Chart, StatementError, export_journal, load_journal


def test_the_journal_comes_back(journal):
    again = load_journal(export_journal(journal), Chart())
    assert list(again.entries()) == list(journal.entries())


def test_rows(journal):
    rows = export_journal(journal).splitlines()
    assert rows[0] == "entry,day,memo,account,amount,currency,key"
    assert rows[1] == "1,2024-01-01,Opening,Assets:Bank:Checking,1000.00,EUR,"
    assert len(rows) == 11


@pytest.mark.parametrize("memo", ['a "quoted" one', "one, two", "two\nlines", "Käse"])
def test_any_memo_comes_back(chart, journal, make_entry, memo):
    journal.add(make_entry("2024-04-01", memo, "Expenses:Food", "Assets:Cash", "1"))
    again = load_journal(export_journal(journal), Chart())
    assert [entry.memo for entry in again.entries()][-1] == memo


def test_keys_come_back(journal, make_entry):
    journal.add(make_entry("2024-04-01", "x", "Expenses:Food", "Assets:Cash", "1", key="k1"))
    assert load_journal(export_journal(journal), Chart()).has_key("k1")


def test_other_files_are_refused():
    with pytest.raises(StatementError, match="expected the columns"):
        load_journal("a,b\n1,2\n", Chart())
