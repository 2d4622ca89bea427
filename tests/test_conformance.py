"""`check_agent_env` passes what keeps the contract and names what breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from agent_envs import Artifact, Task, Verdict
from agent_envs.testing import ContractBroken, EchoEnv, check_agent_env


class PassesEverything(EchoEnv):
    """Its verifier says yes to nothing at all."""

    def __init__(self, *, render_mode: str | None = None) -> None:
        super().__init__(verifier=YesMan(), render_mode=render_mode)


class YesMan:
    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        return Verdict.resolved()


class Clocked(EchoEnv):
    """Puts something into `info` that differs from run to run."""

    count = 0

    def __init__(self, *, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)

    def step(self, action: Any) -> Any:
        Clocked.count += 1
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, {**info, "served": Clocked.count}


class Raising(EchoEnv):
    """Takes a bad action for a bad programmer."""

    def __init__(self, *, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)

    def step(self, action: Any) -> Any:
        result = super().step(action)
        if result[4]["error"] == "malformed":
            raise ValueError("invalid action")
        return result


class Swallowing(EchoEnv):
    """Takes a fault of the sandbox for a zero."""

    def __init__(self, *, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, {**info, "reward_valid": True}


@pytest.fixture
def made() -> Iterator[Any]:
    registered: list[str] = []

    def make(entry_point: Any, **options: Any) -> gymnasium.Env[str, str]:
        env_id = f"Test/{entry_point.__name__}{len(registered)}-v0"
        gymnasium.register(env_id, entry_point=entry_point, **options)
        registered.append(env_id)
        return gymnasium.make(env_id)

    yield make
    for env_id in registered:
        del gymnasium.registry[env_id]


def test_an_environment_that_keeps_the_contract_passes(made: Any) -> None:
    check_agent_env(made(EchoEnv), vector=False)


def test_vector_environments_in_other_processes_give_the_same_episodes() -> None:
    gymnasium.register("Test/Echo-v0", entry_point="agent_envs.testing:EchoEnv")
    try:
        check_agent_env(gymnasium.make("Test/Echo-v0"))
    finally:
        del gymnasium.registry["Test/Echo-v0"]


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (PassesEverything, "doing nothing"),
        (Clocked, "info"),
        (Raising, "an outcome"),
        (Swallowing, "fault of ours"),
    ],
)
def test_a_broken_promise_is_named(made: Any, broken: type[EchoEnv], named: str) -> None:
    with pytest.raises(ContractBroken, match=named):
        check_agent_env(made(broken), vector=False)


def test_a_registered_time_limit_is_refused_with_the_reason(made: Any) -> None:
    with pytest.raises(ContractBroken, match="TimeLimit"):
        check_agent_env(made(EchoEnv, max_episode_steps=5), vector=False)
