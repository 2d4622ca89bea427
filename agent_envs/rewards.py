"""How behaviour becomes a number: seven named parts, each switched on by its own field, summed and never mixed.

The default is the verifier's score alone. Every number of a `RewardSpec` is plain JSON, so that a run names its reward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agent_envs._scorers import CleanStep, Progress, Step, StepScorer, get_scorer, register_scorer
from agent_envs.artifact import Verdict
from agent_envs.errors import ConfigError, InfraError, boundary
from agent_envs.tools import ToolResult

if TYPE_CHECKING:
    from agent_envs.dialects import Parsed

__all__ = [
    "PARTS",
    "PRESETS",
    "CleanStep",
    "Progress",
    "RewardAccount",
    "RewardParts",
    "RewardSpec",
    "Step",
    "StepScorer",
    "add",
    "no_reward",
    "register_scorer",
    "total",
]

PARTS = ("outcome", "format", "execution", "loop", "thought", "diff", "process")
"""The names of the parts, always all present."""

RewardParts = dict[str, float]
"""A value for every name in `PARTS`."""

_ZERO: RewardParts = dict.fromkeys(PARTS, 0.0)


def no_reward() -> RewardParts:
    """The parts of a step that says nothing about the agent."""
    return _ZERO.copy()


def total(parts: Mapping[str, float]) -> float:
    """The reward: the sum of the parts, rounded once, so that 0.2 + 0.3 - 0.2 is 0.3."""
    return math.fsum(parts.values())


def add(first: Mapping[str, float], second: Mapping[str, float]) -> RewardParts:
    """The parts of a last step: those of its turn and those of the end of the episode."""
    return {name: math.fsum((first[name], second[name])) for name in PARTS}


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
    def of(cls, spec: str | Mapping[str, Any] | RewardSpec) -> RewardSpec:
        """The spec of a preset's name, or of a mapping of fields that may start from one under the key `preset`."""
        if isinstance(spec, RewardSpec):
            return spec
        options = {"preset": spec} if isinstance(spec, str) else dict(spec)
        preset = options.pop("preset", "score")
        if preset not in PRESETS:
            raise ConfigError(_unknown("reward preset", str(preset), PRESETS))
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

    def to_dict(self) -> dict[str, Any]:
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


