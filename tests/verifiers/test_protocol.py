"""What every verifier can rely on: who judges which kind, and that a fault of ours is never a score."""

from __future__ import annotations

import subprocess
import sys

import pytest
from agent_envs.verifiers import (
    ByKind,
    MathAnswer,
    NumberAnswer,
    ProgramVerifier,
    ProxyVerifier,
    ReasoningGymAnswer,
    TextAnswer,
    Verifier,
    verify_safely,
)

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import InfraError, SandboxDied, SandboxUnavailable, TaskError
from agent_envs.sandboxes.protocol import Sandbox
from agent_envs.tasks import Task

SUBMITTED = Artifact(answer="7", submitted=True)


class Breaking:
    """A verifier that fails as often as it is told, then passes."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        if self.faults:
            raise self.faults.pop(0)
        return Verdict.resolved()


TASK = Task(id="t", prompt="", kind="number", secret={"answer": 7})


def test_each_task_is_judged_by_the_verifier_of_its_kind() -> None:
    by_kind = ByKind({"text": TextAnswer(), "number": NumberAnswer()})
    assert by_kind.verify(TASK, Artifact(answer="7.0", submitted=True)).outcome is Outcome.RESOLVED


def test_an_unknown_kind_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(TaskError, match=r"'number'.*kinds: 'code', 'text'"):
        ByKind({"text": TextAnswer(), "code": TextAnswer()}).verify(TASK, SUBMITTED)


def test_one_fault_of_ours_is_tried_again() -> None:
    assert verify_safely(Breaking(SandboxDied("gone")), TASK, SUBMITTED).outcome is Outcome.RESOLVED


@pytest.mark.parametrize("fault", [SandboxDied("gone"), KeyError("a bug"), OSError("disk full"), RecursionError()])
def test_two_faults_of_ours_are_an_error_without_a_score(fault: Exception) -> None:
    verdict = verify_safely(Breaking(fault, fault), TASK, SUBMITTED)
    assert (verdict.outcome, verdict.score) == (Outcome.ERROR, None)
    assert "tried twice" in verdict.evidence["why"]


def test_a_broken_task_is_told_to_its_author() -> None:
    with pytest.raises(TaskError):
        verify_safely(NumberAnswer(), Task(id="t", prompt="", secret={"answer": "none"}), SUBMITTED)


def no_sandbox(**options: object) -> Sandbox:
    raise SandboxUnavailable("no namespaces here")


SECRETS = {
    "asserts": ["assert f(1)"],
    "entry_point": "f",
    "cases": [{"stdin": "", "stdout": "1"}],
    "answer": "1",
    "dataset": "chain_sum",
    "entry": {"answer": "1", "metadata": {}},
}


@pytest.mark.parametrize("verifier_type", [ProxyVerifier, ProgramVerifier, MathAnswer, ReasoningGymAnswer])
def test_a_missing_sandbox_is_never_a_wrong_answer(verifier_type: type) -> None:
    verifier: Verifier = verifier_type(no_sandbox)
    with pytest.raises(InfraError):
        verifier.verify(Task(id="t", prompt="", secret=SECRETS), SUBMITTED)


def test_importing_the_verifiers_imports_none_of_their_extras() -> None:
    code = "import sys, agent_envs.verifiers; print({'sympy', 'math_verify', 'reasoning_gym'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
