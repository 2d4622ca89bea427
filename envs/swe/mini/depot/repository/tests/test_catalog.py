import pytest

from depot import DepotError, Item, Units, UnknownSku


def test_items_are_found_by_sku(shop):
    assert shop.catalog.get("TEA").name == "Green tea"
    assert "TEA" in shop.catalog
    assert len(shop.catalog) == 2


def test_an_unknown_sku_is_an_error(shop):
    with pytest.raises(UnknownSku, match="'MILK'"):
        shop.catalog.get("MILK")


def test_a_sku_is_used_once(shop):
    with pytest.raises(DepotError, match="already"):
        shop.catalog.add(Item("TEA", "Black tea", Units("bag")))


def test_a_retired_item_leaves_its_movements_behind(shop):
    shop.receive("TEA", "1 box")
    shop.catalog.retire("TEA")
    assert "TEA" not in shop.catalog
    assert shop.ledger.on_hand("TEA") == 20
