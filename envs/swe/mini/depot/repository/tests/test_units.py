from decimal import Decimal

import pytest

from depot import DepotError, Quantity, Units, UnknownUnit

TEA = Units("bag", {"box": 20, "case": 240})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 box", Quantity(Decimal(3), "box")),
        ("2.5kg", Quantity(Decimal("2.5"), "kg")),
        ("7", Quantity(Decimal(7), "")),
        ("  12  bag ", Quantity(Decimal(12), "bag")),
    ],
)
def test_a_quantity_is_a_number_and_a_unit(text, expected):
    assert Quantity.parse(text) == expected


@pytest.mark.parametrize("text", ["", "box", "-3 box", "3 boxes of tea", "1,5 kg"])
def test_what_is_not_a_quantity_is_refused(text):
    with pytest.raises(DepotError, match="not a quantity"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("3 box", 60), ("1 case", 240), ("5 bag", 5), ("5", 5), ("0.5 box", 10)]
)
def test_quantities_convert_to_the_base_unit(text, expected):
    assert TEA.to_base(text) == expected


def test_an_unknown_unit_names_the_known_ones():
    with pytest.raises(UnknownUnit, match="there are bag, box, case"):
        TEA.to_base("1 pallet")


def test_a_pack_must_hold_something():
    with pytest.raises(DepotError, match="more than nothing"):
        Units("bag", {"box": 0})


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (45, [("box", 2), ("bag", 5)]),
        (500, [("case", 2), ("box", 1)]),
        (3, [("bag", 3)]),
        (0, [("bag", 0)]),
    ],
)
def test_an_amount_splits_into_the_largest_packs_first(amount, expected):
    assert [(part.unit, part.amount) for part in TEA.split(Decimal(amount))] == expected
