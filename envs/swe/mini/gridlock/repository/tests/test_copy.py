import pytest

from gridlock import Fault


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=A1", "=B3"),
        ("=SUM(A1:B2) + c3", "=SUM(B3:C4) + D5"),
        ('=A1 & "A1"', '=B3 & "A1"'),
        ("A1", "A1"),
        ("12", "12"),
        ("=Z9*2", "=AA11*2"),
    ],
)
def test_references_move_along(sheet, text, expected):
    sheet.set("D1", text)
    sheet.copy("D1", "E3")
    assert sheet.text("E3") == expected


@pytest.mark.parametrize(("text", "expected"), [("=$A1", "=$A3"), ("=A$1", "=B$1"), ("=$A$1", "=$A$1")])
def test_a_dollar_keeps_a_part_where_it_is(sheet, text, expected):
    sheet.set("D1", text)
    sheet.copy("D1", "E3")
    assert sheet.text("E3") == expected


def test_a_dollar_makes_no_difference_to_the_value(sheet):
    sheet.set("A1", "4")
    sheet.set("B1", "=$A$1+$A1+A$1")
    assert sheet.value("B1") == 12
    sheet.set("A1", "5")
    assert sheet.value("B1") == 15


def test_a_formula_is_copied_into_every_cell_of_a_range(sheet):
    sheet.set("A1", "1")
    sheet.set("A2", "=A1*2")
    sheet.copy("A2", "A3:A5")
    assert [sheet.value(f"A{row}") for row in range(1, 6)] == [1, 2, 4, 8, 16]


def test_a_reference_that_leaves_the_sheet_is_a_fault(sheet):
    sheet.set("B2", "=A1+1")
    sheet.copy("B2", "A1")
    assert sheet.text("A1") == "=#REF!+1"
    assert sheet.value("A1") == Fault("#REF!")


def test_copying_an_empty_cell_clears(sheet):
    sheet.set("B1", "5")
    sheet.copy("A1", "B1")
    assert sheet.names() == []
