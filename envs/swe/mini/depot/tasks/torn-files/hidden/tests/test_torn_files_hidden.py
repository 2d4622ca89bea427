import _io
import builtins
import errno
import io
import os
import resource
from contextlib import contextmanager

import pytest

from depot import Item, StoreError, Units
from depot.report import export_csv
from depot.store import load, save


@contextmanager
def full_disk():
    """No file may grow beyond 200 bytes, so that a write fails in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Disk:
    """Has room for so many more characters, whoever writes them and wherever to."""

    def __init__(self, room):
        self.room = room

    def write(self, write, data):
        part, self.room = data[: self.room], self.room - len(data)
        if self.room >= 0:
            return write(data)
        self.room = 0
        write(part)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Stream:
    """A file on such a disk."""

    def __init__(self, stream, disk):
        self.stream, self.disk = stream, disk

    def write(self, data):
        return self.disk.write(self.stream.write, data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __enter__(self):
        self.stream.__enter__()
        return self

    def __exit__(self, *what):
        return self.stream.__exit__(*what)

    def __iter__(self):
        return iter(self.stream)

    def __getattr__(self, name):
        return getattr(self.stream, name)


@contextmanager
def small_disk(room):
    """The disk has room for so many characters."""
    disk, opens, write = Disk(room), io.open, os.write
    modules = (io, _io, builtins)

    def opened(*args, **words):
        stream = opens(*args, **words)
        return stream if stream.mode in ("r", "rb") else Stream(stream, disk)

    for module in modules:
        module.open = opened
    os.write = lambda number, data: disk.write(lambda part: write(number, part), data)
    try:
        yield
    finally:
        os.write = write
        for module in modules:
            module.open = opens


@pytest.fixture
def busy(shop):
    for number in range(100):
        shop.receive("TEA", "1 box", f"PO-{number}")
    shop.receive("RICE", "1 sack")
    return shop


@pytest.fixture
def crowded(shop):
    """So many items that their table is longer than 200 bytes."""
    for number in range(40):
        shop.catalog.add(Item(f"A{number}", "Something", Units("piece")))
        shop.receive(f"A{number}", "1")
    return shop


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_data_that_json_cannot_hold_leaves_the_saved_file_alone(busy, tmp_path):
    path = tmp_path / "shop.json"
    save(busy, path)
    before = path.read_bytes()
    busy.settings["owner"] = object()
    with pytest.raises(StoreError):
        save(busy, path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["shop.json"]


def test_a_full_disk_leaves_the_saved_file_alone(busy, tmp_path):
    path = tmp_path / "shop.json"
    save(busy, path)
    busy.receive("TEA", "1")
    with full_disk(), pytest.raises(StoreError):
        save(busy, path)
    assert load(path).ledger.on_hand("TEA") == 2000
    assert names(tmp_path) == ["shop.json"]


def test_a_first_save_that_fails_leaves_nothing(busy, tmp_path):
    busy.settings["owner"] = {1, 2}
    with pytest.raises(StoreError):
        save(busy, tmp_path / "shop.json")
    assert names(tmp_path) == []


def test_a_retired_item_leaves_the_exported_table_alone(busy, tmp_path):
    path = tmp_path / "stock.csv"
    path.write_text("what was there\n")
    busy.catalog.retire("TEA")
    with pytest.raises(StoreError):
        export_csv(busy, path)
    assert path.read_text() == "what was there\n"
    assert names(tmp_path) == ["stock.csv"]


def test_a_full_disk_leaves_the_exported_table_alone(crowded, tmp_path):
    path = tmp_path / "stock.csv"
    path.write_text("what was there\n")
    with full_disk(), pytest.raises(StoreError):
        export_csv(crowded, path)
    assert path.read_text() == "what was there\n"
    assert names(tmp_path) == ["stock.csv"]


def test_a_first_export_that_fails_leaves_nothing(busy, tmp_path):
    busy.catalog.retire("TEA")
    with pytest.raises(StoreError):
        export_csv(busy, tmp_path / "stock.csv")
    assert names(tmp_path) == []


def test_success_replaces_the_file_and_leaves_nothing_else(busy, tmp_path):
    for name, write in (("shop.json", save), ("stock.csv", lambda shop, path: export_csv(shop, path))):
        (tmp_path / name).write_text("x" * 100_000)
        write(busy, tmp_path / name)
    assert names(tmp_path) == ["shop.json", "stock.csv"]
    assert load(tmp_path / "shop.json").ledger.on_hand("TEA") == 2000
    assert (tmp_path / "stock.csv").read_text().splitlines()[-1] == "TEA,Green tea,2000,0,2000,bag"


ROOMS = (0, 1, 60, 900)
"""The first file is longer than all of them."""


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(
    ("before", "left"), [("what was there\n", [("shop.json", "what was there\n")]), (None, [])], ids=["replaced", "first"]
)
def test_a_disk_that_runs_full_on_the_way_leaves_the_saved_file_alone(busy, tmp_path, room, before, left):
    path = tmp_path / "shop.json"
    if before:
        path.write_text(before)
    with pytest.raises(StoreError), small_disk(room):
        save(busy, path)
    assert [(name, (tmp_path / name).read_text()) for name in names(tmp_path)] == left
    save(busy, path)
    assert load(path).ledger.on_hand("TEA") == 2000
    assert names(tmp_path) == ["shop.json"]


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(
    ("before", "left"), [("what was there\n", [("stock.csv", "what was there\n")]), (None, [])], ids=["replaced", "first"]
)
def test_a_disk_that_runs_full_on_the_way_leaves_the_table_alone(crowded, tmp_path, room, before, left):
    path = tmp_path / "stock.csv"
    if before:
        path.write_text(before)
    with pytest.raises(StoreError), small_disk(room):
        export_csv(crowded, path)
    assert [(name, (tmp_path / name).read_text()) for name in names(tmp_path)] == left
    export_csv(crowded, path)
    assert path.read_text().splitlines()[-1] == "A9,Something,1,0,1,piece"
    assert names(tmp_path) == ["stock.csv"]


def test_a_full_disk_and_data_that_json_cannot_hold(busy, tmp_path):
    path = tmp_path / "shop.json"
    path.write_text("what was there\n")
    busy.settings["owner"] = object()
    with pytest.raises(StoreError), small_disk(10):
        save(busy, path)
    assert path.read_text() == "what was there\n"
    assert names(tmp_path) == ["shop.json"]
    busy.settings["owner"] = "Ann"
    save(busy, path)
    assert load(path).settings == {"owner": "Ann"}


def test_settings_that_hold_themselves_leave_the_saved_file_alone(busy, tmp_path):
    path = tmp_path / "shop.json"
    path.write_text("what was there\n")
    busy.settings["again"] = busy.settings
    with pytest.raises(StoreError):
        save(busy, path)
    assert path.read_text() == "what was there\n"
    assert names(tmp_path) == ["shop.json"]
    del busy.settings["again"]
    save(busy, path)
    assert load(path).settings == {}


@pytest.mark.parametrize("write", [save, export_csv], ids=["save", "export"])
def test_a_folder_in_the_place_of_the_file_stays_alone(busy, tmp_path, write):
    (tmp_path / "target").mkdir()
    with pytest.raises(StoreError):
        write(busy, tmp_path / "target")
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == []
    write(busy, tmp_path / "target" / "file")
    assert names(tmp_path / "target") == ["file"]
    assert names(tmp_path) == ["target"]


def test_the_last_row_that_fails_leaves_the_table_alone(crowded, tmp_path):
    path = tmp_path / "stock.csv"
    path.write_text("what was there\n")
    crowded.catalog.retire("A9")
    with pytest.raises(StoreError):
        export_csv(crowded, path)
    assert path.read_text() == "what was there\n"
    assert names(tmp_path) == ["stock.csv"]
    crowded.catalog.add(Item("A9", "Another", Units("piece")))
    export_csv(crowded, path)
    assert path.read_text().splitlines()[-1] == "A9,Another,1,0,1,piece"
