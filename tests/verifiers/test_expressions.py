"""What judging an expression promises: equivalence where it can be found, and a verdict in time where it cannot."""

from __future__ import annotations

import time

import pytest
from agent_envs.verifiers import MathAnswer

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

pytest.importorskip("math_verify", reason="the extra `math` is not installed")


def judged(answer: str, gold: str, *, time_s: float = 60.0) -> Verdict:
    task = Task(id="t", prompt="", secret={"answer": gold})
    return MathAnswer(time_s=time_s).verify(task, Artifact(answer=answer, submitted=True))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        (r"\frac{1}{2}", "1/2"),
        ("0.5", r"\boxed{\frac{2}{4}}"),
        ("(x+1)^2", "x**2 + 2*x + 1"),
        ("x^{10}", "x**10"),
        (r"the answer is $\{3, 1\}$", r"\{1, 3\}"),
        ("3628800", "10!"),
    ],
)
def test_equivalent_expressions_pass(answer: str, gold: str) -> None:
    assert judged(answer, gold).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    "answer",
    [
        "4",
        "",
        "I do not know",
        "((((",
        "$2$ or $3$",
        r"\boxed{3} or \boxed{4}",
        "3, 4",
        "nan",
        "oo",
        "x" * 6000,
        "__import__('os').abort()",
        "9^{9^{9^9}}",
        "(10^{10})!",
        "(" * 2000 + "3" + ")" * 2000,
    ],
)
def test_everything_else_is_unresolved_in_time(answer: str) -> None:
    begun = time.monotonic()
    assert judged(answer, "3", time_s=2.0).outcome is Outcome.UNRESOLVED
    assert time.monotonic() - begun < 60.0


@pytest.mark.parametrize("gold", ["((((", "", "9^{9^{9^9}}", " $$ "])
def test_an_expected_expression_that_cannot_be_read_is_the_authors_error(gold: str) -> None:
    with pytest.raises(TaskError):
        judged("3", gold, time_s=2.0)
