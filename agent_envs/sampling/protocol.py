"""What every sampler promises: ids in, ids and their log-probabilities out, under the policy's own distribution.

One decision: there is no top-p, top-k or penalty. They change the distribution behind the log-probabilities, so that a
ratio between trainer and sampler would be biased and no test could see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Continue these ids."""

    key: int
    """Comes back with the completion."""
    ids: list[int]
    """The whole context."""
    max_new: int
    temperature: float = 1.0
    """0.0 takes the likeliest id."""
    seed: int = 0
    """Decides the draws of this request alone, whatever else is sampled beside it."""
    memory: Any = None
    """What the sampler gave back for the turn before, so that the context is not read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What was sampled."""

    key: int
    ids: list[int]
    logprobs: list[float]
    """Of each id under the policy at the request's temperature (at 1.0 for greedy requests)."""
    memory: Any = None
    error: str = ""
    """Why there is no completion; empty where there is one."""


class Sampler(Protocol):
    """Samples from the policy that `refresh` showed it last."""

    context: int
    """The most ids that a request and its completion may have together."""

    def submit(self, request: Request) -> None:
        """Queue a request; returns at once."""

    def poll(self, wait_s: float) -> list[Completion]:
        """What is finished; works or waits at most about `wait_s` seconds for it."""

    def refresh(self, model: Any, version: int) -> None:
        """Sample from these weights from now on."""
