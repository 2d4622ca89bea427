from decimal import Decimal

import pytest

from depot import DepotError, Proposal, Rule, propose


def rule(sku="TEA", minimum=40, target=100, pack=""):
    return Rule(sku, Decimal(minimum), Decimal(target), pack)


def test_enough_stock_asks_for_nothing(shop):
    shop.receive("TEA", "2 box")
    assert propose([rule()], shop.catalog, shop.book) == []


def test_below_the_minimum_the_target_is_bought(shop):
    shop.receive("TEA", "39")
    assert propose([rule()], shop.catalog, shop.book) == [Proposal("TEA", 61, "bag", Decimal(61))]


def test_a_pack_is_the_unit_of_the_proposal(shop):
    shop.receive("TEA", "1 box")
    assert propose([rule(pack="box")], shop.catalog, shop.book) == [Proposal("TEA", 4, "box", Decimal(80))]


def test_a_started_pack_is_bought_whole(shop):
    shop.receive("TEA", "15")
    assert propose([rule(pack="box")], shop.catalog, shop.book) == [Proposal("TEA", 5, "box", Decimal(100))]


def test_reserved_stock_counts_as_gone(shop):
    shop.receive("TEA", "2 box")
    shop.book.reserve("TEA", "1 box", until=10)
    assert [proposal.packs for proposal in propose([rule(pack="box")], shop.catalog, shop.book)] == [4]
    assert propose([rule(pack="box")], shop.catalog, shop.book, now=10) == []


def test_proposals_come_in_the_order_of_the_rules(shop):
    rules = [rule("TEA"), rule("RICE", pack="sack")]
    assert [proposal.sku for proposal in propose(rules, shop.catalog, shop.book)] == ["TEA", "RICE"]


def test_a_target_below_the_minimum_is_a_mistake():
    with pytest.raises(DepotError, match="below its minimum"):
        rule(minimum=10, target=9)
