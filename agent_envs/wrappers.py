"""Wrappers that fit the loop: they change what is seen or injected, and never end an episode outside it.

Gymnasium's own `TimeLimit` ends an episode where no verifier sees it; `StepLimit` lowers the budget inside instead.
"""

from __future__ import annotations

from typing import SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from agent_envs.agents.play import agent_env
from agent_envs.errors import ConfigError, SandboxDied
from agent_envs.json_lines import JsonObject
from agent_envs.spaces import UnicodeText
from agent_envs.tools import ToolCall

TextEnv = gymnasium.Env[str, str]


class History(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Every observation is the whole episode so far, for policies without a memory of their own.

    Args:
        env: An environment of this package.
        max_chars: Longest observation; the middle of a longer one is left out.
    """

    def __init__(self, env: TextEnv, max_chars: int = 65_536) -> None:
        RecordConstructorArgs.__init__(self, max_chars=max_chars)
        gymnasium.Wrapper.__init__(self, env)
        self._space = UnicodeText(max_chars)
        self.observation_space = self._space
        self._shown = ""

    def reset(self, *, seed: int | None = None, options: JsonObject | None = None) -> tuple[str, JsonObject]:
        """Begin an episode and its history."""
        self._shown, info = self.env.reset(seed=seed, options=options)
        return self._space.clip(self._shown), info

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, JsonObject]:
        """Act, and see everything that has been said."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        said = action if isinstance(action, str) else ToolCall(action["name"], action["arguments"]).to_json()
        self._shown += f"\n\n[you]\n{said}\n\n[environment]\n{observation}"
        return self._space.clip(self._shown), reward, terminated, truncated, info


class StepLimit(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """At most `max_steps` actions per episode, ended by the environment itself, so that the episode is verified.

    Args:
        env: An environment of this package.
        max_steps: The budget from the next `reset` on.
    """

    def __init__(self, env: TextEnv, max_steps: int) -> None:
        RecordConstructorArgs.__init__(self, max_steps=max_steps)
        gymnasium.Wrapper.__init__(self, env)
        agent_env(env).set_options(max_steps=max_steps)


class FaultInjection(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Breaks our own side on purpose, to prove that a trainer or a benchmark never takes a fault for a score.

    Args:
        env: An environment of this package.
        at_step: The action (counted from 1) at which the sandbox "dies"; 0 breaks at random.
        rate: Share of tool calls that break, drawn from the environment's own random generator, where `at_step` is 0.
    """

    def __init__(self, env: TextEnv, at_step: int = 1, rate: float = 0.0) -> None:
        RecordConstructorArgs.__init__(self, at_step=at_step, rate=rate)
        gymnasium.Wrapper.__init__(self, env)
        if at_step < 0 or not 0.0 <= rate <= 1.0:
            raise ConfigError(f"at_step is {at_step} and rate {rate}; expected at least 0 and a share in [0, 1]")
        self.at_step = at_step
        self.rate = rate
        self._inner = agent_env(env)
        self._inner.before_tool = self._perhaps_break

    def _perhaps_break(self, call: ToolCall, step: int) -> None:
        due = step == self.at_step if self.at_step else self._inner.np_random.random() < self.rate
        if due:
            raise SandboxDied(f"a fault was injected at action {step}, before {call.name}")
