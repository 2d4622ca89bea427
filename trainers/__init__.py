"""Trainers that consume any registered text environment; they know `gymnasium.Env` and `Episode`, no concrete one.

Reading order: `run`, `rollouts` (episodes), `grpo` (what is learned from them).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent_envs.trainers.config import TrainConfig, TrainingFailed

from agent_envs.errors import MissingExtra

if TYPE_CHECKING:
    from agent_envs.trainers.probe import NothingToLearn
    from agent_envs.trainers.rollouts import Rollouts
    from agent_envs.trainers.run import Result, train

__all__ = ["NothingToLearn", "Result", "Rollouts", "TrainConfig", "TrainingFailed", "train"]

_HOMES = {"NothingToLearn": "probe", "Result": "run", "Rollouts": "rollouts", "train": "run"}
"""What may need the extra `train`, and is imported when it is asked for."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return vars(import_module(f"{__name__}.{_HOMES[name]}"))[name]
    except ModuleNotFoundError as cause:
        raise MissingExtra(str(cause.name), extra="train") from cause


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
