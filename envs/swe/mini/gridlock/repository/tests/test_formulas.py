import pytest

from gridlock import Fault, FormulaError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1+2*3", 7.0),
        ("=(1+2)*3", 9.0),
        ("=10-3", 7.0),
        ("=10-3-2", 5.0),
        ("=100/10/2", 5.0),
        ("=2^3^2", 512.0),
        ("=-2^2", -4.0),
        ("=2^-1", 0.5),
        ("=--3", 3.0),
        ("= 1 + .5 ", 1.5),
    ],
)
def test_arithmetic(value_of, text, expected):
    assert value_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('="a"&"b"', "ab"),
        ('="say ""hi"""', 'say "hi"'),
        ("=1&2", "12"),
        ('="A"="a"', True),
        ("=2>1", True),
        ("=2<>2", False),
        ('=1<"a"', True),
        ("=TRUE", True),
        ('=1+2&"x"', "3x"),
    ],
)
def test_texts_and_comparisons(value_of, text, expected):
    assert value_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=SUM(A1:B2)", 10.0),
        ("=SUM(A1, B2, 5)", 10.0),
        ("=AVERAGE(A1:B2)", 2.5),
        ("=MIN(A1:B2)", 1.0),
        ("=max(A1:B2)", 4.0),
        ("=COUNT(A1:C3)", 4.0),
        ("=ROUND(2.345, 1)", 2.3),
        ("=ABS(-3)", 3.0),
        ('=LEN("four")', 4.0),
        ('=UPPER("four")', "FOUR"),
        ("=IF(A1<B1, 10, 20)", 10.0),
        ("=IF(A1>B1, 10)", False),
        ("=IF(TRUE, 1, 1/0)", 1.0),
    ],
)
def test_functions(sheet, value_of, text, expected):
    for name, number in (("A1", "1"), ("B1", "2"), ("A2", "3"), ("B2", "4"), ("C3", "a text")):
        sheet.set(name, number)
    assert value_of(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("=1/0", "#DIV/0!"),
        ('=1+"one"', "#VALUE!"),
        ("=NOSUCH(1)", "#NAME?"),
        ("=#REF!+1", "#REF!"),
        ("=SUM(1, 1/0)", "#DIV/0!"),
        ("=(0-8)^0.5", "#VALUE!"),
        ("=A1:B2", "#VALUE!"),
        ("=AVERAGE(A1:A3)", "#DIV/0!"),
    ],
)
def test_faults_are_values(value_of, text, code):
    assert value_of(text) == Fault(code)


@pytest.mark.parametrize(
    ("text", "position"), [("=1+", 2), ("=(1", 2), ("=1 2", 2), ("=SUM(1", 5), ("=A1:", 3), ("=!", 0), ("=", 0)]
)
def test_what_cannot_be_read_is_refused_with_its_place(sheet, text, position):
    sheet.set("A1", "before")
    with pytest.raises(FormulaError) as refusal:
        sheet.set("A1", text)
    assert refusal.value.position == position
    assert sheet.text("A1") == "before"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12.0),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("'007", "007"),
        ("nan", "nan"),
        ("1_000", "1_000"),
        (" ", " "),
    ],
)
def test_other_texts_are_numbers_truth_values_or_themselves(sheet, text, expected):
    sheet.set("A1", text)
    assert sheet.value("A1") == expected
