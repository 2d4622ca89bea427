"""Which beginnings are played next: a shuffled round trip, or those that are solved about half of the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from agent_envs.trainers.config import TrainConfig
from agent_envs.trainers.rollouts import Job, Reset

from agent_envs.sampling.trajectory import Trajectory

EVAL_SEEDS = 1_000_000
"""Where the seeds of evaluations begin."""
_ASIDE = 1 << 40
"""Numbers of groups that are not trained on begin here."""


class Prompts:
    """The beginnings of training; `state` says all that it knows, so that a resumed run draws the same."""

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.starts: list[Reset] = [(0, task) for task in config.task_ids] or [(s, "") for s in range(config.prompts)]
        self.rates = [0.5] * len(self.starts)
        """How often each was solved lately; 0.5 where nobody knows."""
        self.drawn = 0
        self._prompt_of: dict[int, int] = {}

    def jobs(self, groups: int) -> list[Job]:
        """The episodes of the next groups."""
        jobs = []
        for group in range(self.drawn, self.drawn + groups):
            prompt = self._prompt_of[group] = self._choose(group)
            jobs += _group(group, self.starts[prompt], self.config.group_size, self.config.seed)
        self.drawn += groups
        return jobs

    def learn(self, groups: dict[int, list[Trajectory]]) -> None:
        """Note how often each beginning was solved."""
        for group, played in groups.items():
            prompt = self._prompt_of[group]
            share = sum(trajectory.solved for trajectory in played) / len(played)
            self.rates[prompt] += 0.5 * (share - self.rates[prompt])
        self._prompt_of.clear()

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"drawn": self.drawn, "rates": list(self.rates)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.drawn, self.rates = state["drawn"], list(state["rates"])

    def _choose(self, group: int) -> int:
        count = len(self.starts)
        if not self.config.curriculum:
            trip, place = divmod(group, count)
            return int(np.random.default_rng((self.config.seed, trip)).permutation(count)[place])
        # Solved half of the time teaches most; a tenth of the draws stays for all the others.
        worth = np.array([rate * (1.0 - rate) for rate in self.rates])
        share = 0.9 * worth / worth.sum() if worth.sum() > 0 else np.full(count, 0.9 / count)
        return int(np.random.default_rng((self.config.seed, group)).choice(count, p=share + 0.1 / count))


def eval_jobs(config: TrainConfig) -> list[Job]:
    """The episodes of an evaluation: the same beginnings and draws every time."""
    starts: list[Reset] = [(0, task) for task in config.eval_task_ids]
    starts = starts or [(EVAL_SEEDS + number, "") for number in range(config.eval_prompts)]
    return _aside(starts, config.eval_samples, config.seed)


def probe_jobs(config: TrainConfig) -> list[Job]:
    """The episodes that are played before the first step, to see whether there is anything to learn from."""
    return _aside(Prompts(config).starts[: config.probe_groups], config.group_size, config.seed)


def _aside(starts: list[Reset], size: int, seed: int) -> list[Job]:
    return [job for number, start in enumerate(starts) for job in _group(_ASIDE + number, start, size, seed)]


def _group(group: int, start: Reset, size: int, seed: int) -> list[Job]:
    return [Job(group, member, start, draws=hash((seed, group, member))) for member in range(size)]
