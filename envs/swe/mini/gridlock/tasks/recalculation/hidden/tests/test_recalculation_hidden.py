import sys

import pytest

from gridlock import Fault, Sheet

ROWS = 13
MANY = 5000


def cost(sheet, name, text):
    before = sheet.evaluations
    sheet.set(name, text)
    return sheet.evaluations - before


class TooMuchWork(Exception):
    """More functions were called than the size of the sheet allows."""


def bounded_cost(sheet, name, text, limit):
    """The same, but gives up beyond so many calls; whoever goes round that has the clock of the test run against him."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"
        if count > limit:
            raise TooMuchWork(f"more than {limit} calls")

    sys.setprofile(profile)
    try:
        return cost(sheet, name, text)
    finally:
        sys.setprofile(None)


@pytest.fixture
def ladder():
    sheet = Sheet()
    sheet.set("A1", "1")
    sheet.set("B1", "=A1+1")
    for row in range(2, ROWS + 1):
        sheet.set(f"A{row}", f"=A{row - 1}+B{row - 1}")
        sheet.set(f"B{row}", f"=A{row - 1}-B{row - 1}")
    return sheet


def test_every_formula_of_a_ladder_is_evaluated_once(ladder):
    assert cost(ladder, "A1", "2") == 2 * ROWS - 1
    assert ladder.value("A13") == 128
    assert ladder.value("B13") == 192


def test_a_ladder_of_thousands_of_rows():
    sheet = Sheet()
    sheet.set("A1", "1")
    sheet.set("B1", "=A1+1")
    for row in range(2, MANY + 1):
        above = row - 1
        sheet.set(f"A{row}", f"=A{above}+B{above}-A{above}")
        sheet.set(f"B{row}", f"=A{above}-B{above}+B{above}")
    assert bounded_cost(sheet, "A1", "5", limit=500 * MANY) == 2 * MANY - 1
    assert sheet.value(f"A{MANY}") == 6
    assert sheet.value(f"B{MANY}") == 5


def test_a_change_in_the_middle_costs_what_is_below(ladder):
    assert cost(ladder, "A7", "=A6+B6+1") == 13
    assert ladder.value("A7") == 9
    assert ladder.value("A13") == 72
    assert ladder.value("B13") == 128


def test_sums_over_all_cells_above_are_evaluated_once():
    sheet = Sheet()
    sheet.set("A1", "1")
    for row in range(2, 15):
        sheet.set(f"A{row}", f"=SUM(A1:A{row - 1})")
    assert cost(sheet, "A1", "3") == 13
    assert sheet.value("A14") == 3 * 2**12


@pytest.mark.parametrize(
    "texts",
    [
        {"A1": "1", "B1": "=A1", "C1": "=B1", "D1": "=C1", "E1": "=A1+D1"},
        {"E1": "=A1+D1", "D1": "=C1", "C1": "=B1", "B1": "=A1", "A1": "1"},
        {"A1": "1", "C1": "=A1", "D1": "=C1", "B1": "=D1", "E1": "=B1+A1"},
        {"A1": "1", "Z9": "=A1", "B2": "=Z9", "E1": "=B2+A1+Z9-A1"},
    ],
    ids=["forwards", "backwards", "zigzag", "far"],
)
def test_ways_of_different_lengths_meet_with_the_new_value(texts):
    sheet = Sheet()
    for name, text in texts.items():
        sheet.set(name, text)
    assert cost(sheet, "A1", "10") == len(texts) - 1
    assert sheet.value("E1") == 20


def test_a_long_chain_is_no_problem():
    sheet = Sheet()
    sheet.set("A1", "1")
    for row in range(2, 3001):
        sheet.set(f"A{row}", f"=A{row - 1}+1")
    assert cost(sheet, "A1", "5") == 2999
    assert sheet.value("A3000") == 3004


def test_other_formulas_are_left_alone():
    sheet = Sheet()
    for name, text in (("A1", "1"), ("B1", "=A1"), ("A2", "1"), ("B2", "=A2"), ("C2", "=B2+B1")):
        sheet.set(name, text)
    assert cost(sheet, "A1", "7") == 2
    assert cost(sheet, "C9", "7") == 0
    assert cost(sheet, "C2", "=B2-B1") == 1
    assert sheet.value("C2") == -6


def test_a_fault_goes_through_once_and_goes_away(ladder):
    assert cost(ladder, "A1", "=1/0") == 2 * ROWS
    assert ladder.value("B13") == Fault("#DIV/0!")
    assert cost(ladder, "A1", "2") == 2 * ROWS - 1
    assert ladder.value("B13") == 192
