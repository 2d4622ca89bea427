"""What one episode of training is: token ids exactly as they were sampled, never decoded and encoded again.

One decision: a trajectory is a list of segments, and everything else (training rows, exports) is read from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from agent_envs import json_lines


@dataclass(frozen=True, slots=True)
class Segment:
    """Token ids with one author."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] = ()
    """Of the sampler, one per id; empty where the environment or the chat template wrote the ids."""
    by_model: bool = False
    """Whether the model sampled these ids; only they are trained on."""
    fresh: bool = False
    """Whether the model's context began anew here: this segment is a whole prompt."""


@dataclass(frozen=True, slots=True)
class Row:
    """One context that the model is trained on."""

    ids: tuple[int, ...]
    turns: tuple[int, ...]
    """For each id the number of the turn that sampled it, or -1 where the model did not write it."""
    logprobs: tuple[float, ...]
    """Of the sampler; 0.0 where the model did not write the id."""

    @property
    def trained(self) -> int:
        """How many ids the model sampled."""
        return sum(turn >= 0 for turn in self.turns)


@dataclass(slots=True, kw_only=True)
class Trajectory:
    """One episode as the learner sees it."""

    group: int
    """Episodes of one group began alike; rewards are compared within it."""
    member: int
    start: str = ""
    """What the episode began with: `seed=...` or the id of a task."""
    segments: list[Segment] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    """What each turn was paid."""
    state_hashes: list[str] = field(default_factory=list)
    """`info["state_hash"]` as it was before each turn; empty where the environment gives none."""
    errors: list[str] = field(default_factory=list)
    """`info["error"]` of each turn; empty where there was none."""
    end: str = ""
    """Why it ended: the environment's own `end_reason`, or `terminated`, `truncated`, `max_turns`, `context`."""
    truncated: bool = False
    """Whether a budget ended it."""
    solved: bool = False
    reward_valid: bool = True
    """False where the rewards say nothing about the model; such an episode teaches nothing."""
    policy_version: int = 0
    """Optimizer steps behind the weights that sampled its first token."""
    shown: list[tuple[str, str]] = field(default_factory=list)
    """The same as text, for people: who wrote it, and what."""

    @property
    def reward(self) -> float:
        """The sum over its turns."""
        return sum(self.rewards)

    @property
    def trained(self) -> int:
        """How many ids the model sampled."""
        return sum(len(segment.ids) for segment in self.segments if segment.by_model)

    def rows(self) -> list[Row]:
        """The contexts to train on: one, or one for each turn where the chat template rewrites what was said."""
        rows: list[Row] = []
        ids: list[int] = []
        turns: list[int] = []
        logprobs: list[float] = []
        turn = 0
        for segment in self.segments:
            if segment.fresh and ids:
                rows.append(Row(tuple(ids), tuple(turns), tuple(logprobs)))
                ids, turns, logprobs = [], [], []
            ids += segment.ids
            turns += [turn if segment.by_model else -1] * len(segment.ids)
            logprobs += segment.logprobs or [0.0] * len(segment.ids)
            turn += segment.by_model
        rows.append(Row(tuple(ids), tuple(turns), tuple(logprobs)))
        return [row for row in rows if row.trained]


def write_trajectories(path: str | Path, trajectories: Iterable[Trajectory]) -> None:
    """Append trajectories to a JSONL file, one a line."""
    for trajectory in trajectories:
        json_lines.append(path, msgspec.json.encode(trajectory))


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """The trajectories of such a file."""
    decoder = msgspec.json.Decoder(Trajectory)
    for _, line, _ in json_lines.numbered_lines(path):
        yield decoder.decode(line)
