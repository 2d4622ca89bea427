"""One agent, one environment, one episode."""

from __future__ import annotations

from typing import Any, Protocol

import gymnasium

from agent_envs.env import AgentEnv
from agent_envs.episode import Episode
from agent_envs.errors import AgentEnvsError, ConfigError, EndReason
from agent_envs.json_lines import JsonObject
from agent_envs.tools import Action


class AgentFailed(AgentEnvsError, RuntimeError):
    """Raised by an agent that cannot go on (its model or its connection broke); the episode counts as unfinished."""


class Agent(Protocol):
    """Whoever chooses the actions."""

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """See the task; called once per episode, before the first `act`."""

    def act(self, observation: str) -> Action:
        """Choose the next action, given what is new; raise `AgentFailed` where there can be none."""


def play_episode(env: gymnasium.Env[str, str], agent: Agent, *, seed: int | None = None, task_id: str = "") -> Episode:
    """Play one episode to its end and return its record.

    Args:
        env: An `AgentEnv`, wrapped or not.
        agent: Chooses the actions; `AgentFailed` ends the episode as `AGENT_ERROR`.
        seed: Picks the task where `task_id` is empty.
        task_id: Picks the task by name.
    """
    inner = agent_env(env)
    observation, info = env.reset(seed=seed, options={"task_id": task_id} if task_id else None)
    ended = False
    try:
        agent.begin(inner, observation, info)
        while not ended:
            action: Any = agent.act(observation)
            observation, _, terminated, truncated, _ = env.step(action)
            ended = terminated or truncated
    except AgentFailed as failure:
        return inner.abort(EndReason.AGENT_ERROR, str(failure))
    assert inner.episode is not None, "an episode that ended has a record"
    return inner.episode


def agent_env(env: gymnasium.Env[Any, Any]) -> AgentEnv:
    """The `AgentEnv` inside `env`; raises `ConfigError` where there is none."""
    inner = env.unwrapped
    if not isinstance(inner, AgentEnv):
        raise ConfigError(f"{type(inner).__name__} is no AgentEnv; subclass agent_envs.AgentEnv to use it here")
    return inner
