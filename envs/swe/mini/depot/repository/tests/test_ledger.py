from decimal import Decimal

import pytest

from depot import DepotError, Ledger, Movement, ShortOfStock


def test_stock_on_hand_is_the_sum_of_the_movements():
    ledger = Ledger()
    ledger.post(Movement("TEA", Decimal(60)))
    ledger.post(Movement("TEA", Decimal(-25), "SO-7"))
    assert ledger.on_hand("TEA") == 35
    assert [move.reference for move in ledger.history] == ["", "SO-7"]


def test_what_never_moved_is_not_there():
    assert Ledger().on_hand("TEA") == 0


def test_stock_never_falls_below_zero():
    ledger = Ledger()
    ledger.post(Movement("TEA", Decimal(5)))
    with pytest.raises(ShortOfStock, match="6 of TEA asked for, 5 on hand"):
        ledger.post(Movement("TEA", Decimal(-6)))
    assert ledger.on_hand("TEA") == 5
    assert len(ledger.history) == 1


def test_a_movement_moves_something():
    with pytest.raises(DepotError, match="must move something"):
        Ledger().post(Movement("TEA", Decimal(0)))


def test_listeners_hear_of_every_movement_after_it_is_posted():
    ledger, heard = Ledger(), []
    ledger.subscribe(lambda move: heard.append((move.amount, ledger.on_hand(move.sku))))
    ledger.post(Movement("TEA", Decimal(5)))
    ledger.post(Movement("TEA", Decimal(-2)))
    assert heard == [(5, 5), (-2, 3)]


def test_a_draft_starts_with_the_stock_and_changes_nothing():
    ledger, heard = Ledger(), []
    ledger.post(Movement("TEA", Decimal(5)))
    ledger.subscribe(heard.append)
    draft = ledger.draft()
    draft.post(Movement("TEA", Decimal(-4)))
    assert (draft.on_hand("TEA"), len(draft.history)) == (1, 1)
    assert (ledger.on_hand("TEA"), len(ledger.history), heard) == (5, 1, [])


def test_every_sku_that_moved_is_listed_in_order():
    ledger = Ledger()
    for sku in ("TEA", "RICE", "TEA"):
        ledger.post(Movement(sku, Decimal(1)))
    assert ledger.skus() == ["RICE", "TEA"]
