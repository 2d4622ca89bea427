import pytest

from gridlock import BadReference
from gridlock.refs import Ref, parse_area


@pytest.mark.parametrize(
    ("name", "row", "column"), [("A1", 1, 1), ("Z9", 9, 26), ("AA10", 10, 27), ("b2", 2, 2), ("ZZ100", 100, 702)]
)
def test_a_name_is_a_column_and_a_row(name, row, column):
    assert Ref.parse(name) == Ref(row, column)
    assert str(Ref(row, column)) == name.upper()


@pytest.mark.parametrize("name", ["", "A", "1", "A0", "1A", "A1:B2", "ABCD1"])
def test_other_names_are_refused(name):
    with pytest.raises(BadReference, match="not the name of a cell"):
        Ref.parse(name)


@pytest.mark.parametrize("name", ["A1:B2", "B2:A1", "A2:B1"])
def test_an_area_is_its_cells_row_by_row(name):
    assert [str(ref) for ref in parse_area(name)] == ["A1", "B1", "A2", "B2"]


def test_a_cell_is_an_area():
    assert parse_area("C7") == [Ref(7, 3)]
