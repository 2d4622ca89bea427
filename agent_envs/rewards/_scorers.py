"""Who judges single steps: a rule, an LLM judge or a trained model, found by name so that a reward stays plain JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Protocol

from agent_envs.errors import ConfigError
from agent_envs.tools import ToolCall


@dataclass(frozen=True, slots=True)
class Step:
    """One turn as a scorer sees it."""

    well_formed: bool
    error: str
    """Empty, or `malformed`, `unknown_tool`, `bad_arguments`, `tool_failed` or `timeout`."""
    call: ToolCall | None
    ran: bool | None
    """Whether code or a command ran to its end; None where nothing was executed."""
    thought: str
    result: str
    """What the agent read back."""


@dataclass(frozen=True, slots=True)
class Progress:
    """An episode up to the step that is to be scored, which is the last one."""

    prompt: str
    steps: tuple[Step, ...]

    @property
    def step(self) -> Step:
        """The step to score."""
        return self.steps[-1]


class StepScorer(Protocol):
    """Says how good a step was."""

    def score(self, progress: Progress) -> float:
        """A number from 0 (a bad step) to 1 (a good one); anything else, and any exception, is a fault of ours."""


class CleanStep:
    """The rule `clean_step`: 1 for a step without an error whose code, if any, ran to its end, else 0."""

    def score(self, progress: Progress) -> float:
        """Whether the last step was clean."""
        return float(progress.step.error == "" and progress.step.ran is not False)


_factories: dict[str, Callable[[], StepScorer]] = {"clean_step": CleanStep}


def register_scorer(name: str, factory: Callable[[], StepScorer]) -> None:
    """Make a scorer known under a name, in this process; `factory` is called once per episode.

    A worker process knows it only if it runs the same registration; `package.module:factory` works everywhere.
    """
    if ":" in name or not name:
        raise ConfigError(f"{name!r} cannot name a scorer; expected a word without ':'")
    _factories[name] = factory


def get_scorer(name: str) -> StepScorer:
    """A new scorer by its registered name or as `package.module:factory`."""
    if name in _factories:
        return _factories[name]()
    module_name, colon, attribute = name.partition(":")
    if not colon:
        near = get_close_matches(name, _factories, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(_factories))}"
        raise ConfigError(f"unknown process_scorer {name!r}; {hint} Others are named package.module:factory")
    try:
        factory: Callable[[], StepScorer] = vars(import_module(module_name))[attribute]
    except (ImportError, KeyError) as cause:
        raise ConfigError(
            f"process_scorer {name!r} cannot be imported ({cause}); expected package.module:factory"
        ) from cause
    return factory()
