"""Agents without a model: they test environments rather than solve them."""

from __future__ import annotations

from collections.abc import Iterable

from agent_envs.agents.play import Agent, AgentFailed
from agent_envs.env import AgentEnv
from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.tools import Action


class NopAgent:
    """Never acts; what scores anything with it is broken."""

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """Nothing to prepare."""

    def act(self, observation: str) -> Action:
        """Say nothing."""
        return ""


class ScriptedAgent:
    """Plays a fixed list of actions; it fails where the list is shorter than the episode."""

    def __init__(self, actions: Iterable[Action]) -> None:
        self.actions = tuple(actions)
        self._next = 0

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """Start at the first action again."""
        self._next = 0

    def act(self, observation: str) -> Action:
        """The next action of the list."""
        if self._next >= len(self.actions):
            raise AgentFailed(f"the script has {len(self.actions)} actions and the episode wants one more")
        self._next += 1
        return self.actions[self._next - 1]


class OracleAgent(ScriptedAgent):
    """Plays each task's own reference solution; it must score 1.0 everywhere."""

    def __init__(self) -> None:
        super().__init__(())

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """Look up the solution of the task; a task without one makes the agent fail."""
        super().begin(env, observation, info)
        if not env.task.solution:
            raise AgentFailed(f"task {env.task.id!r} has no reference solution")
        self.actions = tuple({"name": call.name, "arguments": call.arguments} for call in env.task.solution)


class RandomAgent:
    """Draws schema-valid calls from the action space, reproducibly."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """Take the action space and seed it."""
        self._space = env.action_space
        self._space.seed(self.seed)

    def act(self, observation: str) -> Action:
        """A random call."""
        return self._space.sample()


def make_agent(name: str, *, script: Iterable[Action] = (), seed: int = 0) -> Agent:
    """The model-less agent of this name: `oracle`, `nop`, `random` or `scripted`."""
    match name:
        case "oracle":
            return OracleAgent()
        case "nop":
            return NopAgent()
        case "random":
            return RandomAgent(seed=seed)
        case "scripted":
            return ScriptedAgent(script)
    raise ConfigError(f"no agent is called {name!r}; the agents are: nop, oracle, random, scripted")
