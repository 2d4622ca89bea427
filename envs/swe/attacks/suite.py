"""Plays the attack suite through the environment itself, and asks every kind of verifier what it thinks of the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue

from agent_envs.envs.swe.attacks.attack import Attack, Honest
from agent_envs.envs.swe.attacks.catalogue import catalogue, honest
from agent_envs.envs.swe.attacks.target import TARGETS, target
from agent_envs.envs.swe.env import SweEnv
from agent_envs.verifiers import verify_safely
from agent_envs.verifiers.swe.admission import admit
from agent_envs.verifiers.swe.task import to_task
from agent_envs.verifiers.swe.verifier import TRUST, SweVerifier

from agent_envs.artifact import Outcome
from agent_envs.episode import Episode
from agent_envs.errors import ConfigError, TaskError
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.sandboxes.images import ImageEngine
from agent_envs.tasks import Task, TaskSet

_tasks: dict[str, Task] = {}
_ONLY_RESOLVED = frozenset({Outcome.RESOLVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """How one attack, or one honest solution, was judged."""

    name: str
    number: str
    family: str
    idea: str
    expect: frozenset[Outcome]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By kind of trust."""
    why: str = ""
    """The sealed verdict's reason."""
    leaked: str = ""
    """What the agent saw and must not have."""

    def right(self, trust: str) -> bool:
        """Whether this kind of verifier was right."""
        return self.outcomes[trust] in self.expect and not self.leaked


class AttackSuite:
    """The attacks and their honest controls against the verifiers of `AgentRL/SWE-v0`.

    Args:
        sandbox: The engine, see `SweEnv`.
        trust: The kinds of verdict to ask for.
        only: Names of attacks and honest solutions; none means all.
        jobs: How many are played at the same time.
    """

    def __init__(
        self, *, sandbox: str = "auto", trust: tuple[str, ...] = TRUST, only: tuple[str, ...] = (), jobs: int = 1
    ) -> None:
        if type(jobs) is not int or jobs < 1:
            raise ConfigError(f"jobs is {jobs!r}; expected a whole number of at least 1")
        self._trust = trust
        self._sandbox = sandbox
        self._jobs = jobs
        known: list[Attack | Honest] = [*catalogue(), *honest()]
        unknown = set(only) - {one.name for one in known}
        if unknown:
            raise TaskError(f"no attack is called {min(unknown)!r}; `agent-envs attack --json` lists them")
        self._chosen = [one for one in known if not only or one.name in only]

    def __len__(self) -> int:
        return len(self._chosen)

    def run(self) -> Iterator[Attacked]:
        """Play each in an episode of its own; what came of it is told in their order."""
        lease = EngineLease(self._sandbox)
        attacked = [name for name in TARGETS if any(one.target == name for one in self._chosen)]
        envs: list[SweEnv] = []
        try:
            engine = lease.engine()
            with ThreadPoolExecutor(self._jobs) as threads:
                tasks = dict(zip(attacked, threads.map(lambda name: _admitted(name, engine), attacked), strict=True))
                envs += (self._env(TaskSet.of("attacks", [*tasks.values()])) for _ in range(self._jobs))
                free: SimpleQueue[SweEnv] = SimpleQueue()
                for env in envs:
                    free.put(env)
                weaker = {trust: SweVerifier(lease.engine, trust=trust) for trust in self._trust if trust != "sealed"}
                yield from threads.map(lambda one: _attacked(one, tasks[one.target], free, weaker), self._chosen)
        finally:
            for env in envs:
                env.close()
            lease.release()

    def _env(self, tasks: TaskSet) -> SweEnv:
        return SweEnv(task_set=tasks, sandbox=self._sandbox, max_steps=100, command_seconds=20.0)


def _admitted(name: str, engine: ImageEngine) -> Task:
    """A target with its controls, which are the same on every engine."""
    if name not in _tasks:
        _tasks[name] = to_task(admit(target(name), engine, repeats=1).applied_to(target(name)))
    return _tasks[name]


def _attacked(
    one: Attack | Honest, task: Task, free: SimpleQueue[SweEnv], weaker: Mapping[str, SweVerifier]
) -> Attacked:
    """Play it in whichever environment is free, and ask the weaker verifiers too."""
    env = free.get()
    try:
        episode, leaked = _played(env, one, task.id)
    finally:
        free.put(env)
    outcomes = {"sealed": episode.outcome or Outcome.ERROR}
    for trust, verifier in weaker.items():
        outcomes[trust] = Outcome.ERROR
        if episode.artifact is not None:
            outcomes[trust] = verify_safely(verifier, task, episode.artifact).outcome
    return _told(one, outcomes, why=episode.why, leaked=leaked)


def _played(env: SweEnv, one: Attack | Honest, task_id: str) -> tuple[Episode, str]:
    """The episode, and what it showed of what it must not."""
    observation, _ = env.reset(options={"task_id": task_id})
    forbidden = one.sees if isinstance(one, Attack) else ()
    leaked = ""
    for call in one.calls:
        observation, _, terminated, truncated, _ = env.step({"name": call.name, "arguments": call.arguments})
        asked = json.dumps(dict(call.arguments))
        leaked = leaked or next((word for word in forbidden if word in observation and word not in asked), "")
        if terminated or truncated:
            break
    else:
        env.step({"name": "submit", "arguments": {}})
    assert env.episode is not None
    return env.episode, leaked


def _told(one: Attack | Honest, outcomes: dict[str, Outcome], *, why: str, leaked: str) -> Attacked:
    if isinstance(one, Honest):
        return Attacked(
            name=one.name,
            number="",
            family="honest",
            idea=one.idea,
            expect=_ONLY_RESOLVED,
            outcomes=outcomes,
            why=why,
        )
    return Attacked(
        name=one.name,
        number=one.number,
        family=one.family,
        idea=one.idea,
        expect=one.expect,
        outcomes=outcomes,
        why=why,
        leaked=leaked,
    )
