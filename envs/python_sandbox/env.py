"""`AgentRL/PythonSandbox-v0`: task sets, the session of either mode, and who judges which kind of task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from agent_envs.envs.python_sandbox.session import ProgramSession, PythonSandboxSession
from agent_envs.envs.python_sandbox.tasks import TASK_SETS, for_single_turn, load_task_set
from agent_envs.verifiers import (
    ByKind,
    MathAnswer,
    NumberAnswer,
    ProgramVerifier,
    ProxyVerifier,
    ReasoningGymAnswer,
    TextAnswer,
)

from agent_envs.env import AgentEnv
from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.options import CommonOptions
from agent_envs.sandboxes import Limits
from agent_envs.sandboxes.ladder import start_sandbox
from agent_envs.session import Session
from agent_envs.tasks import Task


class PythonSandboxEnv(AgentEnv):
    """Solve a task with Python: compute an answer, write or repair a function or a program.

    Args:
        task_set: A name of `TASK_SETS`; importers such as `mbpp` also need `path`.
        path: The file of an imported task set.
        single_turn: The first action is one whole program; what it prints is the answer, and the episode ends.
        packages: Distributions the agent may import (for instance `["numpy"]`), loaded before the episode starts.
        memory_mb: Memory of the agent's sandbox.
        cell_seconds: Longest run of one cell.
        allow_unsafe: Run without isolation where no sandbox tier works here. Never for code you do not trust.
        render_mode: None or `"ansi"`.
        options: See `agent_envs.options.Options`.
    """

    task_sets = TASK_SETS

    def __init__(
        self,
        *,
        task_set: str = "arithmetic",
        path: str = "",
        single_turn: bool = False,
        packages: Sequence[str] = (),
        memory_mb: int = 1024,
        cell_seconds: float = 10.0,
        allow_unsafe: bool = False,
        render_mode: str | None = None,
        **options: Unpack[CommonOptions],
    ) -> None:
        if type(single_turn) is not bool:
            raise ConfigError(f"single_turn is {single_turn!r}; expected True or False")
        if isinstance(packages, str):
            raise ConfigError(
                f"packages is the text {packages!r}; expected a list of distributions, such as [{packages!r}]"
            )
        if not memory_mb >= 16:
            raise ConfigError(f"memory_mb is {memory_mb!r}; expected at least 16, which Python itself needs")
        if not cell_seconds > 0:
            raise ConfigError(f"cell_seconds is {cell_seconds!r}; expected a positive number")
        self.single_turn = single_turn
        self.cell_seconds = cell_seconds
        self._session = ProgramSession if single_turn else PythonSandboxSession
        self._judges = judges(allow_unsafe=allow_unsafe)
        self._start = partial(
            start_sandbox, limits=Limits(memory_mb=memory_mb), packages=tuple(packages), allow_unsafe=allow_unsafe
        )
        super().__init__(
            tasks=load_task_set(task_set, path=path),
            session=self._session,
            verifier=self._judges,
            render_mode=render_mode,
            **options,
        )

    def pick_task(self, options: JsonObject) -> Task:
        """The task, which somebody must be able to judge; in single-turn mode its solution is one program."""
        task = super().pick_task(options)
        self._judges.verifier_for(task)
        return for_single_turn(task) if self.single_turn else task

    def open_session(self, task: Task) -> Session:
        """A fresh sandbox with the task's files in it."""
        sandbox = self._start()
        try:
            for name, content in task.setup.get("files", {}).items():
                sandbox.write_file(name, content.encode("utf-8"))
        except BaseException:
            sandbox.close()
            raise
        return self._session(sandbox, cell_seconds=self.cell_seconds)


def judges(*, allow_unsafe: bool = False) -> ByKind:
    """Who judges which kind of task; each judgement in sandboxes of its own, started after the agent's is gone."""
    start = partial(start_sandbox, allow_unsafe=allow_unsafe)
    return ByKind(
        {
            "text": TextAnswer(),
            "number": NumberAnswer(),
            "math": MathAnswer(),
            "program": ProgramVerifier(start),
            "function": ProxyVerifier(start),
            "reasoning_gym": ReasoningGymAnswer(start),
        }
    )