class RewardAccount:
    """What one episode has earned: give it every turn and then the end, and pay out what it answers."""

    __slots__ = (
        "_bonuses",
        "_last_call",
        "_plain",
        "_prompt",
        "_ran",
        "_repeats",
        "_scorer",
        "_steps",
        "ended",
        "spec",
    )

    def __init__(self, spec: RewardSpec, prompt: str = "") -> None:
        self.spec = spec
        self.ended = False
        """Whether a broken format ended the episode; nothing is counted any more."""
        self._prompt = prompt
        self._plain = not _shapes_turns(spec)
        self._ran: bool | None = None
        self._bonuses = {"format": 0.0, "execution": 0.0}
        self._repeats: dict[str, int] = {}
        self._last_call = ""
        self._steps: list[Step] = []
        self._scorer: StepScorer | None = get_scorer(spec.process_scorer) if spec.process else None

    def ends(self, parsed: Parsed) -> bool:
        """Whether this action ends the episode by its form alone; ask before anything is executed."""
        return self.spec.format_ends and not parsed.well_formed

    def turn(self, parsed: Parsed, result: ToolResult) -> RewardParts:
        """The parts of one step: how the action was written, which call it makes, and whether that ran."""
        parts = _ZERO.copy()
        if self.ended or self._plain:
            return parts
        spec = self.spec
        if not parsed.well_formed:
            parts["format"] = 0.0 - spec.format_penalty
            if spec.format_ends:
                self.ended = True
                return parts
        elif not parsed.error:
            parts["format"] = self._format_bonus()
        if result.ran is not None:
            parts["execution"] = self._execution(result.ran)
        if spec.loop_penalty and parsed.call is not None:
            parts["loop"] = 0.0 - spec.loop_penalty * self._repetition(parsed.call.to_json())
        if spec.thought_penalty:
            parts["thought"] = 0.0 - spec.thought_penalty * spec.thought_excess(parsed.thought)
        if self._scorer is not None:
            parts["process"] = spec.process * self._scored(_step(parsed, result))
        return parts

    def end(self, verdict: Verdict | None, metrics: Mapping[str, float] | None = None) -> RewardParts:
        """The parts that the last step gets on top. Without a score the reward is not valid, and every part is 0.0."""
        parts = _ZERO.copy()
        if self.ended or verdict is None or verdict.score is None:
            return parts
        spec = self.spec
        parts["outcome"] = spec.outcome * verdict.score + spec.wrong_outcome * (1.0 - verdict.score)
        if spec.execution_per == "episode" and self._ran is not None:
            parts["execution"] = spec.execution_bonus if self._ran else -spec.execution_penalty
        if spec.diff_penalty:
            beyond = max(0.0, _diff_lines(verdict, metrics or {}) - spec.diff_allowance)
            parts["diff"] = 0.0 - min(spec.diff_cap or math.inf, spec.diff_penalty * beyond)
        return parts

    def copy(self) -> RewardAccount:
        """An independent account that continues from here, for an episode that is forked."""
        twin = RewardAccount(self.spec, self._prompt)
        twin.ended, twin._ran, twin._last_call = self.ended, self._ran, self._last_call
        twin._bonuses, twin._repeats, twin._steps = self._bonuses.copy(), self._repeats.copy(), self._steps.copy()
        return twin

    def _format_bonus(self) -> float:
        if self.spec.format_per == "episode" and self._bonuses["format"]:
            return 0.0
        self._bonuses["format"] += self.spec.format_bonus
        return self.spec.format_bonus

    def _execution(self, ran: bool) -> float:
        spec = self.spec
        self._ran = ran
        if spec.execution_per == "episode":
            return 0.0
        if not ran:
            return -spec.execution_penalty
        room = spec.execution_cap - self._bonuses["execution"] if spec.execution_cap else spec.execution_bonus
        bonus = max(0.0, min(spec.execution_bonus, room))
        self._bonuses["execution"] += bonus
        return bonus

    def _repetition(self, call: str) -> int:
        if self.spec.loop_consecutive and call != self._last_call:
            self._repeats.clear()
        self._last_call = call
        count = self._repeats.get(call, -1) + 1
        self._repeats[call] = count
        return count

    def _scored(self, step: Step) -> float:
        self._steps.append(step)
        assert self._scorer is not None
        with boundary(InfraError, f"score a step with {self.spec.process_scorer!r}"):
            score = float(self._scorer.score(Progress(self._prompt, tuple(self._steps))))
        if not 0.0 <= score <= 1.0:
            raise InfraError(f"the scorer {self.spec.process_scorer!r} returned {score}; expected a number from 0 to 1")
        return score


def _step(parsed: Parsed, result: ToolResult) -> Step:
    error = parsed.error or result.error
    return Step(parsed.well_formed, error, parsed.call, result.ran, parsed.thought, result.text)


def _shapes_turns(spec: RewardSpec) -> bool:
    """Whether any turn can be worth something before the end."""
    return bool(
        spec.format_bonus
        or spec.format_penalty
        or spec.format_ends
        or spec.execution_bonus
        or spec.execution_penalty
        or spec.loop_penalty
        or spec.thought_penalty
        or spec.process
    )


def _diff_lines(verdict: Verdict, metrics: Mapping[str, float]) -> float:
    lines = metrics.get("diff_lines", verdict.parts.get("diff_lines"))
    if lines is None or not math.isfinite(lines):
        raise ConfigError(
            "diff_penalty needs the metric `diff_lines`, which this environment does not report; set it to 0"
        )
    return lines


def _unknown(what: str, name: str, known: Mapping[str, Any] | list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(known)}"
    return f"unknown {what} {name!r}; {hint}"
