"""`AgentRL/SWE-v0`: repair a real repository in a container, judged by hidden tests on the tree that is left."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from agent_envs.envs.swe.hygiene import Inspector, look_through
from agent_envs.envs.swe.session import TESTS_AT, SweSession
from agent_envs.envs.swe.tasks import TASK_SETS, load_task_set
from agent_envs.verifiers.swe.admission import Certificate, admit
from agent_envs.verifiers.swe.history import with_fresh_history
from agent_envs.verifiers.swe.task import RequiredSet, SweTask, from_task
from agent_envs.verifiers.swe.verifier import TRUST, SweVerifier

from agent_envs.env import AgentEnv
from agent_envs.errors import ConfigError, TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.options import CommonOptions
from agent_envs.sandboxes import Limits
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.sandboxes.images import Place
from agent_envs.session import Session
from agent_envs.tasks import Task, TaskSet

if TYPE_CHECKING:
    from agent_envs.envs.swe.attacks.suite import AttackSuite

_inspector = Inspector()


class SweEnv(AgentEnv):
    """Repair a repository: read it, change it, try its visible tests, submit; hidden tests decide.

    Args:
        task_set: A name of `TASK_SETS`; importers such as `swebench` also need `path`. Or a task set of your own.
        path: The file or folder of an imported task set.
        sandbox: `auto` (Docker where it answers, else namespaces), `docker` or `namespaces`.
        trust: How far verdicts are secured: `sealed`, or `report` or `exit_code`, which can be forged.
        credit: `all`: only a full pass scores; `share`: else the share of the tests that were to be repaired.
        ready: Started sandboxes kept ready for each task, for a faster `reset` (Docker).
        command_seconds: Longest run of one command; the visible tests have the longer limit that the task gives them.
        memory_mb: Memory of the agent's sandbox.
        hints: Whether the agent also reads the hints that a task may bring.
        render_mode: None or `"ansi"`.
        options: See `agent_envs.options.Options`.
    """

    task_sets = TASK_SETS

    def __init__(
        self,
        *,
        task_set: str | TaskSet = "mini",
        path: str = "",
        sandbox: str = "auto",
        trust: str = "sealed",
        credit: str = "all",
        ready: int = 0,
        command_seconds: float = 60.0,
        memory_mb: int = 2048,
        hints: bool = False,
        render_mode: str | None = None,
        **options: Unpack[CommonOptions],
    ) -> None:
        if type(command_seconds) not in (int, float) or not 0 < command_seconds < math.inf:
            raise ConfigError(f"command_seconds is {command_seconds!r}; expected a positive number of seconds")
        if type(hints) is not bool:
            raise ConfigError(f"hints is {hints!r}; expected True or False")
        if type(memory_mb) is not int or memory_mb < 64:
            raise ConfigError(f"memory_mb is {memory_mb!r}; expected a whole number of at least 64")
        self.command_seconds = command_seconds
        self.hints = hints
        self._limits = Limits(memory_mb=memory_mb, processes=256, file_mb=256, disk_mb=1024, open_files=1024)
        self._sandbox = sandbox
        self._lease = EngineLease(sandbox, ready=ready)
        self._swe_verifier = SweVerifier(self._lease.engine, trust=trust, credit=credit)
        super().__init__(
            tasks=task_set if isinstance(task_set, TaskSet) else load_task_set(task_set, path=path),
            session=SweSession,
            verifier=self._swe_verifier,
            render_mode=render_mode,
            **options,
        )

    def pick_task(self, options: JsonObject) -> Task:
        """The task, with what the agent must know of the place it works in."""
        task = super().pick_task(options)
        swe = from_task(task)
        if swe.runner.framework == "pytest" and swe.expect == RequiredSet():
            raise TaskError(
                f"task {task.id!r} requires no test yet; run `agent-envs validate` on it and keep what it writes"
            )
        return replace(task, prompt=_briefing(swe, hints=self.hints))

    def open_session(self, task: Task) -> Session:
        """A sandbox with the repository in it, once nothing in it gives the task away."""
        swe = from_task(task)
        engine = self._lease.engine()
        image = engine.build(with_fresh_history(swe.recipe))
        # Tests that do not fit the image are found out before an agent works for nothing.
        self._swe_verifier.prepared(swe, engine, image)
        _inspector.require_clean(swe, engine, image)
        volumes = {TESTS_AT: swe.visible_tests} if swe.visible_tests else {}
        sandbox = engine.start(Place(image=image, user=swe.user, volumes=volumes, limits=self._limits))
        return SweSession(swe, sandbox, command_seconds=self.command_seconds)

    def prepare(self, task_id: str) -> str:
        """Build the image of a task where it is not there yet; its digest is returned."""
        return self._lease.engine().build(with_fresh_history(from_task(self.tasks.task(task_id)).recipe)).digest

    def certify(self, task_id: str, *, repeats: int = 3) -> Certificate:
        """What is found out about a task by trying its base, its reference and its wrong solutions."""
        swe = from_task(self.tasks.task(task_id))
        engine = self._lease.engine()
        certificate = admit(swe, engine, repeats=repeats)
        leaks = look_through(swe, engine, engine.build(with_fresh_history(swe.recipe)))
        return replace(certificate, problems=(*certificate.problems, *leaks))

    def attack_suite(self, *, trust: tuple[str, ...] = (), only: tuple[str, ...] = (), jobs: int = 1) -> AttackSuite:
        """Attacks on this environment's verdicts; `trust` names the kinds of verdict, all of them by default."""
        from agent_envs.envs.swe.attacks.suite import AttackSuite

        return AttackSuite(sandbox=self._sandbox, trust=trust or TRUST, only=only, jobs=jobs)

    def close(self) -> None:
        """Release everything; idempotent, and safe at any moment."""
        super().close()
        self._lease.release()


def _briefing(task: SweTask, *, hints: bool) -> str:
    where = f"The repository is in {task.recipe.workspace}, where your commands begin. There is no network."
    if task.visible_tests:
        where += f" Its tests can be run with run_tests; {TESTS_AT} holds their original, which cannot be changed."
    where += " Other tests, which you do not see, decide whether the work is done; submit when it is."
    parts = [task.statement.rstrip(), where]
    if hints and task.hints:
        parts.append(f"Hints:\n{task.hints.rstrip()}")
    return "\n\n".join(parts)
