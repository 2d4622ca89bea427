"""Every bundled repository task: solved by its reference, and by nothing else; as certified; on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from agent_envs.envs.swe import SweEnv
from agent_envs.envs.swe.tasks import load_task_set
from agent_envs.envs.swe.tasks.mini import bundled
from agent_envs.verifiers.swe.admission import Certificate
from agent_envs.verifiers.swe.task import from_task

from agent_envs.errors import SandboxUnavailable
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.tools import ToolCall

TASKS = [task.id for task in load_task_set("mini")]
FIRST = {task.partition("/")[0]: task for task in reversed(TASKS)}.values()
"""One of each repository."""
RARER = {task: pytest.mark.slow if task in FIRST else pytest.mark.exhaustive for task in TASKS}
"""For what is dear and hardly differs between the tasks of a repository."""


@pytest.fixture(scope="module")
def env(request: pytest.FixtureRequest) -> Iterator[SweEnv]:
    lease = EngineLease(request.param)
    try:
        lease.engine()
    except SandboxUnavailable as reason:
        pytest.skip(f"{request.param} cannot be used here: {reason}")
    made = SweEnv(sandbox=request.param)
    yield made
    made.close()
    lease.release()


def score(env: SweEnv, task_id: str, calls: Sequence[ToolCall]) -> float:
    env.reset(options={"task_id": task_id})
    ended = False
    for call in (*calls, ToolCall("submit")):
        if not ended:
            observation, _, terminated, truncated, info = env.step({"name": call.name, "arguments": call.arguments})
            assert not info["error"], observation
            ended = terminated or truncated
    assert info["reward_valid"], env.episode
    return float(info["score"])


@pytest.mark.parametrize(
    ("env", "task_id"),
    [
        *(pytest.param("namespaces", task, marks=pytest.mark.slow) for task in TASKS),
        *(pytest.param("docker", task, marks=RARER[task]) for task in TASKS),
    ],
    indirect=["env"],
)
def test_the_reference_solves_it_and_doing_nothing_does_not(env: SweEnv, task_id: str) -> None:
    assert score(env, task_id, env.tasks.task(task_id).solution) == 1.0
    assert score(env, task_id, ()) == 0.0


@pytest.mark.parametrize("env", ["namespaces"], indirect=True)
@pytest.mark.parametrize(
    "chosen",
    [
        # Not the first: among those are two that use up all the time there is.
        pytest.param(slice(-1, None), id="the last", marks=pytest.mark.slow),
        pytest.param(slice(-1), id="the others", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("task_id", TASKS)
def test_no_wrong_solution_solves_it(env: SweEnv, task_id: str, chosen: slice) -> None:
    """On one engine: verdicts do not depend on it, as the other test shows."""
    wrong = env.tasks.task(task_id).wrong[chosen]
    assert wrong
    assert [score(env, task_id, calls) for calls in wrong] == [0.0] * len(wrong)


@pytest.mark.parametrize("env", ["namespaces"], indirect=True)
@pytest.mark.parametrize("task_id", [pytest.param(task, marks=RARER[task]) for task in TASKS])
def test_its_certificate_tells_the_truth(env: SweEnv, task_id: str) -> None:
    found = env.certify(task_id, repeats=1)
    written = (bundled() / "certificates" / f"{task_id.replace('/', '--')}.json").read_bytes()
    told = msgspec.json.decode(written, type=Certificate)
    assert (found.problems, found.uncontrolled, found.flaky) == ((), (), {})
    assert (set(found.fail_to_pass), set(found.pass_to_pass)) == (set(told.fail_to_pass), set(told.pass_to_pass))
    assert found.controls.seals == told.controls.seals
    assert found.controls.bare == told.controls.bare
    assert found.controls.sabotage == told.controls.sabotage
    assert all(found.wrong.values())


@pytest.mark.slow
def test_every_task_has_at_least_two_wrong_solutions() -> None:
    for task in load_task_set("mini"):
        assert len(from_task(task).wrong) >= 2
