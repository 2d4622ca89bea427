"""A small repository task with four hidden tests, admitted, and the environments that play it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import gymnasium
from agent_envs.envs.swe import SweSession
from agent_envs.verifiers.swe.admission import admit
from agent_envs.verifiers.swe.changes import changed
from agent_envs.verifiers.swe.task import Change, Runner, Solution, SweTask, to_task

from agent_envs.artifact import Outcome
from agent_envs.env import AgentEnv
from agent_envs.errors import EndReason
from agent_envs.registration import ENVIRONMENTS, register_environments
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.sandboxes.images import ImageEngine, Recipe, TreeFile
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import ToolCall

(ENV_ID,) = (name for name in ENVIRONMENTS if "SWE" in name)
MODULE = "src/stock/levels.py"
_BROKEN = '''"""Levels of a stock."""


def after(level, *moves):
    """The level when these were moved in (or out, where negative)."""
    return level - sum(moves)


def shortage(level, wanted):
    """How much is missing."""
    return max(0, wanted - level)
'''
_MOVE = Change(path=MODULE, old="level - sum(moves)", new="level + sum(moves)")
_VISIBLE = """from stock.levels import shortage


def test_shortage():
    assert shortage(3, 5) == 2
"""
_HIDDEN = """from stock.levels import after, shortage


def test_what_comes_in():
    assert after(3, 4) == 7


def test_what_goes_out():
    assert after(9, -4, -1) == 4


def test_nothing_moves():
    assert after(5) == after(4, 1)


def test_shortage_after_moves():
    assert shortage(after(2, 3), 8) == 3
"""
_TASK = SweTask(
    id="stock",
    statement="`stock.levels.after` takes away what comes in.",
    recipe=Recipe(
        files={
            "src/stock/__init__.py": TreeFile(b""),
            MODULE: TreeFile(_BROKEN.encode()),
            "tests/test_shortage.py": TreeFile(_VISIBLE.encode()),
        }
    ),
    visible_tests={"tests/test_shortage.py": TreeFile(_VISIBLE.encode())},
    hidden_tests={"tests/test_after.py": TreeFile(_HIDDEN.encode())},
    runner=Runner(paths=("src",), timeout_s=60.0),
    reference=Solution(changes=(_MOVE,)),
    wrong=(Solution(changes=(replace(_MOVE, new="level + max(0, sum(moves))"),), why="nothing goes out"),),
)

TRIVIAL = json.dumps({"name": "bash", "arguments": {"command": "true"}})
EDIT = json.dumps({"name": "edit", "arguments": {"path": MODULE, "old": _MOVE.old, "new": _MOVE.new}})
SUBMIT = json.dumps({"name": "submit", "arguments": {}})


def admitted(engine: ImageEngine) -> Task:
    """The task with the controls that this engine certified, every kind of them."""
    certificate = admit(_TASK, engine, repeats=1)
    task = certificate.applied_to(_TASK)
    # What is sealed needs no twin, so one test compares two results with each other: every kind is paid for.
    controls = task.controls
    if not (certificate.admitted and controls.seals and controls.twins and controls.sabotage_tests):
        raise RuntimeError(f"the task of this benchmark is not admitted on {engine.isolation}: {certificate}")
    solution = [ToolCall("edit", json.loads(EDIT)["arguments"]), ToolCall("submit", {})]
    return to_task(task, solution=solution)


def solved_recipe() -> Recipe:
    """An image of the repaired repository, with its hidden tests in it."""
    tests = {**_TASK.visible_tests, **_TASK.hidden_tests}
    return replace(_TASK.recipe, files={**changed(_TASK.recipe.files, (_MOVE,)), **tests})


class Player:
    """An environment that plays these tasks, and the parts of an episode that are timed."""

    def __init__(self, sandbox: str, *tasks: Task, ready: int = 0) -> None:
        register_environments()
        played = TaskSet.of("benchmark", list(tasks))
        self.env: gymnasium.Env[str, str] = gymnasium.make(
            ENV_ID, sandbox=sandbox, task_set=played, max_steps=10**9, ready=ready
        )
        inner = self.env.unwrapped
        assert isinstance(inner, AgentEnv)
        self.inner = inner

    @property
    def session(self) -> SweSession:
        """The session of the running episode."""
        run = self.inner._run
        assert run is not None
        assert isinstance(run.session, SweSession)
        return run.session

    @property
    def container(self) -> str:
        """The id of its container."""
        sandbox = self.session._sandbox
        assert isinstance(sandbox, DockerSandbox)
        return sandbox.container.id

    def reset(self) -> None:
        """Begin an episode."""
        self.env.reset(seed=0)

    def command(self) -> None:
        """One command that does nothing."""
        assert self.env.step(TRIVIAL)[4]["error"] == ""

    def repair(self) -> None:
        """Begin an episode, and do what it asks for."""
        self.reset()
        assert self.env.step(EDIT)[4]["error"] == ""

    def submit(self) -> None:
        """Freeze, destroy, verify."""
        info = self.env.step(SUBMIT)[4]
        if info["outcome"] != Outcome.RESOLVED:
            raise RuntimeError(f"a right repair was not resolved: {self.inner.episode and self.inner.episode.verdict}")

    def solve(self, task: Task) -> bool:
        """Play the reference of a task from its reset to its verdict."""
        self.env.reset(options={"task_id": task.id})
        for call in task.solution:
            info = self.env.step(call.to_json())[4]
        return bool(info["outcome"] == Outcome.RESOLVED)

    def drop(self) -> None:
        """End the running episode without a verdict."""
        self.inner.abort(EndReason.AGENT_ERROR, "measured")

    def close(self) -> None:
        """Release everything."""
        self.env.close()


@contextmanager
def lent_engine(kind: str, *, ready: int = 0) -> Iterator[ImageEngine]:
    """The engine that environments of this kind share, held for a while."""
    lease = EngineLease(kind, ready=ready)
    try:
        yield lease.engine()
    finally:
        lease.release()
