"""Every exception of the package, and what each way to end an episode means for retries, grading and rewards.

What an agent does wrong is an outcome it reads, never an exception. An exception here is either a mistake of the
programmer who calls us (bad task, bad option) or a fault of our infrastructure (`InfraError`), and infrastructure
faults become `EndReason.INFRA_ERROR` in one place, `agent_envs.env`.

    AgentEnvsError
    ├── ConfigError            an option is wrong                              (also ValueError)
    ├── TaskError              task data is wrong                              (also ValueError)
    │   └── UnknownTask        no task has this id                             (also LookupError)
    ├── EpisodeError           a recorded episode cannot be read               (also ValueError)
    ├── ToolDefinitionError    a function cannot be shown to an agent          (also TypeError)
    ├── MissingExtra           an optional dependency is not installed         (also ImportError)
    ├── ResetNeeded            the episode has not begun, or has ended
    ├── EnvClosed              the environment was closed                      (also ResetNeeded)
    ├── ToolFailed             a tool tells the agent that it could not do it  (shown to the agent, ends nothing)
    └── InfraError             our side broke                                  (also RuntimeError)
        ├── SandboxUnavailable no sandbox of the wanted kind can exist here
        ├── SandboxDied        a live sandbox stopped answering
        └── VerifierFailed     no verdict could be reached
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import gymnasium


class AgentEnvsError(Exception):
    """The base of every exception raised by agent-envs; whole again in another process, whatever made it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)


class ConfigError(AgentEnvsError, ValueError):
    """An option has a value that cannot work."""


class TaskError(AgentEnvsError, ValueError):
    """Task data is malformed, empty, or contradicts itself."""


class UnknownTask(TaskError, LookupError):
    """No task of this set has the requested id."""


class EpisodeError(AgentEnvsError, ValueError):
    """A recorded episode is torn, malformed, or of a version that this package does not know."""


class ToolDefinitionError(AgentEnvsError, TypeError):
    """A function cannot be turned into a tool, because its signature or docstring lacks something."""


class MissingExtra(AgentEnvsError, gymnasium.error.DependencyNotInstalled, ImportError):
    """An optional dependency is needed and not installed; the message names the extra."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed; it comes with: pip install 'agent-envs[{extra}]'")


class ResetNeeded(AgentEnvsError, gymnasium.error.ResetNeeded):
    """`step` was called where no episode is running."""


class EnvClosed(ResetNeeded):
    """The environment was used after `close`."""


class ToolFailed(AgentEnvsError):
    """Raised by a tool to tell the agent that it could not do what was asked; the episode goes on."""


class InfraError(AgentEnvsError, RuntimeError):
    """Our infrastructure failed; it says nothing about the agent."""


class SandboxUnavailable(InfraError):
    """A sandbox of the requested kind cannot be started on this machine; the message says what would allow it."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing
        """Whether it may well be otherwise at a second attempt."""


class SandboxDied(InfraError):
    """A running sandbox stopped answering for a reason that the agent cannot cause."""


class VerifierFailed(InfraError):
    """The verifier could not reach a verdict."""


def _again(kind: type[AgentEnvsError], args: tuple[Any, ...], state: dict[str, Any]) -> AgentEnvsError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


@contextmanager
def boundary(error: type[InfraError], doing: str) -> Iterator[None]:
    """Turn whatever goes wrong inside the block into one `InfraError`, so that it can never be read as a wrong answer.

    Our own errors pass unchanged. `doing` completes the sentence "could not ...".
    """
    try:
        yield
    except AgentEnvsError:
        raise
    except Exception as cause:
        raise error(f"could not {doing}: {type(cause).__name__}: {cause}") from cause


class EndReason(StrEnum):
    """Why an episode ended."""

    SUBMITTED = "submitted"
    """The agent said that it was done."""
    MAX_STEPS = "max_steps"
    """The budget of actions is spent."""
    WALL_TIME = "wall_time"
    """The budget of seconds is spent."""
    TOKEN_BUDGET = "token_budget"
    """The budget of sampled tokens is spent."""
    MALFORMED = "malformed"
    """Too many actions in a row held no readable tool call."""
    AGENT_ERROR = "agent_error"
    """The agent itself failed (its model, its connection)."""
    INFRA_ERROR = "infra_error"
    """Our sandbox or verifier failed."""


@dataclass(frozen=True, slots=True)
class EndPolicy:
    """The fixed answers about one way to end."""

    terminated: bool
    """Gymnasium's `terminated`; the others are `truncated`."""
    grade: bool
    """Whether the artifact is frozen and verified."""
    reward_valid: bool
    """Whether the reward says anything about the agent; a trainer masks the episode where it does not."""
    retry: bool
    """Whether running the same task again is the right answer to it."""


END_POLICY: dict[EndReason, EndPolicy] = {
    EndReason.SUBMITTED: EndPolicy(terminated=True, grade=True, reward_valid=True, retry=False),
    EndReason.MAX_STEPS: EndPolicy(terminated=False, grade=True, reward_valid=True, retry=False),
    EndReason.WALL_TIME: EndPolicy(terminated=False, grade=True, reward_valid=True, retry=False),
    EndReason.TOKEN_BUDGET: EndPolicy(terminated=False, grade=True, reward_valid=True, retry=False),
    EndReason.MALFORMED: EndPolicy(terminated=True, grade=True, reward_valid=True, retry=False),
    EndReason.AGENT_ERROR: EndPolicy(terminated=False, grade=False, reward_valid=False, retry=True),
    EndReason.INFRA_ERROR: EndPolicy(terminated=False, grade=False, reward_valid=False, retry=True),
}
"""What every end of an episode means; nothing else in the package decides it."""
