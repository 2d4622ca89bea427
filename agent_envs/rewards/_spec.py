"""What behaviour is worth: the options of a reward, and its presets."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import Literal

import msgspec

from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.rewards._account import RewardAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSpec:
    """Which behaviour is worth what. Bonuses are added; penalties are amounts of at least 0 and are subtracted."""

    outcome: float = 1.0
    """What a verdict with score 1.0 is worth; lower scores lie on the straight line to `wrong_outcome`."""
    wrong_outcome: float = 0.0
    """What a verdict with score 0.0 is worth; usually 0 or negative."""

    format_bonus: float = 0.0
    """For an action in the wanted format that calls an existing tool with valid arguments."""
    format_penalty: float = 0.0
    """For an action that breaks the format, for every such turn."""
    format_per: Literal["episode", "turn"] = "episode"
    """Whether the bonus is earned once or in every turn (which pays an agent for taking many)."""
    format_ends: bool = False
    """Whether an action that breaks the format ends the episode there: its penalty is all that is counted."""

    execution_bonus: float = 0.0
    """For code or a command that ran to its end."""
    execution_penalty: float = 0.0
    """For code or a command that did not."""
    execution_per: Literal["call", "episode"] = "call"
    """Whether every call counts as it happens, or only the last one that executed anything, at the end."""
    execution_cap: float = 0.0
    """The most that the bonuses of one episode may add up to; 0 means no limit."""

    loop_penalty: float = 0.0
    """The n-th repetition of an identical call (same tool, same arguments) costs n times this."""
    loop_consecutive: bool = False
    """Whether only repetitions in direct succession count; a different call in between then forgives them."""

    thought_penalty: float = 0.0
    """The most that a thought outside its window costs, per turn; see `thought_excess` for the shape."""
    thought_min: int = 0
    """The shortest thought that costs nothing."""
    thought_max: int = 4000
    """The longest thought that costs nothing."""
    thought_ramp: int = 1000
    """How far outside the window the whole penalty is reached."""
    thought_unit: Literal["characters", "words"] = "characters"
    """What the three lengths count."""

    diff_penalty: float = 0.0
    """For every changed line beyond the allowance; the environment reports the number as the metric `diff_lines`."""
    diff_allowance: int = 0
    """Changed lines that cost nothing."""
    diff_cap: float = 1.0
    """The most that a diff can cost; 0 means no limit."""

    process: float = 0.0
    """What a step with score 1.0 is worth, according to the scorer."""
    process_scorer: str = ""
    """Who scores steps: a name given to `register_scorer`, or `package.module:factory`."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, int | float) and not math.isfinite(value):
                raise ConfigError(f"reward option {name} is {value}; expected a finite number")
            if name.endswith(_AMOUNTS) and value < 0:
                raise ConfigError(f"reward option {name} is {value}; it is an amount, so write {-value}")
        if self.thought_max < self.thought_min:
            raise ConfigError(f"thought_max ({self.thought_max}) is below thought_min ({self.thought_min}); swap them")
        if self.process and not self.process_scorer:
            raise ConfigError(f"process is {self.process}, and no process_scorer is named; name one")

    @classmethod
    def of(cls, spec: str | Mapping[str, object] | RewardSpec) -> RewardSpec:
        """The spec of a preset's name, or of a mapping of fields that may start from one under the key `preset`."""
        if isinstance(spec, RewardSpec):
            return spec
        if not isinstance(spec, str | Mapping):
            raise ConfigError(f"the reward is {spec!r}; expected the name of a preset, or a mapping of options")
        options = {"preset": spec} if isinstance(spec, str) else dict(spec)
        preset = str(options.pop("preset", "score"))
        if preset not in PRESETS:
            raise ConfigError(_unknown("reward preset", preset, PRESETS))
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise ConfigError(_unknown("reward option", str(name), names))
        try:
            return msgspec.convert(PRESETS[preset].to_dict() | options, cls)
        except msgspec.ValidationError as cause:
            if isinstance(cause.__cause__, ConfigError):
                raise cause.__cause__ from None
            raise ConfigError(f"reward option has the wrong type: {cause}") from cause

    def to_dict(self) -> JsonObject:
        """Every field as JSON data; `RewardSpec.of` reads it back."""
        return asdict(self)

    def start(self, prompt: str = "") -> RewardAccount:
        """The account of one new episode; `prompt` is what a process scorer is told of the task."""
        return RewardAccount(self, prompt)

    def thought_excess(self, thought: str) -> float:
        """How much of `thought_penalty` a thought costs: 0.0 inside the window, 1.0 from `thought_ramp` beyond it on.

        With d units outside the window and r = min(1, d / thought_ramp), it is (1 - cos(pi * r)) / 2: flat at both ends
        and steepest half-way, so that a unit more or less at the edge of the window hardly matters.
        """
        length = len(thought) if self.thought_unit == "characters" else len(thought.split())
        outside = max(self.thought_min - length, length - self.thought_max, 0)
        if outside >= self.thought_ramp:
            return 1.0 if outside else 0.0
        return (1.0 - math.cos(math.pi * outside / self.thought_ramp)) / 2.0


_AMOUNTS = ("_bonus", "_penalty", "_cap", "_min", "_max", "_ramp", "_allowance")

PRESETS: Mapping[str, RewardSpec] = {
    "score": RewardSpec(),
    "seed": RewardSpec(
        wrong_outcome=-0.2,
        format_bonus=0.2,
        format_penalty=1.0,
        format_ends=True,
        execution_bonus=0.3,
        execution_penalty=0.3,
        execution_per="episode",
    ),
    "shaped": RewardSpec(
        format_penalty=0.1,
        execution_bonus=0.1,
        execution_cap=0.5,
        loop_penalty=0.05,
        thought_penalty=0.2,
    ),
}
"""The named specs: `score` for benchmarks, `seed` for single programs, `shaped` for many small steps."""


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(known)}"
    return f"unknown {what} {name!r}; {hint}"
