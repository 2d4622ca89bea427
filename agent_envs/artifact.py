"""What an agent leaves behind, and what a verifier says of it: plain data, so that both outlive the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

from agent_envs.json_lines import JsonObject


@dataclass(frozen=True, slots=True)
class Artifact:
    """Everything a verifier may know about an episode, frozen before the agent's sandbox is destroyed."""

    answer: str = ""
    """What the agent submitted; empty where it submitted nothing."""
    submitted: bool = False
    """Whether the agent submitted at all: an empty answer is an answer, a missing one is not."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The regular files of the workspace, by path relative to it."""
    rejected: dict[str, str] = field(default_factory=dict)
    """What the workspace held and we refused to carry (links, devices, oversized files): path -> why."""
    state: JsonObject = field(default_factory=dict)
    """Other end state as JSON-able data (a browser's URL, database rows)."""


class Outcome(StrEnum):
    """What a verifier decided."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    TAMPERED = "tampered"
    """The artifact tried to forge a pass; worth no more than a wrong answer, and named."""
    ERROR = "error"
    """No verdict: our side failed. The score is unknown, never zero."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's decision with what it rests on."""

    outcome: Outcome
    score: float | None
    """In [0, 1]; None exactly where the outcome is ERROR, so that it cannot be averaged by accident."""
    parts: dict[str, float] = field(default_factory=dict)
    """Named sub-scores."""
    flags: tuple[str, ...] = ()
    """Named observations that did not decide the verdict (for instance `answer_repaired`)."""
    evidence: JsonObject = field(default_factory=dict)
    """JSON-able data from which a reader can see why: expected shape, first difference, exit status."""

    def __post_init__(self) -> None:
        if (self.score is None) != (self.outcome is Outcome.ERROR):
            raise ValueError(
                f"a verdict has no score exactly where its outcome is error, got {self.outcome} and {self.score}"
            )
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise ValueError(f"a score lies in [0, 1], got {self.score}")
        if not all(map(isfinite, self.parts.values())):
            raise ValueError(f"parts of a verdict are finite numbers, got {self.parts}")

    @classmethod
    def resolved(cls, **evidence: Any) -> Verdict:
        """A full pass."""
        return cls(Outcome.RESOLVED, 1.0, evidence=evidence)

    @classmethod
    def unresolved(cls, why: str, *, score: float = 0.0, **evidence: Any) -> Verdict:
        """A failure, with the reason a reader sees first."""
        return cls(Outcome.UNRESOLVED, score, evidence={"why": why, **evidence})

    @classmethod
    def tampered(cls, why: str, **evidence: Any) -> Verdict:
        """An attempted forgery."""
        return cls(Outcome.TAMPERED, 0.0, evidence={"why": why, **evidence})

    @classmethod
    def error(cls, why: str) -> Verdict:
        """No verdict, because our side failed."""
        return cls(Outcome.ERROR, None, evidence={"why": why})
