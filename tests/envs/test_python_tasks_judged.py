"""Every task set through the real verifiers: its solutions pass, and doing nothing or something plausible does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest
from agent_envs.envs.python_sandbox.env import judges
from agent_envs.envs.python_sandbox.tasks import for_single_turn, load_task_set
from agent_envs.envs.python_sandbox.tasks.arithmetic import TEMPLATES
from agent_envs.envs.python_sandbox.tasks.reasoning import DATASETS

from agent_envs.artifact import Artifact
from agent_envs.sandboxes import Sandbox
from agent_envs.sandboxes.ladder import start_sandbox
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import ToolCall

VERIFIER = judges()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = start_sandbox()
    yield sandbox
    sandbox.close()


def score(task: Task, calls: Sequence[ToolCall]) -> float | None:
    answer = calls[-1].arguments["answer"] if calls else ""
    return VERIFIER.verify(task, Artifact(answer=answer, submitted=bool(calls))).score


def misjudged(tasks: TaskSet | Sequence[Task]) -> list[str]:
    """The tasks whose solution fails, or for which nothing or a wrong ending passes."""
    return [
        task.id
        for task in tasks
        if score(task, task.solution) != 1.0 or any(score(task, ending) != 0.0 for ending in ((), *task.wrong))
    ]


def every_template() -> list[Task]:
    """The first training task of each template."""
    tasks = load_task_set("arithmetic").split("train")
    return [next(iter(tasks.filter(tags=template.name).head(1))) for template in TEMPLATES]


def test_arithmetic_is_judged_right() -> None:
    assert misjudged([*load_task_set("arithmetic").head(20), *every_template()]) == []


def test_the_programs_of_arithmetic_print_their_answers(sandbox: Sandbox) -> None:
    for task in [*every_template(), load_task_set("arithmetic").task("arithmetic/sum-1-100")]:
        (call,) = for_single_turn(task).solution
        run = sandbox.run_python(call.arguments["code"])
        assert (run.ok, run.stdout.decode().strip()) == (True, task.secret["answer"]), task.id


def test_every_task_of_humaneval_is_judged_right() -> None:
    assert misjudged(load_task_set("humaneval")) == []


def test_every_repair_is_certified() -> None:
    assert misjudged(load_task_set("fix")) == []


@pytest.mark.parametrize("dataset", DATASETS)
def test_reasoning_gym_is_judged_right(dataset: str) -> None:
    assert misjudged([load_task_set(f"reasoning-gym:{dataset}").task(f"reasoning-gym/{dataset}/test/0")]) == []


def test_codeio_is_judged_right() -> None:
    tasks = list(islice(load_task_set("codeio").head(10), 20))
    assert {tag for task in tasks for tag in task.tags} == {"predict", "reimplement"}
    assert misjudged(tasks) == []


def test_predictions_of_codeio_are_what_the_program_prints(sandbox: Sandbox) -> None:
    for task in load_task_set("codeio").filter(tags="predict").head(5):
        run = sandbox.run_python(task.solution[0].arguments["code"])
        assert run.stdout.decode().strip() == task.secret["answers"][0]


def test_a_codeio_task_is_the_same_whenever_it_is_made() -> None:
    first, second = (load_task_set("codeio").task("codeio/test/4") for _ in range(2))
    assert first.content_hash == second.content_hash


def test_the_splits_of_codeio_share_no_program() -> None:
    tasks = load_task_set("codeio").filter(tags="reimplement").head(10)
    train, test = ({task.solution[-1].arguments["answer"] for task in tasks.split(name)} for name in ("train", "test"))
    assert not train & test


@pytest.mark.parametrize("constant", ["nan", "0", "", "1", "no idea"])
@pytest.mark.parametrize("dataset", ["gcd", "decimal_arithmetic", "fraction_simplification", "simple_equations"])
def test_no_constant_answer_is_paid(dataset: str, constant: str) -> None:
    tasks = list(load_task_set(f"reasoning-gym:{dataset}").split("train").head(6))
    scores = [VERIFIER.verify(task, Artifact(answer=constant, submitted=True)).score for task in tasks]
    assert sum(scores) <= 1
