"""Plays the attack suite through the environment itself, and asks every kind of verifier what it thinks of the result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

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
from agent_envs.errors import TaskError
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
    """

    def __init__(self, *, sandbox: str = "auto", trust: tuple[str, ...] = TRUST, only: tuple[str, ...] = ()) -> None:
        self._trust = trust
        self._sandbox = sandbox
        known: list[Attack | Honest] = [*catalogue(), *honest()]
        unknown = set(only) - {one.name for one in known}
        if unknown:
            raise TaskError(f"no attack is called {min(unknown)!r}; `agent-envs attack --json` lists them")
        self._chosen = [one for one in known if not only or one.name in only]

    def __len__(self) -> int:
        return len(self._chosen)

    def run(self) -> Iterator[Attacked]:
        """Play one after the other, each in an episode of its own."""
        lease = EngineLease(self._sandbox)
        tasks = [_admitted(name, lease.engine()) for name in TARGETS]
        env = SweEnv(task_set=TaskSet.of("attacks", tasks), sandbox=self._sandbox, max_steps=100, command_seconds=20.0)
        weaker = {trust: SweVerifier(lease.engine, trust=trust) for trust in self._trust if trust != "sealed"}
        by_name = dict(zip(TARGETS, tasks, strict=True))
        try:
            for one in self._chosen:
                task = by_name[one.target]
                episode, leaked = _played(env, one, task.id)
                outcomes = {"sealed": episode.outcome or Outcome.ERROR}
                for trust, verifier in weaker.items():
                    outcomes[trust] = Outcome.ERROR
                    if episode.artifact is not None:
                        outcomes[trust] = verify_safely(verifier, task, episode.artifact).outcome
                yield _attacked(one, outcomes, why=episode.why, leaked=leaked)
        finally:
            env.close()
            lease.release()


def _admitted(name: str, engine: ImageEngine) -> Task:
    """A target with its controls, which are the same on every engine."""
    if name not in _tasks:
        _tasks[name] = to_task(admit(target(name), engine, repeats=1).applied_to(target(name)))
    return _tasks[name]


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


def _attacked(one: Attack | Honest, outcomes: dict[str, Outcome], *, why: str, leaked: str) -> Attacked:
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
