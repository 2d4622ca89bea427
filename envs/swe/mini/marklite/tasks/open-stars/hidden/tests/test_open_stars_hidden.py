import sys

import pytest

from marklite import parse, to_html


class TooMuchWork(Exception):
    """More functions were called than the length of the text allows."""


def calls(text, limit):
    """How many Python functions `parse` calls for a text; gives up beyond the limit."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        if event == "call":
            count += 1
            if count > limit:
                raise TooMuchWork(f"more than {limit} calls for {len(text)} characters")

    sys.setprofile(profile)
    try:
        parse(text)
    finally:
        sys.setprofile(None)
    return count


def html(text):
    calls(text, limit=60 * len(text) + 2000)
    return to_html(parse(text)).removeprefix("<p>").removesuffix("</p>\n")


@pytest.mark.parametrize("unit", ["*Anna ", "**Anna ", "*a **b ", "**a *b "])
def test_unclosed_marks_cost_no_more_than_their_length(unit):
    text = unit * 60
    assert html(text) == text.rstrip()


@pytest.mark.parametrize(("unit", "times"), [("*Anna ", 3000), ("**Anna ", 3000), ("*a **b ", 50_000)])
def test_a_great_many_marks(unit, times):
    # `calls` tells early who does too much; whoever goes round it has the clock of the test run against him.
    text = unit * times
    made = html(text + "*c*")
    assert made.endswith(unit + "<em>c</em>")
    assert len(made) == len(text) + len("<em>c</em>")


def test_the_work_grows_with_the_length():
    small, large = calls("*a " * 150, limit=100_000), calls("*a " * 600, limit=400_000)
    assert large < 6 * small


def test_unclosed_marks_before_one_that_is_closed():
    assert html("*a " * 40 + "*b*") == "*a " * 40 + "<em>b</em>"
    assert html("**a " * 40 + "*b* c") == "**a " * 40 + "<em>b</em> c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a **b* c", "<em>a **b</em> c"),
        ("*a *b*", "*a <em>b</em>"),
        ("*a **b** c*", "<em>a <strong>b</strong> c</em>"),
        ("***both***", "<strong><em>both</em></strong>"),
        ("*a *b* c*", "<em>a <em>b</em> c</em>"),
        ("**a *b **c** d", "**a *b <strong>c</strong> d"),
        ("*a **b *c* d** e*", "<em>a <strong>b <em>c</em> d</strong> e</em>"),
        ("*a* *b *c*", "<em>a</em> *b <em>c</em>"),
        ("**a** *b* **c", "<strong>a</strong> <em>b</em> **c"),
        ("2 * 3 *x*", "2 * 3 <em>x</em>"),
        ("*a `*` b*", "<em>a <code>*</code> b</em>"),
        ("*a [b *c](x) d*", '<em>a <a href="x">b *c</a> d</em>'),
    ],
)
def test_what_marks_mean_stays(text, expected):
    assert html(text) == expected


def test_nesting_that_is_closed():
    assert html("*a **b *c **d *e **f** g* h** i* j** k*") == (
        "<em>a <strong>b <em>c <strong>d <em>e <strong>f</strong> g</em> h</strong> i</em> j</strong> k</em>"
    )
