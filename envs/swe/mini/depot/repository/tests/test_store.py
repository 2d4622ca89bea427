import pytest

from depot import StoreError
from depot.report import export_csv, table
from depot.store import load, save


@pytest.fixture
def full(shop):
    shop.receive("TEA", "3 box", "PO-118")
    shop.receive("RICE", "1 sack")
    shop.book.reserve("TEA", "25", until=100)
    shop.settings["currency"] = "EUR"
    return shop


def test_a_saved_warehouse_comes_back(full, tmp_path):
    save(full, tmp_path / "shop.json")
    copy = load(tmp_path / "shop.json")
    assert copy.ledger.history == full.ledger.history
    assert list(copy.book) == list(full.book)
    assert copy.book.available("TEA") == 35
    assert copy.settings == {"currency": "EUR"}
    assert copy.catalog.get("RICE").units.to_base("2 sack") == 25


def test_saving_again_replaces_the_file(full, tmp_path):
    save(full, tmp_path / "shop.json")
    full.issue("RICE", "0.5")
    save(full, tmp_path / "shop.json")
    assert load(tmp_path / "shop.json").ledger.on_hand("RICE") == 12
    assert [path.name for path in tmp_path.iterdir()] == ["shop.json"]


def test_a_failed_save_leaves_the_old_file(full, tmp_path):
    save(full, tmp_path / "shop.json")
    full.settings["owner"] = object()
    with pytest.raises(StoreError, match="could not be saved"):
        save(full, tmp_path / "shop.json")
    assert load(tmp_path / "shop.json").settings == {"currency": "EUR"}


def test_what_is_no_warehouse_cannot_be_loaded(tmp_path):
    (tmp_path / "shop.json").write_text("[]")
    with pytest.raises(StoreError, match="no warehouse could be read"):
        load(tmp_path / "shop.json")
    with pytest.raises(StoreError):
        load(tmp_path / "nowhere.json")


def test_a_folder_that_is_not_there_is_a_store_error(full, tmp_path):
    with pytest.raises(StoreError, match="could not be saved"):
        save(full, tmp_path / "no" / "shop.json")


def test_the_table_shows_what_is_available(full):
    assert table(full).splitlines() == [
        "sku   name          on hand  reserved  available  unit",
        "RICE  Basmati rice  12.5     0         12.5       kg",
        "TEA   Green tea     60       25        35         bag",
    ]


def test_the_table_can_be_exported(full, tmp_path):
    export_csv(full, tmp_path / "stock.csv", now=100)
    assert (tmp_path / "stock.csv").read_text().splitlines() == [
        "sku,name,on hand,reserved,available,unit",
        "RICE,Basmati rice,12.5,0,12.5,kg",
        "TEA,Green tea,60,0,60,bag",
    ]


def test_an_item_without_a_catalog_entry_cannot_be_exported(full, tmp_path):
    full.catalog.retire("RICE")
    with pytest.raises(StoreError, match="'RICE'"):
        export_csv(full, tmp_path / "stock.csv")
