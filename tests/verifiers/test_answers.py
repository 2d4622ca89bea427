"""What judging a written answer promises: stated rules, exact arithmetic, and a verdict for every text in time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from agent_envs.verifiers import NumberAnswer, TextAnswer, Verifier

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task


def judged(verifier: Verifier, submitted: str, /, **secret: Any) -> Verdict:
    return verifier.verify(Task(id="t", prompt="", secret=secret), Artifact(answer=submitted, submitted=True))


def passes(verifier: Verifier, submitted: str, /, **secret: Any) -> bool:
    return judged(verifier, submitted, **secret).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    "answer",
    [
        "new york",
        "  new \n york ",
        '"new york"',
        "`new york`",
        r"\boxed{new york}",
        r"$\boxed{\boxed{new york}}$",
        "```\nnew york\n```",
        "\u201cnew york\u201d",
    ],
)
def test_blanks_and_wrappers_do_not_change_a_text(answer: str) -> None:
    assert passes(TextAnswer(), answer, answer="new york")


@pytest.mark.parametrize("answer", ["New York", "new york.", "newyork", "not new york", "", "new york new york", "a'"])
def test_anything_else_changes_a_text(answer: str) -> None:
    assert not passes(TextAnswer(), answer, answer="new york")


def test_case_is_ignored_only_on_request() -> None:
    assert passes(TextAnswer(ignore_case=True), "PARIS", answer="Paris")
    assert passes(TextAnswer(), "PARIS", answer="Paris", ignore_case=True)
    assert not passes(TextAnswer(ignore_case=True), "PARIS", answer="Paris", ignore_case=False)


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    assert passes(TextAnswer(), "Cafe\u0301", answer="Caf\u00e9")


@pytest.mark.parametrize("verifier", [TextAnswer(), NumberAnswer()])
def test_one_of_several_answers_is_enough(verifier: Verifier) -> None:
    assert passes(verifier, "7", answers=["5", "7"])
    assert not passes(verifier, "6", answers=["5", "7"])


@pytest.mark.parametrize(
    "secret",
    [
        {},
        {"answers": []},
        {"answer": None},
        {"answer": ""},
        {"answer": " `` "},
        {"answer": "1", "answers": ["2"]},
        {"answer": True},
        {"answer": ["1"]},
        {"answers": "1"},
        {"answers": ["1", ""]},
    ],
)
@pytest.mark.parametrize("verifier", [TextAnswer(), NumberAnswer()])
def test_a_task_without_an_expectation_is_the_authors_error(verifier: Verifier, secret: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        judged(verifier, "", **secret)


@pytest.mark.parametrize("verifier", [TextAnswer(), NumberAnswer()])
def test_nothing_submitted_is_unresolved(verifier: Verifier) -> None:
    verdict = verifier.verify(Task(id="t", prompt="", secret={"answer": "1"}), Artifact())
    assert (verdict.outcome, verdict.evidence["why"]) == (Outcome.UNRESOLVED, "nothing was submitted")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1,234", 1234),
        ("+5", 5),
        ("5.", 5),
        ("5.000", 5),
        ("\N{MINUS SIGN}3", -3),
        ("1/2", 0.5),
        ("50%", "1/2"),
        ("1.5e3", 1500),
        ("0.1", 0.1),
        ("1/3", 0.333333333),
        (r"\boxed{42}", 42),
        ("$42$", "42"),
        ("`42`", 42.0),
        ("1e400", "1" + "0" * 400),
        ("9" * 5000, "9" * 5000),
        ("0", -0.0),
        ("-0", 0),
        ("3 / 4", 0.75),
    ],
)
def test_a_number_is_its_value_however_it_is_written(answer: str, gold: object) -> None:
    assert passes(NumberAnswer(), answer, answer=gold)


@pytest.mark.parametrize(
    "answer",
    [
        "nan",
        "inf",
        "-inf",
        "Infinity",
        "1e400",
        "1e999999999",
        "1e9999999999",
        "4_2",
        "4 2",
        "42 apples",
        "x42",
        "0x2a",
        "\u0664\u0662",
        "42, 43",
        "41 42",
        "4,2",
        "42/0",
        "0/0",
        "",
        " ",
        "42" + "0" * 10**6,
        "9" * 5000,
        "42.0000001",
        "the answer is 42",
        "[42]",
        "42;",
        "--42",
        "1e",
        "%",
        "42\u0000",
        "\uff14\uff12",
        "4\u066b2",
    ],
)
def test_anything_else_is_not_the_number_and_is_judged_at_once(answer: str) -> None:
    begun = time.thread_time()
    assert judged(NumberAnswer(), answer, answer=42).outcome is Outcome.UNRESOLVED
    assert time.thread_time() - begun < 0.5


def test_huge_integers_differ_in_their_last_digit() -> None:
    assert passes(NumberAnswer(), "1" * 5000, answer=int("1" * 4000) * 10**1000 + int("1" * 1000))
    assert not passes(NumberAnswer(), "1" * 4999 + "2", answer="1" * 5000)
    assert not passes(NumberAnswer(), str(2**53 + 1), answer=2**53)


def test_tolerances_are_exact_at_their_edge() -> None:
    assert passes(NumberAnswer(), "10.1", answer=10, absolute=0.1)
    assert not passes(NumberAnswer(), "10.1000000000000000001", answer=10, absolute=0.1)
    assert passes(NumberAnswer(), "99", answer=100, relative=0.01)
    assert not passes(NumberAnswer(), "98.99", answer=100, relative=0.01)
    assert not passes(NumberAnswer(), "0.5000001", answer=0.5, relative=0)


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf"), "0.1", True])
def test_a_tolerance_that_is_no_finite_number_is_the_authors_error(tolerance: object) -> None:
    with pytest.raises(TaskError):
        judged(NumberAnswer(), "1", answer=1, absolute=tolerance)


def test_the_last_number_of_a_sentence_is_read_only_on_request() -> None:
    sentence = "2 boxes of 20 and 1.5e1 more: 1,055."
    assert passes(NumberAnswer(), sentence, answer=1055, extract="last")
    assert not passes(NumberAnswer(), "none of them", answer=1055, extract="last")
    with pytest.raises(TaskError, match="extract"):
        judged(NumberAnswer(), sentence, answer=1055, extract="first")


def test_evidence_is_bounded_and_says_what_was_compared() -> None:
    verdict = judged(TextAnswer(), "x" * 10**6, answer="y" * 10**6)
    assert verdict.evidence["why"] == "the answer differs"
    assert len(str(verdict.evidence)) < 3000
