"""Wrappers change what is seen or injected; the episode still ends inside the loop."""

from __future__ import annotations

import json

import pytest

from agent_envs import ConfigError
from agent_envs.testing import EchoEnv
from agent_envs.wrappers import FaultInjection, History, StepLimit

ECHO = json.dumps({"name": "echo", "arguments": {"text": "seen before"}})
SUBMIT = json.dumps({"name": "submit", "arguments": {"answer": "apple"}})


def test_history_shows_the_task_the_actions_and_the_observations() -> None:
    env = History(EchoEnv())
    first, _ = env.reset(seed=1)
    env.step(ECHO)
    last, *_ = env.step("what now?")
    assert last.startswith(first)
    assert last.index("seen before") < last.index("what now?")


def test_history_stays_within_its_space() -> None:
    env = History(EchoEnv(), max_chars=300)
    env.reset(seed=1)
    observations = [env.step(ECHO)[0] for _ in range(9)]
    assert all(observation in env.observation_space for observation in observations)
    assert "left out" in observations[-1]


def test_a_step_limit_ends_the_episode_inside_so_that_it_is_verified() -> None:
    env = StepLimit(EchoEnv(), max_steps=1)
    env.reset(options={"task_id": "echo/apple"})
    _, _, _, truncated, info = env.step(ECHO)
    assert (truncated, info["end_reason"], info["outcome"]) == (True, "max_steps", "unresolved")


def test_an_injected_fault_is_masked_and_never_a_score() -> None:
    env = FaultInjection(EchoEnv(), at_step=2)
    env.reset(options={"task_id": "echo/apple"})
    assert env.step(ECHO)[4]["reward_valid"]
    _, reward, _, truncated, info = env.step(SUBMIT)
    assert (reward, truncated, info["end_reason"], info["reward_valid"]) == (0.0, True, "infra_error", False)


def test_random_faults_are_the_same_for_the_same_seed() -> None:
    def first_fault(seed: int) -> int:
        env = FaultInjection(EchoEnv(), at_step=0, rate=0.3)
        env.reset(seed=seed)
        return next(step for step in range(30) if env.step(ECHO)[3])

    assert [first_fault(seed) for seed in range(5)] == [first_fault(seed) for seed in range(5)]


@pytest.mark.parametrize("options", [{"at_step": -1}, {"rate": 1.5}, {"rate": float("nan")}])
def test_a_fault_rate_that_is_no_share_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="share"):
        FaultInjection(EchoEnv(), **options)  # type: ignore[arg-type]
