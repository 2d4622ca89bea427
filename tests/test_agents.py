"""Agents without a model, and the function that plays an episode."""

from __future__ import annotations

import gymnasium
import pytest

from agent_envs import ConfigError, EndReason
from agent_envs.agents import AgentFailed, NopAgent, OracleAgent, RandomAgent, ScriptedAgent, make_agent, play_episode
from agent_envs.testing import EchoEnv


def test_the_oracle_solves_every_task() -> None:
    env = EchoEnv()
    assert [play_episode(env, OracleAgent(), task_id=task.id).total_reward for task in env.tasks] == [1.0] * 6


def test_doing_nothing_solves_no_task_and_ends_by_itself() -> None:
    env = EchoEnv()
    episodes = [play_episode(env, NopAgent(), task_id=task.id) for task in env.tasks]
    assert {(episode.total_reward, episode.end_reason) for episode in episodes} == {(0.0, EndReason.MALFORMED)}


def test_the_random_agent_repeats_itself_for_the_same_seed() -> None:
    first, second = (play_episode(EchoEnv(), RandomAgent(seed=3), seed=1) for _ in range(2))
    assert first.actions == second.actions


def test_a_script_is_played_to_its_end() -> None:
    script = ScriptedAgent(["hm", {"name": "submit", "arguments": {"answer": "apple"}}])
    assert play_episode(EchoEnv(), script, task_id="echo/apple").total_reward == 1.0


def test_a_script_that_is_too_short_is_a_fault_of_the_agent_and_no_score() -> None:
    episode = play_episode(EchoEnv(), ScriptedAgent(["hm"]), seed=1)
    assert (episode.end_reason, episode.reward_valid) == (EndReason.AGENT_ERROR, False)


def test_an_agent_that_fails_before_its_first_action_leaves_a_record() -> None:
    class Broken(NopAgent):
        def act(self, observation: str) -> str:
            raise AgentFailed("no connection")

    episode = play_episode(EchoEnv(), Broken(), seed=1)
    assert episode.turns == ()
    assert "no connection" in str(episode.verdict)


def test_an_environment_of_another_kind_is_refused_with_the_remedy() -> None:
    with pytest.raises(ConfigError, match="AgentEnv"):
        play_episode(gymnasium.make("CartPole-v1"), NopAgent())


def test_an_unknown_agent_is_an_error_that_lists_the_agents() -> None:
    with pytest.raises(ConfigError, match="oracle"):
        make_agent("orakel")
