"""Episodes added up: what was resolved, what was not, and what says nothing about the agent."""

from __future__ import annotations

import time
from collections import Counter
from typing import ClassVar

from agent_envs.artifact import Outcome
from agent_envs.episode import Episode


class Summary:
    """The figures of one agent's episodes; episodes that say nothing are counted apart, never as zeros."""

    COLUMNS: ClassVar = ("agent", "#resolved", "#tampered", "#no verdict", "#score", "#ms each", "#seconds")

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.outcomes: Counter[Outcome] = Counter()
        self.scores: list[float] = []
        self._failed: list[str] = []
        self._began = time.monotonic()
        self.seconds = 0.0

    def add(self, episode: Episode) -> None:
        """Count one finished episode."""
        self.outcomes[episode.outcome if episode.reward_valid else Outcome.ERROR] += 1
        if episode.reward_valid and episode.score is not None:
            self.scores.append(episode.score)
        if episode.outcome is not Outcome.RESOLVED:
            self._failed.append(f"{episode.task_id}: {episode.outcome}, {episode.end_reason}, {episode.why}")
        self.seconds = time.monotonic() - self._began

    @property
    def tasks(self) -> int:
        """How many episodes there were."""
        return self.outcomes.total()

    @property
    def mean_score(self) -> float | None:
        """Over the episodes with a verdict; None where there is none."""
        return sum(self.scores) / len(self.scores) if self.scores else None

    def row(self) -> tuple[str, ...]:
        """One row for `COLUMNS`."""
        mean = self.mean_score
        return (
            self.agent,
            f"{self.outcomes[Outcome.RESOLVED]}/{self.tasks}",
            str(self.outcomes[Outcome.TAMPERED]),
            str(self.outcomes[Outcome.ERROR]),
            "unknown" if mean is None else f"{mean:.3f}",
            f"{1000 * self.seconds / max(self.tasks, 1):.1f}",
            f"{self.seconds:.1f}",
        )

    def as_dict(self) -> dict[str, object]:
        """The same as JSON-able data."""
        return {
            "agent": self.agent,
            "tasks": self.tasks,
            **{str(outcome): self.outcomes[outcome] for outcome in Outcome},
            "score": self.mean_score,
            "seconds": round(self.seconds, 3),
        }

    def failures(self, *, limit: int) -> list[str]:
        """The first episodes that were not resolved, a line each."""
        more = len(self._failed) - limit
        return self._failed[:limit] + ([f"... and {more} more"] if more > 0 else [])
