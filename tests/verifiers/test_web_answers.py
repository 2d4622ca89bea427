"""An answer passes where it spells the expected value, in any of the ways that can be read in one way."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from agent_envs.verifiers.web import WebVerifier, checks_of
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_envs.artifact import Artifact, Outcome
from agent_envs.errors import TaskError
from agent_envs.tasks import Task


def passes(kind: str, expected: Any, answer: str, /, **options: Any) -> bool:
    check = {"check": "answer", "type": kind, "expected": expected, **options}
    task = Task(id="t", prompt="", secret={"checks": [check]})
    return WebVerifier().verify(task, Artifact(answer=answer, submitted=True)).outcome is Outcome.RESOLVED


USD = {"currency": "USD"}
KG = {"units": {"kg": 1, "g": 0.001}}
TEXTS = {"of": {"type": "text"}}
NUMBERS = {"of": {"type": "number"}}
OFFER = {
    "schema": {"type": "object", "required": ["name", "price"], "properties": {"name": {"type": "string"}}},
    "types": {"price": {"type": "money", "currency": "USD"}, "name": {"type": "text"}},
}
LAMP = {"name": "Desk Lamp", "price": 19.5}

RIGHT: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("text", "Desk Lamp", " desk\u00a0 LAMP. ", {}),
    ("text", "Ada's \u201cbest\u201d", '**Ada\u2019s "best"**', {}),
    ("text", "Stra\u00dfe", "strasse", {}),
    ("text", "Caf\u00e9", "cafe\u0301", {}),
    ("number", 1299.5, "1,299.50", {}),
    ("number", 1299.5, "1 299,50", {}),
    ("number", 1299.5, "1.299,50", {}),
    ("number", 12, "\uff11\uff12", {}),
    ("number", 0.5, "1/2", {}),
    ("number", 1.5, "1500 g", KG),
    ("number", 1.5, "1.5 KG", KG),
    ("number", 1.5, "1.5", KG),
    ("number", 100, "104", {"relative": 0.05}),
    ("money", "12.99", "$12.99", USD),
    ("money", 12.99, "US$ 12.99", USD),
    ("money", 12.99, "12.99 usd.", USD),
    ("money", 12.99, "12,99 $", USD),
    ("money", 0.99, "99 cents", USD),
    ("money", -5, "-$5.00", USD),
    ("money", 1299, "\u20ac1.299,00", {"currency": "EUR"}),
    ("money", 1299, "\uffe51,299", {"currency": "CNY"}),
    ("date", "2026-03-04", "Wed, March 4th, 2026", {}),
    ("date", "2026-03-04", "4 Mar 2026", {}),
    ("date", "2026-03-04", "2026\u5e743\u67084\u65e5", {}),
    ("date", "2026-04-13", "13/04/2026", {}),
    ("date", "2026-03-04", "03/04/2026", {"order": "mdy"}),
    ("date", "2026-03-04", "04.03.2026", {"order": "dmy"}),
    ("date", "2026-03-04", "March 4", {"year": 2026}),
    ("time", "14:30", "2:30 p.m.", {}),
    ("time", "00:30", "12:30 AM", {}),
    ("time", "12:00", "noon", {}),
    ("duration", "2h 5m", "125 minutes", {}),
    ("duration", "2h 5m", "2 hours and 5 minutes", {}),
    ("duration", 125, "PT2H5M", {"unit": "minutes"}),
    ("duration", "2:05", "125", {"unit": "minutes"}),
    ("boolean", True, "Yes.", {}),
    ("boolean", False, "no", {}),
    ("list", ["a", "b", "c"], "c, a, and b", TEXTS),
    ("list", ["a", "b"], "- B\n- a", TEXTS),
    ("list", ["a", "b"], "1. a\n2. b", TEXTS | {"ordered": True}),
    ("list", ["a, b", "c"], '["c", "a, b"]', TEXTS),
    ("list", [10, 20, 20], "20,10,20", NUMBERS),
    ("list", [1299, 1399], "1,299 and 1,399", NUMBERS),
    ("list", ["2026-03-04"], "March 4, 2026", {"of": {"type": "date"}}),
    ("schema", LAMP, '```json\n{"price": "$19.50", "name": "desk lamp"}\n```', OFFER),
    ("schema", [1, 2.0], "[2, 1.0]", {"schema": {"type": "array"}, "unordered": True}),
]
WRONG: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("text", "Desk Lamp", "the Desk Lamp", {}),
    ("text", "Desk Lamp", "Desk Lamp or Desk Chair", {}),
    ("text", "Lamp", "L\u0430mp", {}),
    ("text", "Lamp", "", {}),
    ("text", "Lamp", " " * 10**6 + "Lamp", {}),
    ("text", "x2", "x\u00b2", {}),
    ("text", "Lamp", "lamp", {"ignore_case": False}),
    ("number", 12, "either 12 or 15", {}),
    ("number", 12, "12, 15", {}),
    ("number", 1299, "1\n299", {}),
    ("number", 12, "12-15", {}),
    ("number", 12, "about 12", {}),
    ("number", 12, "nan", {}),
    ("number", 12, "10^9999", {}),
    ("number", 12, "1e99999999", {}),
    ("number", 12, "\u0661\u0662", {}),
    ("number", 52, "5\u00b2", {}),
    ("number", 12, "12.0000001", {}),
    ("number", 1.5, "1.5 lb", KG),
    ("number", 1299, "1.299", {}),
    ("money", 12.99, "\u20ac12.99", USD),
    ("money", 12.99, "12.99 CAD", USD),
    ("money", 12.99, "12.99", USD | {"require_currency": True}),
    ("money", 12.99, "$12.99 or $15", USD),
    ("money", 12.99, "$12.98", USD),
    ("money", 12.99, "12.99 quatloos", USD),
    ("date", "2026-03-04", "03/04/2026", {}),
    ("date", "2026-03-04", "Thursday, March 4, 2026", {}),
    ("date", "2026-03-04", "March 4", {}),
    ("date", "2026-03-01", "2026-02-29", {}),
    ("date", "2026-03-04", "March 4 or 5, 2026", {}),
    ("time", "14:30", "2:30", {}),
    ("time", "14:30", "14:30 or 15:30", {}),
    ("time", "00:00", "24:00", {}),
    ("duration", "2h 5m", "125", {}),
    ("duration", "2h 5m", "2 hours 2 hours 5 minutes", {}),
    ("duration", "4h 5m", "2 hours 2 hours 5 minutes", {}),
    ("boolean", True, "yes and no", {}),
    ("boolean", True, "1", {}),
    ("list", ["a", "b"], "a, b, c", TEXTS),
    ("list", ["a", "b"], "a, a, b", TEXTS),
    ("list", ["a", "b"], "a", TEXTS),
    ("list", ["a", "b"], "b, a", TEXTS | {"ordered": True}),
    ("list", ["a"], "[[" * 9000, TEXTS),
    ("list", [1, 2], '[1, {"a": 2}]', NUMBERS),
    ("list", [1, 2], "[1, NaN]", NUMBERS),
    ("schema", LAMP, '{"name": "desk lamp", "price": "19.50 EUR"}', OFFER),
    ("schema", LAMP, '{"name": "desk lamp"}', OFFER),
    ("schema", LAMP, '{"name": "desk lamp", "price": 19.5, "price": 19.5}', OFFER),
    ("schema", LAMP, '{"name": "desk lamp", "price": 19.5, "or": 20}', OFFER),
    ("schema", LAMP, "Desk Lamp", OFFER),
    ("schema", [1], "[true]", {"schema": {}}),
    ("schema", [1], "[1e999]", {"schema": {}}),
    ("schema", [1], "[" * 9000, {"schema": {}}),
    ("schema", [1], '{"a":' * 3000 + "1" + "}" * 3000, {"schema": {}}),
]


@pytest.mark.parametrize(("kind", "expected", "answer", "options"), RIGHT)
def test_every_unambiguous_spelling_of_the_value_passes(kind: str, expected: Any, answer: str, options: Any) -> None:
    assert passes(kind, expected, answer, **options)


@pytest.mark.parametrize(("kind", "expected", "answer", "options"), WRONG)
def test_another_value_or_several_or_none_fails(kind: str, expected: Any, answer: str, options: Any) -> None:
    assert not passes(kind, expected, answer, **options)


HOSTILE = [
    "1" * 10**6, "a, " * 300_000, "[" * 10**6, ".a" * 9999 + "1", "0 " * 9999, "1," * 9999, "-" * 19_999,
    "\n" * 10**6, "[" + "{}," * 6000 + "{}]", "1" + " " * 19_000 + "x", "(" * 19_999, "*" * 19_999, '"' * 19_999,
    "\ud800", "\u0301" * 19_999,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:6].encode("unicode_escape").decode())
@pytest.mark.parametrize(("kind", "expected", "options"), [
    ("text", "a", {}), ("number", 7, KG), ("money", 7, USD), ("date", "2026-03-04", {}), ("time", "14:30", {}),
    ("duration", "5m", {}), ("boolean", True, {}), ("list", ["a"], TEXTS), ("list", [7], NUMBERS),
    ("schema", [7], {"schema": {"type": "array", "uniqueItems": True}, "unordered": True}),
])  # fmt: skip
def test_a_hostile_text_is_wrong_in_a_moment(kind: str, expected: Any, options: Any, text: str) -> None:
    began = time.thread_time()
    assert not passes(kind, expected, text, **options)
    assert time.thread_time() - began < 2.0


def test_nothing_submitted_is_no_answer() -> None:
    task = Task(id="t", prompt="", secret={"checks": [{"check": "answer", "type": "text", "expected": "a"}]})
    assert WebVerifier().verify(task, Artifact(answer="a")).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"type": "money", "expected": 1}, "currency"),
        ({"type": "money", "currency": "$", "expected": 1}, "ISO 4217"),
        ({"type": "money", "currency": "USD", "expected": "\u20ac5"}, "can never be answered"),
        ({"type": "text", "expected": ""}, "can never be answered"),
        ({"type": "text", "expected": 5}, "expected text, not int"),
        ({"type": "text"}, "lacks `expected`"),
        ({"type": "text", "expected": "a", "currency": "USD"}, "unknown field `currency`"),
        ({"type": "text", "expected": "a", "ignorecase": True}, "did you mean `ignore_case`"),
        ({"type": "number", "expected": float("nan")}, "finite"),
        ({"type": "number", "expected": 1, "absolute": -1}, "`absolute`"),
        ({"type": "number", "expected": 1, "units": {"GB": 1, "gb": 2}}, "differ in case"),
        ({"type": "date", "expected": "03/04/2026"}, "two dates"),
        ({"type": "list", "expected": [], "of": {"type": "text"}}, "list of 1 to"),
        ({"type": "list", "expected": ["a"]}, "`of`"),
        ({"type": "schema", "expected": 1, "schema": {"type": "text"}}, "no JSON Schema"),
        ({"type": "schema", "expected": 1, "schema": {"type": "string"}}, "does not fit the schema"),
        ({"type": "schema", "expected": "a", "schema": {"pattern": "(a+)+"}}, "keep it busy"),
        ({"type": "schema", "expected": "a", "schema": {"$ref": "http://x.test/s"}}, "not in it"),
        ({"type": "schema", "expected": "a", "schema": {"$ref": "#"}}, "without an end"),
        ({"type": "nubmer", "expected": 1}, "nubmer"),
    ],
)
def test_an_expectation_that_cannot_be_meant_is_the_authors_error(check: Any, message: str) -> None:
    task = Task(id="t7", prompt="", secret={"checks": [{"check": "answer", **check}]})
    with pytest.raises(TaskError, match="task 't7', check 1 \\(answer\\)") as caught:
        checks_of(task)
    assert message in str(caught.value)


DAYS = st.dates(date(1000, 1, 1), date(9999, 12, 31))
SPELLINGS: list[Callable[[date], str]] = [
    lambda day: day.isoformat(),
    lambda day: f"{day:%A}, {day:%B} {day.day}, {day.year:04}",
    lambda day: f"{day.day} {day:%b} {day.year:04}",
    lambda day: f"{day.year:04}/{day.month}/{day.day}",
]


@settings(deadline=None)
@given(DAYS, DAYS, st.sampled_from(SPELLINGS))
def test_a_date_is_read_back_from_every_spelling_and_is_no_other(
    day: date, other: date, spell: Callable[[date], str]
) -> None:
    assert passes("date", day.isoformat(), spell(day))
    assert passes("date", day.isoformat(), spell(other)) == (day == other)


CENTS = st.integers(0, 10**12)
AMOUNTS: list[Callable[[int], str]] = [
    lambda cents: f"${cents // 100:,}.{cents % 100:02}",
    lambda cents: f"{cents // 100}.{cents % 100:02} USD",
    lambda cents: f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02} $",
    lambda cents: f"{cents // 100:,}".replace(",", "\u202f") + f",{cents % 100:02} US$",
    lambda cents: f"{cents} cents",
]


@settings(deadline=None)
@given(CENTS, CENTS, st.sampled_from(AMOUNTS))
def test_an_amount_is_read_back_from_every_spelling_and_is_no_other(
    cents: int, other: int, spell: Callable[[int], str]
) -> None:
    expected = f"{cents // 100}.{cents % 100:02}"
    assert passes("money", expected, spell(cents), **USD)
    assert passes("money", expected, spell(other), **USD) == (cents == other)


@settings(deadline=None)
@given(st.fractions(-1000, 1000, max_denominator=1000), st.sampled_from(["{}", " {} ", "`{}`"]))
def test_a_number_is_read_back(value: Fraction, around: str) -> None:
    assert passes("number", str(value), around.format(f"{value.numerator}/{value.denominator}"))
    assert not passes("number", str(value), around.format(f"{value.numerator + value.denominator}/{value.denominator}"))


@settings(deadline=None)
@given(st.lists(st.integers(-999, 999), min_size=1), st.randoms(use_true_random=False))
def test_an_unordered_list_is_its_items_in_any_order(items: list[int], random: Any) -> None:
    shuffled = random.sample(items, len(items))
    assert passes("list", items, "; ".join(map(str, shuffled)), **NUMBERS)
    assert not passes("list", items, "; ".join(map(str, [*shuffled, 0])), **NUMBERS)


HUGE = ["1e5000", "-1e5000", "1/3e9000", "1e-20000", "9" * 4301, "9" * 430]
FRACTION = {"schema": {"properties": {"n": {"type": "number", "multipleOf": 0.01}}}}


@pytest.mark.parametrize("number", HUGE)
def test_a_number_too_large_to_write_down_is_a_wrong_answer(number: str) -> None:
    assert not passes("number", 7, number)
    assert not passes("number", 7, number, relative=0.1)
    assert not passes("list", [7], number, **NUMBERS)
    assert not passes("duration", 7, number, unit="hours")
    assert not passes("money", 7, number, **USD)
    assert not passes("schema", {"n": 7}, f'{{"n": {number}}}', **FRACTION)


GOLDS = [("text", "a"), ("number", 7), ("date", "2026-03-04"), ("time", "14:30"), ("duration", "5m"), ("boolean", True)]


@settings(deadline=None, max_examples=300)
@given(st.text(), st.sampled_from(GOLDS))
def test_any_text_is_judged(text: str, gold: tuple[str, Any]) -> None:
    assert passes(*gold, text) in (True, False)
