"""A few episodes before the first step: a run that cannot learn anything should say so at once, not after a night."""

from __future__ import annotations

import warnings

from agent_envs.trainers.config import TrainConfig, TrainingFailed
from agent_envs.trainers.grpo import has_variance
from agent_envs.trainers.prompts import probe_jobs
from agent_envs.trainers.rollouts import Rollouts

UNREAD = ("malformed", "unknown_tool", "bad_arguments")
"""`info["error"]` of actions in which no call was found."""


class NothingToLearn(UserWarning):
    """The probe saw no difference that a trainer could learn from."""


def probe(rollouts: Rollouts, config: TrainConfig) -> None:
    """Play `probe_groups` groups; warns, or raises `TrainingFailed` where `config.probe` says so."""
    groups = rollouts.play(probe_jobs(config))
    if not groups:
        raise TrainingFailed(f"no episode could be played; the last fault: {rollouts.last_fault}")
    played = [t for group in groups.values() for t in group]
    errors = [error for t in played for error in t.errors]
    said = next(text for who, text in reversed(played[0].shown) if who == "model")
    trouble = ""
    if errors and all(error in UNREAD for error in errors):
        trouble = (
            f"none of {len(errors)} actions could be read as a tool call; choose a dialect that the model writes by"
            " itself (`fenced` for small ones), or say in `system` how to answer"
        )
    elif not any(has_variance([t.reward for t in group]) for group in groups.values()):
        trouble = (
            f"all episodes of a group earned the same ({played[0].reward:g}), in each of {len(groups)} groups; take"
            " easier tasks, larger groups, or a reward with more parts"
        )
    if trouble:
        trouble = f"{trouble}. The model said, for instance: {said[:200]!r}"
        if config.probe == "refuse":
            raise TrainingFailed(trouble)
        warnings.warn(trouble, NothingToLearn, stacklevel=2)
