import pytest

from gridlock import CycleError, Sheet


@pytest.fixture
def refused():
    """X1 -> B1 <- A1, after A1 was to read B1."""
    sheet = Sheet()
    sheet.set("X1", "1")
    sheet.set("A1", "5")
    sheet.set("B1", "=A1+X1")
    with pytest.raises(CycleError):
        sheet.set("A1", "=B1")
    return sheet


def test_the_text_and_the_values_are_the_old_ones(refused):
    assert refused.text("A1") == "5"
    assert refused.value("A1") == 5
    assert refused.value("B1") == 6
    assert refused.names() == ["A1", "B1", "X1"]


def test_values_keep_following_other_cells(refused):
    refused.set("X1", "10")
    assert refused.value("B1") == 15
    assert refused.value("A1") == 5


def test_values_keep_following_the_cell_itself(refused):
    refused.set("A1", "7")
    assert refused.value("B1") == 8


def test_an_empty_cell_stays_empty():
    sheet = Sheet()
    sheet.set("B1", "=A1+1")
    with pytest.raises(CycleError):
        sheet.set("A1", "=B1")
    assert sheet.names() == ["B1"]
    assert sheet.text("A1") == ""
    assert sheet.value("A1") is None


def test_a_formula_keeps_what_it_read():
    sheet = Sheet()
    for name, text in (("A1", "2"), ("B1", "=A1*10"), ("C1", "=B1+1")):
        sheet.set(name, text)
    with pytest.raises(CycleError) as refusal:
        sheet.set("B1", "=C1+D1")
    assert refusal.value.cells == ("B1", "C1", "B1")
    sheet.set("A1", "3")
    assert sheet.value("B1") == 30
    assert sheet.value("C1") == 31


def test_what_the_refused_formula_read_stays_free():
    sheet = Sheet()
    sheet.set("B1", "=A1")
    with pytest.raises(CycleError):
        sheet.set("A1", "=B1+D1")
    before = sheet.evaluations
    sheet.set("D1", "=A1+1")
    assert sheet.value("D1") == 1
    assert sheet.evaluations - before == 1


def test_a_cell_that_reads_itself_is_refused_the_same_way():
    sheet = Sheet()
    sheet.set("A1", "4")
    with pytest.raises(CycleError):
        sheet.set("A1", "=SUM(A1:A3)")
    sheet.set("B1", "=A1+1")
    sheet.set("A2", "9")
    assert sheet.text("A1") == "4"
    assert sheet.value("B1") == 5


def test_it_can_be_refused_again_and_again():
    sheet = Sheet()
    for name, text in (("A1", "1"), ("B1", "=A1"), ("C1", "=B1")):
        sheet.set(name, text)
    for text in ("=C1", "=B1", "=A1", "=C1"):
        with pytest.raises(CycleError):
            sheet.set("A1", text)
    sheet.set("A1", "2")
    assert sheet.value("C1") == 2


def test_a_refusal_evaluates_nothing():
    sheet = Sheet()
    for name, text in (("X1", "1"), ("A1", "=X1+4"), ("B1", "=A1+X1"), ("C1", "=B1*2")):
        sheet.set(name, text)
    before = sheet.evaluations
    for text in ("=C1", "=B1+X1", "=SUM(A1:C1)"):
        with pytest.raises(CycleError):
            sheet.set("A1", text)
    assert sheet.evaluations - before == 0
    sheet.set("A1", "=X1+5")
    assert sheet.evaluations - before == 3
    assert [sheet.value(name) for name in ("A1", "B1", "C1")] == [6, 7, 14]


def test_a_copy_that_is_refused_leaves_its_cell():
    sheet = Sheet()
    for name, text in (("A1", "2"), ("B1", "=A1+1"), ("B3", "=C3")):
        sheet.set(name, text)
    with pytest.raises(CycleError):
        sheet.copy("B3", "A1")
    assert (sheet.text("A1"), sheet.value("A1"), sheet.value("B1")) == ("2", 2, 3)
    sheet.copy("B3", "D1")
    sheet.set("A1", "5")
    assert (sheet.text("D1"), sheet.value("B1")) == ("=E1", 6)


def test_the_size_of_the_sheet_stays():
    sheet = Sheet()
    sheet.set("B2", "=D9+1")
    assert sheet.size() == (2, 2)
    with pytest.raises(CycleError):
        sheet.set("D9", "=B2")
    assert sheet.size() == (2, 2)
    assert sheet.names() == ["B2"]
    sheet.set("D9", "4")
    assert sheet.value("B2") == 5
    assert sheet.size() == (9, 4)
