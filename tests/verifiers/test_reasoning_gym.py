"""What judging a reasoning-gym answer promises: the package's own score, and no code of the answer's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_envs.verifiers import ReasoningGymAnswer

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

reasoning_gym = pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")


def entry_of(dataset: str) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(json.dumps(reasoning_gym.create_dataset(dataset, size=1, seed=7)[0]))
    return entry


def judged(answer: str, dataset: str, verifier: ReasoningGymAnswer | None = None) -> Verdict:
    task = Task(id="t", prompt="", secret={"dataset": dataset, "entry": entry_of(dataset)})
    return (verifier or ReasoningGymAnswer()).verify(task, Artifact(answer=answer, submitted=True))


@pytest.mark.parametrize(
    "dataset",
    [
        "chain_sum",
        "countdown",
        "n_queens",
        "polynomial_multiplication",
        "simple_integration",
        "spiral_matrix",
    ],
)
def test_the_datasets_own_answer_passes_and_another_does_not(dataset: str) -> None:
    assert judged(entry_of(dataset)["answer"], dataset).outcome is Outcome.RESOLVED
    assert judged("a wrong answer", dataset).outcome is Outcome.UNRESOLVED


def test_naming_the_answer_among_others_earns_a_raw_score_and_no_pass() -> None:
    gold = entry_of("leg_counting")["answer"]
    verdict = judged(f"1 2 3 {gold} 5", "leg_counting")
    assert (verdict.outcome, verdict.score) == (Outcome.UNRESOLVED, 0.0)
    assert 0 < verdict.parts["raw_score"] < 1
    partial = judged(f"1 2 3 {gold} 5", "leg_counting", ReasoningGymAnswer(partial=True))
    assert partial.score == partial.parts["raw_score"]


CODE = "[__import__('os').system('true') for _ in exec('import sys; sys.stdout.write(1)') or [1]]"


@pytest.mark.parametrize("dataset", ["spiral_matrix", "string_insertion", "n_queens", "binary_matrix", "countdown"])
def test_an_answer_that_is_code_is_never_run(dataset: str) -> None:
    runs_for_ever = "().__class__.__base__.__subclasses__()[0](*iter(lambda: 0, 1))"
    for answer in (CODE, runs_for_ever, "exec(bytes((119,)))", "exit()"):
        verdict = judged(answer, dataset)
        assert verdict.score == 0.0
        assert "process" not in verdict.evidence


def test_a_dataset_that_does_not_exist_is_the_authors_error() -> None:
    task = Task(id="t", prompt="", secret={"dataset": "no_such", "entry": {"answer": "1", "metadata": {}}})
    with pytest.raises(TaskError, match="names no dataset"):
        ReasoningGymAnswer().verify(task, Artifact(answer="1", submitted=True))


def test_a_grid_that_came_through_json_still_equals_itself() -> None:
    entry = {"answer": "1 2\n3 4", "metadata": {"output": [[1, 2], [3, 4]]}}
    task = Task(id="t", prompt="", secret={"dataset": "arc_agi", "entry": entry})
    assert ReasoningGymAnswer().verify(task, Artifact(answer="1 2\n3 4", submitted=True)).score == 1.0
