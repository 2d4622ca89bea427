"""The parts of a reward, and what one episode earns of each.

A part is a fact about behaviour; which facts count is `RewardSpec`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_envs.artifact import Verdict
from agent_envs.errors import ConfigError, InfraError, boundary
from agent_envs.rewards._scorers import Progress, Step, StepScorer, get_scorer
from agent_envs.tools import ToolResult

if TYPE_CHECKING:
    from agent_envs.dialects import Parsed
    from agent_envs.rewards import RewardSpec

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
