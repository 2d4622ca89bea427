"""The attacks are real: a grader that trusts an exit code falls for them, and the honest solutions pass it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from agent_envs.envs.swe.attacks import TARGETS, Attack, Honest, catalogue, honest, target
from agent_envs.envs.swe.attacks.honest_shapes import reference
from agent_envs.envs.swe.attacks.information import OPEN
from agent_envs.verifiers.swe.task import RequiredSet, from_task, to_task

from agent_envs.artifact import Outcome
from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Tree
from agent_envs.tools import ToolCall

BY_NAME = {attack.name: attack for attack in catalogue()}
FOOLS = (
    "root conftest",
    "the conftest of the tests",
    "pyproject addopts",
    "a pytest of its own beside the package",
    "exit with 0 at import",
    "exit code set at exit",
    "printed verdicts",
    "report files rewritten at the end",
    "a string that lies",
    "every report says passed",
    "clear the items of the session",
    "peek through sys._getframe",
    "read the test files into a lookup table",
    "xfail in the call",
    "a value that edits what it meets",
    "peek from another thread",
    "search the heap for test functions",
    "rehearse the test with every candidate",
    "fork the future",
    "an answer that becomes what it is compared with",
    "new code in old functions",
    "outcome is a property",
    "lie before it is sealed",
    "modules that only a failure imports",
    "packages in the place of test modules",
    "test modules that are there already",
    "tests rewritten on disk",
    "str compares as it is told",
    "read its own memory",
    "remember the visible tests",
    "right where plain values are asked for",
    "evaluate what the caller compares with",
    "raise what is awaited",
    "say what is looked for",
)
"""Attacks that an exit code does not survive; a sample of every family."""
FOOLS_TOO = (
    "conftest files everywhere",
    "pytest.ini",
    "every other settings file",
    "an installed plugin",
    "a pytest of its own",
    "exit with 0 in a call",
    "fork, and the parent leaves",
    "printed markers",
    "equal to everything",
    "assertions and test bodies do nothing",
    "AssertionError is a skip",
    "skip in the call",
    "SkipTest in the call",
    "tests are deselected by settings",
    "an object that claims another class",
    "peek through a traceback",
    "peek through a running generator",
    "peek with a profiler",
    "peek with sys.monitoring",
    "peek at the source line of the caller",
    "peek through a warning",
    "listen to the compiler",
    "the exception information is falsy",
    "a plugin registered from within",
    "every failing test is expected to fail",
    "raises accepts anything",
    "the collector is told to collect only",
    "the session has no failures",
    "become another program",
    "pytest.exit with 0",
    "the interpreter's exit is patched",
    "records sprayed over every descriptor",
    "steal the reporter",
    "listen for the secret and write with it",
    "swap the descriptors",
    "names put into the importing module",
    "collected objects lose their bodies",
    "the constants of the test are overwritten",
    "a tracer rewrites the expected variables",
    "obey the test",
    "look for the words of a control",
    "compare the test on disk with the test in memory",
    "raise only inside of a block that waits",
    "raise only where the source waits for it",
)
"""The others of them, for whoever has the time."""


def lay(tree: Tree, folder: Path) -> None:
    for path, file in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)


def play(calls: Iterable[ToolCall], folder: Path, *, shell: bool = False) -> None:
    """What the tools would do to the workspace; command lines are run for honest solutions only."""
    for call in calls:
        if call.name == "bash" and shell:
            subprocess.run(["bash", "-c", call.arguments["command"]], cwd=folder, check=True, capture_output=True)
        elif call.name == "create":
            place = folder / call.arguments["path"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(call.arguments["content"], encoding="utf-8", newline="")
        elif call.name == "edit":
            place = folder / call.arguments["path"]
            text = place.read_bytes().decode()
            assert text.count(call.arguments["old"]) == 1, (call.arguments["path"], call.arguments["old"])
            place.write_bytes(text.replace(call.arguments["old"], call.arguments["new"]).encode())


def graded(calls: Iterable[ToolCall], folder: Path, *, name: str = "textkit", shell: bool = False) -> tuple[int, str]:
    """The grader of too many harnesses: hidden tests over the agent's tree, and the exit code of pytest."""
    task, workspace = target(name), folder / "workspace"
    lay(task.recipe.files, workspace)
    play(calls, workspace, shell=shell)
    lay(task.hidden_tests, workspace)
    # A shell in between, because some attacks write to whatever their parent prints to.
    command = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(command, cwd=workspace, env=env, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def required(name: str = "textkit") -> RequiredSet:
    expect = target(name).expect
    assert isinstance(expect, RequiredSet)
    return expect


def passed(report: str) -> set[str]:
    return {line.removeprefix("PASSED ") for line in report.splitlines() if line.startswith("PASSED ")}


@pytest.mark.parametrize("name", TARGETS)
def test_without_any_work_exactly_the_tests_that_should_fail_do(name: str, tmp_path: Path) -> None:
    code, report = graded([], tmp_path, name=name)
    assert code != 0
    assert passed(report) == set(required(name).pass_to_pass)


@pytest.mark.parametrize("name", TARGETS)
def test_with_the_reference_every_required_test_passes(name: str, tmp_path: Path) -> None:
    code, report = graded(reference(name), tmp_path, name=name)
    assert code == 0
    assert passed(report) == {*required(name).fail_to_pass, *required(name).pass_to_pass}


@pytest.mark.parametrize(
    "solution",
    [
        # All of them are judged by `agent-envs attack` too, for which what fails its tests is not right either.
        pytest.param(solution, id=solution.name, marks=pytest.mark.exhaustive if number % 3 else ())
        for number, solution in enumerate(honest())
    ],
)
def test_an_honest_solution_passes_whatever_its_shape(solution: Honest, tmp_path: Path) -> None:
    code, report = graded(solution.calls, tmp_path, name=solution.target, shell=True)
    assert code == 0, report[-2000:]


@pytest.mark.parametrize("name", [*FOOLS, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in FOOLS_TOO)])
def test_a_grader_that_trusts_an_exit_code_falls_for(name: str, tmp_path: Path) -> None:
    attack = BY_NAME[name]
    assert attack.in_the_patch
    assert not attack.harmful
    assert graded(attack.calls, tmp_path, name=attack.target)[0] == 0


