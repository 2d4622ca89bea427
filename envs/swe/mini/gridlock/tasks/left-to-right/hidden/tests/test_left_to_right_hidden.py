import unittest

import pytest

from gridlock import Sheet


def value(text):
    sheet = Sheet()
    for name, number in (("A1", "100"), ("B1", "30"), ("C1", "5")):
        sheet.set(name, number)
    sheet.set("D1", text)
    return sheet.value("D1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=10-3-2", 5.0),
        ("=20-5-4-3", 8.0),
        ("=20-5-4-3-2", 6.0),
        ("=10-3+2", 9.0),
        ("=1-2+3-4+5", 3.0),
        ("=A1-B1-C1", 65.0),
    ],
)
def test_sums_go_from_the_left(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("=100/10/2", 5.0), ("=8/4*2", 4.0), ("=96/2/3/4", 4.0), ("=2*A1/B1*3", 20.0)]
)
def test_products_go_from_the_left(text, expected):
    assert value(text) == expected


class Others(unittest.TestCase):
    def test_comparisons_go_from_the_left(self):
        self.assertIs(value("=3>2=TRUE"), True)
        self.assertIs(value("=1=2=FALSE"), True)

    def test_sums_of_products_go_from_the_left(self):
        self.assertEqual(value("=20-12/3/2-1"), 17.0)

    def test_parentheses_stay_what_they_are(self):
        self.assertEqual(value("=10-(3-2)"), 9.0)
        self.assertEqual(value("=10-(3-2)-1"), 8.0)
        self.assertEqual(value("=100/(10/2)"), 20.0)

    def test_powers_still_go_from_the_right(self):
        self.assertEqual(value("=2^3^2"), 512.0)
        self.assertEqual(value("=2^-1^2"), 0.5)
        self.assertEqual(value("=-2^2"), -4.0)

    def test_texts_join_in_order(self):
        self.assertEqual(value('="a"&"b"&1-1-1'), "ab-1")
