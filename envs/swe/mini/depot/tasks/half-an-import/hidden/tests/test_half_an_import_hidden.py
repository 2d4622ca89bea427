from decimal import Decimal

import pytest

from depot import ImportFailed, Movement, import_csv

HEADER = "sku,kind,quantity,reference\n"


@pytest.fixture
def heard(shop):
    """20 bags of tea on hand, and what the listeners heard since."""
    shop.receive("TEA", "1 box", "start")
    movements = []
    shop.ledger.subscribe(movements.append)
    return movements


def booked(shop, text):
    """How many rows were booked, and the lines of those that could not be."""
    try:
        return import_csv(HEADER + text, shop.catalog, shop.ledger), []
    except ImportFailed as failure:
        return 0, [problem.line for problem in failure.problems]


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ("TEA,receive,3 box,\nMILK,receive,1,\n", [3]),
        ("TEA,receive,3 box,\nTEA,lend,1,\n", [3]),
        ("TEA,receive,3 box,\nTEA,issue,3 pallet,\n", [3]),
        ("TEA,issue,15,\nTEA,issue,15,\n", [3]),
        ("TEA,issue,21,\nTEA,receive,1 box,\n", [2]),
        ("RICE,receive,1 sack,\nTEA,receive,0,\n", [3]),
        ("RICE,receive,1 sack,\nRICE,issue,13,\nTEA,issue,20,\n", [3]),
    ],
    ids=["unknown-item", "unknown-kind", "unknown-unit", "shortage", "shortage-first", "nothing", "another-item"],
)
def test_a_failed_import_leaves_no_trace(shop, heard, rows, bad):
    assert booked(shop, rows) == (0, bad)
    assert shop.ledger.on_hand("TEA") == 20
    assert shop.ledger.on_hand("RICE") == 0
    assert shop.ledger.history == (Movement("TEA", Decimal(20), "start"),)
    assert heard == []


def test_items_that_only_a_failed_import_knew_are_not_listed(shop, heard):
    booked(shop, "RICE,receive,1 sack,\nMILK,receive,1,\n")
    assert shop.ledger.skus() == ["TEA"]


def test_the_corrected_file_is_booked_once(shop, heard):
    booked(shop, "TEA,receive,3 box,\nMILK,receive,1,\n")
    assert booked(shop, "TEA,receive,3 box,\nRICE,receive,1,\n") == (2, [])
    assert shop.ledger.on_hand("TEA") == 80


def test_a_good_import_tells_the_listeners_once_and_in_order(shop, heard):
    levels = []
    shop.ledger.subscribe(lambda move: levels.append(shop.ledger.on_hand(move.sku)))
    assert booked(shop, "RICE,receive,2,a\nTEA,issue,5,b\nRICE,issue,2,c\n") == (3, [])
    assert [move.reference for move in heard] == ["a", "b", "c"]
    assert levels == [2, 15, 0]
    assert [move.reference for move in shop.ledger.history] == ["start", "a", "b", "c"]


def test_a_row_may_use_what_a_row_above_it_brought_in(shop, heard):
    assert booked(shop, "TEA,receive,2 box,\nTEA,issue,60,\n") == (2, [])
    assert shop.ledger.on_hand("TEA") == 0


def test_every_problem_is_reported_and_bad_rows_count_for_nothing(shop, heard):
    rows = "TEA,issue,15,\nTEA,issue,15,\nMILK,receive,1,\nTEA,issue,5,\nTEA,issue,1,\n"
    assert booked(shop, rows) == (0, [3, 4, 6])


def test_the_stock_can_still_be_reserved_after_a_failed_import(shop, heard):
    booked(shop, "TEA,issue,15,\nMILK,receive,1,\n")
    assert shop.book.available("TEA") == 20
    assert shop.book.reserve("TEA", "1 box", until=10).amount == 20