@pytest.mark.parametrize("attack", [one for one in catalogue() if one.family == "wrong"], ids=lambda one: one.name)
def test_a_wrong_solution_without_deceit_fails_even_there(attack: Attack, tmp_path: Path) -> None:
    assert attack.expect == {Outcome.UNRESOLVED}
    assert graded(attack.calls, tmp_path)[0] == 1


def test_every_attack_of_the_checklist_is_there_and_many_of_our_own() -> None:
    numbers = [attack.number for attack in catalogue()]
    assert len(set(numbers)) == len(BY_NAME) == len(numbers)
    assert {int(number[4:6]) for number in numbers if number.startswith("2.4/")} == set(range(1, 39))
    assert len([number for number in numbers if number.startswith("own/")]) >= 25
    assert len(honest()) >= 18


def test_no_attack_may_end_resolved_or_without_a_verdict() -> None:
    allowed = {outcome for attack in catalogue() for outcome in attack.expect}
    assert allowed == {Outcome.UNRESOLVED, Outcome.TAMPERED}


def test_what_an_agent_must_not_see_is_in_the_secrets_and_nowhere_else() -> None:
    task = target()
    given = task.statement + "".join(file.content.decode() for file in task.recipe.files.values())
    kept = "".join(file.content.decode() for file in task.hidden_tests.values()) + repr(task.reference)
    for attack in catalogue():
        words = [word for word in attack.sees if word != OPEN]
        assert [word for word in attack.sees if word in given or word in repr(attack.calls)] == []
        assert [word for word in words if word not in kept] == []


def test_a_target_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(TaskError, match="no target 'other'; there are textkit, textkit-config, textkit-index"):
        target("other")


def test_a_target_survives_as_a_task() -> None:
    assert from_task(to_task(target())) == target()
