"""The options that every environment shares: all JSON, so that an `EnvSpec` round-trips and a run can be repeated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypedDict

from agent_envs.errors import ConfigError


class CommonOptions(TypedDict, total=False):
    """The keyword arguments that every environment passes on to `AgentEnv`."""

    dialect: str
    reward: str | Mapping[str, Any]
    split: str
    tools: tuple[str, ...] | list[str]
    instructions: bool
    max_steps: int
    max_seconds: float
    max_tokens: int
    max_malformed: int
    observation_chars: int
    action_chars: int
    record: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How one environment runs its episodes; see each field."""

    dialect: str = "auto"
    """The text format of actions; `auto` reads them all and teaches `fenced`."""
    reward: str | Mapping[str, Any] = "score"
    """A preset of `RewardSpec`, or a mapping of its fields."""
    split: str = ""
    """Which split tasks are drawn from; empty means the first one of the task set."""
    tools: tuple[str, ...] | list[str] = ()
    """A subset of the environment's tools, by name; empty means all."""
    instructions: bool = True
    """Whether the first observation teaches the tools and the dialect; `info["prompt"]` always holds both parts."""
    max_steps: int = 30
    """Actions per episode, malformed ones included."""
    max_seconds: float = 0.0
    """Seconds per episode since `reset`, the agent's thinking included; 0 means no limit."""
    max_tokens: int = 0
    """Sampled tokens per episode, as reported through `AgentEnv.charge_tokens`; 0 means no limit."""
    max_malformed: int = 3
    """Actions in a row without a readable tool call after which the episode ends."""
    observation_chars: int = 16_384
    """Longest observation; a longer one loses its middle, and says so."""
    action_chars: int = 65_536
    """Longest action of the action space; a longer one is refused as malformed."""
    record: str = ""
    """A JSONL file to which every finished episode is appended; empty means none."""

    @classmethod
    def of(cls, options: CommonOptions) -> Options:
        """Check `options` and fill in the defaults; raises `ConfigError` naming the option that is wrong."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"the options are: {', '.join(known)}"
                raise ConfigError(f"unknown option {name!r}; {hint}")
        return cls(**options)

    def __post_init__(self) -> None:
        for name in ("max_steps", "max_malformed", "observation_chars", "action_chars"):
            self._require(name, type(self._value(name)) is int and self._value(name) >= 1, "a whole number from 1 on")
        self._require("max_tokens", type(self.max_tokens) is int and self.max_tokens >= 0, "a whole number from 0 on")
        seconds = type(self.max_seconds) in (int, float) and 0 <= self.max_seconds < math.inf
        self._require("max_seconds", seconds, "a number of seconds from 0 on")
        self._require("instructions", type(self.instructions) is bool, "True or False")
        for name in ("dialect", "split", "record"):
            self._require(name, isinstance(self._value(name), str), "a text")
        self._require("reward", isinstance(self.reward, str | Mapping), "the name of a preset, or a mapping of options")
        listed = isinstance(self.tools, tuple | list) and all(isinstance(name, str) for name in self.tools)
        self._require("tools", listed, 'a list of tool names, such as ["submit"]')

    def _value(self, name: str) -> Any:
        return object.__getattribute__(self, name)

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise ConfigError(f"the option {name} is {self._value(name)!r}; expected {expected}")
