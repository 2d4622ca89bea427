from decimal import Decimal

import pytest

from depot import Item, Proposal, Rule, Units, Warehouse, propose


def proposal(stock, pack, minimum=40, target=100):
    shop = Warehouse()
    shop.catalog.add(Item("X", "Anything", Units("kg", {"box": 20, "sack": "12.5", "tin": "0.3", "cup": "0.1", "jar": "0.7"})))
    if stock:
        shop.receive("X", stock)
    (found,) = propose([Rule("X", Decimal(minimum), Decimal(target), pack)], shop.catalog, shop.book)
    return found


@pytest.mark.parametrize(
    ("stock", "packs"), [("", 5), ("1", 5), ("15", 5), ("19", 5), ("20", 4), ("21", 4), ("39", 4), ("39.5", 4)]
)
def test_the_smallest_number_of_boxes_reaches_the_target(stock, packs):
    assert proposal(stock, "box").packs == packs


def test_one_base_unit_missing_is_a_whole_pack():
    assert proposal("39", "box", target=40).packs == 1


def test_packs_need_not_hold_a_whole_number():
    assert proposal("", "sack").packs == 8
    assert proposal("13", "sack").packs == 7
    assert proposal("12.5", "sack").packs == 7
    assert proposal("12.4", "sack").packs == 8


def test_small_packs_fit_exactly():
    assert proposal("", "tin", minimum=1, target=3).packs == 10
    assert proposal("0.1", "tin", minimum=1, target=3).packs == 10


def test_without_a_pack_whole_base_units_are_bought():
    assert proposal("39.2", "").packs == 61
    assert proposal("39.7", "").packs == 61
    assert proposal("39", "").packs == 61


def test_the_amount_is_that_of_the_packs():
    found = proposal("15", "box")
    assert found.amount == Decimal(100)
    assert found.unit == "box"
    assert type(found.packs) is int


@pytest.mark.parametrize(
    ("target", "pack", "packs"),
    [
        ("2.1", "tin", 7),
        ("2.2", "tin", 8),
        ("1.1", "cup", 11),
        ("1.9", "cup", 19),
        ("4.9", "jar", 7),
        ("4.91", "jar", 8),
        ("100.0000000001", "box", 6),
        ("100.00000000000000000001", "box", 6),
        ("100.00000000000000000001", "", 101),
        ("12.50000000000000001", "sack", 2),
        ("9007199254740993", "", 9007199254740993),
    ],
)
def test_not_a_digit_is_lost(target, pack, packs):
    assert proposal("", pack, minimum=1, target=target).packs == packs


def test_what_is_reserved_is_missing_too():
    shop = Warehouse()
    shop.catalog.add(Item("X", "Anything", Units("kg", {"tin": "0.3"})))
    shop.receive("X", "10")
    shop.book.reserve("X", "9.1", until=10)
    rules = [Rule("X", Decimal(1), Decimal(3), "tin")]
    assert propose(rules, shop.catalog, shop.book) == [Proposal("X", 7, "tin", Decimal("2.1"))]
    assert propose(rules, shop.catalog, shop.book, now=10) == []
