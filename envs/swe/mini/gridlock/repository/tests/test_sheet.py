import pytest

from gridlock import BadReference, CycleError, Fault


def test_values_follow_what_they_depend_on(sheet):
    sheet.set("A1", "2")
    sheet.set("B1", "=A1*10")
    sheet.set("C1", "=B1+A1")
    assert sheet.value("C1") == 22
    sheet.set("A1", "3")
    assert (sheet.value("B1"), sheet.value("C1")) == (30, 33)


def test_a_formula_may_come_before_what_it_reads(sheet):
    sheet.set("A1", "=B1+1")
    assert sheet.value("A1") == 1
    sheet.set("B1", "4")
    assert sheet.value("A1") == 5


def test_a_cleared_cell_is_empty_and_counts_as_nothing(sheet):
    sheet.set("A1", "2")
    sheet.set("B1", "=A1+1")
    sheet.set("A1", "")
    assert (sheet.text("A1"), sheet.value("A1"), sheet.value("B1")) == ("", None, 1)
    assert sheet.names() == ["B1"]


def test_a_new_formula_forgets_what_the_old_one_read(sheet):
    sheet.set("A1", "=B1")
    sheet.set("A1", "=C1")
    before = sheet.evaluations
    sheet.set("B1", "5")
    assert sheet.evaluations == before
    sheet.set("B1", "=A1")
    assert sheet.value("B1") is None


def test_names_are_not_case_sensitive(sheet):
    sheet.set("a1", "5")
    assert sheet.value("A1") == 5


def test_only_cells_can_be_set(sheet):
    with pytest.raises(BadReference):
        sheet.set("A1:A2", "5")


def test_faults_travel_and_go_away(sheet):
    sheet.set("A1", "=1/B1")
    sheet.set("A2", "=A1+1")
    assert sheet.value("A2") == Fault("#DIV/0!")
    sheet.set("B1", "4")
    assert sheet.value("A2") == 1.25


def test_a_change_evaluates_what_depends_on_it_and_nothing_else(sheet):
    sheet.set("A1", "1")
    for name, text in (("B1", "=A1+1"), ("C1", "=B1+1"), ("A2", "7"), ("B2", "=A2+1")):
        sheet.set(name, text)
    before = sheet.evaluations
    sheet.set("A1", "2")
    assert sheet.evaluations - before == 2
    assert sheet.value("C1") == 4


def test_a_cell_reached_on_two_ways_is_evaluated_once(sheet):
    for name, text in (("A1", "1"), ("B1", "=A1"), ("C1", "=A1+B1"), ("D1", "=B1+C1")):
        sheet.set(name, text)
    before = sheet.evaluations
    sheet.set("A1", "2")
    assert sheet.evaluations - before == 3
    assert sheet.value("D1") == 6


@pytest.mark.parametrize(
    ("texts", "name", "text", "cells"),
    [
        ({}, "A1", "=A1", ("A1", "A1")),
        ({"B1": "=A1"}, "A1", "=B1+1", ("A1", "B1", "A1")),
        ({"B1": "=A1", "C1": "=B1"}, "A1", "=SUM(C1:C9)", ("A1", "C1", "B1", "A1")),
    ],
)
def test_a_cell_cannot_depend_on_itself(sheet, texts, name, text, cells):
    for other, formula in texts.items():
        sheet.set(other, formula)
    with pytest.raises(CycleError) as refusal:
        sheet.set(name, text)
    assert refusal.value.cells == cells


def test_a_refused_cycle_changes_nothing(sheet):
    sheet.set("A1", "5")
    sheet.set("B1", "=A1+1")
    with pytest.raises(CycleError):
        sheet.set("A1", "=B1")
    assert (sheet.text("A1"), sheet.value("A1"), sheet.value("B1")) == ("5", 5, 6)
    sheet.set("A1", "7")
    assert sheet.value("B1") == 8
