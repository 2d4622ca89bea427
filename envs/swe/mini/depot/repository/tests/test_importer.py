import pytest

from depot import ImportFailed, import_csv

HEADER = "sku,kind,quantity,reference\n"


def test_rows_are_booked_in_order(shop):
    text = HEADER + "TEA,receive,3 box,PO-118\nTEA,issue,25 bag,SO-7\nRICE,receive,2 sack,\n"
    assert import_csv(text, shop.catalog, shop.ledger) == 3
    assert shop.ledger.on_hand("TEA") == 35
    assert shop.ledger.on_hand("RICE") == 25
    assert [move.reference for move in shop.ledger.history] == ["PO-118", "SO-7", ""]


def test_empty_lines_and_blanks_do_not_count(shop):
    assert import_csv("sku, kind, quantity\n\nTEA, receive, 1 box\n\n", shop.catalog, shop.ledger) == 1
    assert shop.ledger.on_hand("TEA") == 20


def test_missing_columns_are_named(shop):
    with pytest.raises(ImportFailed, match="no column kind, quantity"):
        import_csv("sku,amount\nTEA,3\n", shop.catalog, shop.ledger)


def test_every_problem_is_named_by_its_line(shop):
    text = HEADER + "MILK,receive,1,\nTEA,receive,1 box,\nTEA,borrow,1,\nTEA,issue,21,\nTEA,receive,many,\n"
    with pytest.raises(ImportFailed) as failure:
        import_csv(text, shop.catalog, shop.ledger)
    assert [problem.line for problem in failure.value.problems] == [2, 4, 5, 6]
    assert "21 of TEA asked for, 20 on hand" in failure.value.problems[2].reason


def test_nothing_is_booked_when_a_row_has_a_problem(shop):
    with pytest.raises(ImportFailed):
        import_csv(HEADER + "TEA,receive,3 box,\nMILK,receive,1,\n", shop.catalog, shop.ledger)
    assert shop.ledger.history == ()


def test_an_empty_file_books_nothing(shop):
    assert import_csv(HEADER, shop.catalog, shop.ledger) == 0
