import pytest

from depot import Item, Units, Warehouse


@pytest.fixture
def shop():
    """Tea in bags and boxes of 20, rice by the kilogram and in sacks of 12.5."""
    warehouse = Warehouse()
    warehouse.catalog.add(Item("TEA", "Green tea", Units("bag", {"box": 20, "case": 240})))
    warehouse.catalog.add(Item("RICE", "Basmati rice", Units("kg", {"sack": "12.5"})))
    return warehouse
