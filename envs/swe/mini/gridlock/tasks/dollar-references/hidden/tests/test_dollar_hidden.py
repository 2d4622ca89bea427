import pytest

from gridlock import Fault, FormulaError, Sheet, from_csv, to_csv


def copied(text, source, target):
    sheet = Sheet()
    sheet.set(source, text)
    sheet.copy(source, target)
    return sheet.text(target)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=$A1", "=$A3"),
        ("=A$1", "=B$1"),
        ("=$A$1", "=$A$1"),
        ("=A1", "=B3"),
        ("=SUM(A$1:$B2)", "=SUM(B$1:$B4)"),
        ("=$AA$10+$Z9 * 2", "=$AA$10+$Z11 * 2"),
        ('="$A1" & $A1', '="$A1" & $A3'),
        ("$A1", "$A1"),
    ],
)
def test_what_follows_a_dollar_stays(text, expected):
    assert copied(text, "D1", "E3") == expected


def test_a_copy_can_be_copied_on():
    sheet = Sheet()
    sheet.set("C1", "=$A1+B$1+$B$1")
    sheet.copy("C1", "D2")
    sheet.copy("D2", "E4")
    assert sheet.text("E4") == "=$A4+D$1+$B$1"


@pytest.mark.parametrize("text", ["=$A$1", "=$A1", "=A$1", "=SUM($A$1:$A1)", "=sum(a$1:A1)"])
def test_the_value_is_that_of_the_cell_and_follows_it(text):
    sheet = Sheet()
    sheet.set("A1", "4")
    sheet.set("B1", text)
    assert sheet.value("B1") == 4
    sheet.set("A1", "5")
    assert sheet.value("B1") == 5


def test_a_rate_is_used_by_a_whole_column():
    sheet = from_csv("0.5,10\n,20\n,30\n")
    sheet.set("C1", "=$A$1*B1")
    sheet.copy("C1", "C2:C3")
    assert [sheet.value(f"C{row}") for row in (1, 2, 3)] == [5.0, 10.0, 15.0]
    sheet.set("A1", "2")
    assert [sheet.value(f"C{row}") for row in (1, 2, 3)] == [20.0, 40.0, 60.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("=$C$1", "=$C$1"), ("=$C2", "=$C1"), ("=$A1", "=#REF!"), ("=A$1", "=#REF!"), ("=A2", "=#REF!")],
)
def test_only_a_part_that_moves_can_leave_the_sheet(text, expected):
    assert copied(text, "B2", "A1") == expected


def test_a_reference_that_left_is_a_fault():
    sheet = Sheet()
    sheet.set("B2", "=A$1+1")
    sheet.copy("B2", "A3")
    assert sheet.value("A3") == Fault("#REF!")


def test_a_dollar_in_a_text_is_a_character():
    sheet = Sheet()
    sheet.set("A1", "$12")
    sheet.set("B1", '="$" & "A$1"')
    assert sheet.value("A1") == "$12"
    assert sheet.value("B1") == "$A$1"


@pytest.mark.parametrize("text", ["=$", "=A1$", "=$$A1", "=A$$1", "=$1", "=$SUM(A1)", "=A$1$", "=1$A1", "=$A"])
def test_other_dollars_are_refused(text):
    sheet = Sheet()
    sheet.set("B1", "before")
    with pytest.raises(FormulaError):
        sheet.set("B1", text)
    assert sheet.text("B1") == "before"


def test_texts_of_formulas_come_back_as_they_were():
    sheet = from_csv("=$B$1,3\n")
    assert sheet.text("A1") == "=$B$1"
    assert to_csv(sheet, formulas=True) == "=$B$1,3\n"
    assert to_csv(sheet) == "3,3\n"
