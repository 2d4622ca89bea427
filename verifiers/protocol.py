"""What a verifier is, how several make one, and how a fault of ours becomes a verdict without a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import ConfigError, InfraError, TaskError, VerifierFailed, boundary
from agent_envs.tasks import Task


class Verifier(Protocol):
    """Judges what an agent left behind, from data alone: no environment, no live sandbox, no agent."""

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict on one artifact.

        Raises `TaskError` where the task cannot be judged at all, and `InfraError` where our side failed.
        """


class ByKind:
    """Judges each task by the verifier registered for its `kind`."""

    def __init__(self, verifiers: Mapping[str, Verifier]) -> None:
        self.verifiers = dict(verifiers)

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict of the verifier for this task's kind; raises `TaskError` where there is none."""
        return self.verifier_for(task).verify(task, artifact)

    def verifier_for(self, task: Task) -> Verifier:
        """Who judges this task; raises `TaskError` where nobody does, which is better known before it is played."""
        verifier = self.verifiers.get(task.kind)
        if verifier is None:
            kinds = ", ".join(repr(kind) for kind in sorted(self.verifiers)) or "none"
            raise TaskError(f"task {task.id!r} has the kind {task.kind!r}, which nothing verifies; kinds: {kinds}")
        return verifier


def must_verify(verifier: Verifier) -> Verifier:
    """The verifier; raises `ConfigError` where it is none."""
    if not callable(getattr(verifier, "verify", None)):
        raise ConfigError(f"the verifier is {verifier!r}; expected an object with verify(task, artifact)")
    return verifier


def verify_safely(verifier: Verifier, task: Task, artifact: Artifact) -> Verdict:
    """The verdict, or `Outcome.ERROR` where our side failed twice; never a score for a fault of ours.

    A verifier starts a new sandbox for each attempt, so the second one is independent of the first. A `TaskError`
    passes: the task's author must see it, and trying again would not help.
    """
    try:
        return _attempt(verifier, task, artifact)
    except InfraError:
        try:
            return _attempt(verifier, task, artifact)
        except InfraError as again:
            return Verdict.error(f"{again} (tried twice)")


def _attempt(verifier: Verifier, task: Task, artifact: Artifact) -> Verdict:
    with boundary(VerifierFailed, f"verify task {task.id!r}"):
        return verifier.verify(task, artifact)
