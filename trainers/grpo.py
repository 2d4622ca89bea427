"""Group-relative policy optimization, from rewards to one optimizer step.

One decision: every trained token gets its weight in the loss before anything is split, from the counts of the whole
optimizer step. The loss is a plain weighted sum, so the gradient is the same however the step is cut into pieces.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from agent_envs.trainers.config import TrainConfig
from agent_envs.trainers.policy import Policy

from agent_envs.sampling.trajectory import Row, Trajectory

Group = Sequence[Trajectory]
EPSILON = 1e-4
"""Added to the standard deviation, as in TRL."""


@dataclass(slots=True, kw_only=True)
class Sample:
    """One context with what its trained tokens count for; every tensor has one element per trained token."""

    ids: torch.Tensor
    at: torch.Tensor
    """Where in `ids` the trained tokens are."""
    advantages: torch.Tensor
    weights: torch.Tensor
    sampled: torch.Tensor
    """Log-probabilities under the weights that sampled."""
    old: torch.Tensor | None = None
    """Log-probabilities under the weights before the first step on this batch; None until that step was made."""
    reference: torch.Tensor | None = None


# --- Advantages -----------------------------------------------------------------------------------------------------


def has_variance(rewards: Sequence[float]) -> bool:
    """Whether rewards differ by more than rounding: by the range of the whole group, which rounding cannot inflate."""
    return max(rewards) - min(rewards) > 1e-6 * max(1.0, abs(max(rewards)), abs(min(rewards)))


def standardized(
    rewards: Sequence[float], *, std: float | None = None, ddof: int = 1, std_floor: float = 1e-3
) -> list[float]:
    """`(r - mean) / (max(std, std_floor) + 1e-4)`; zeros where nothing differs.

    The standard deviation divides by n - ddof, as torch and TRL do with ddof 1. `std` replaces that of these rewards.
    """
    values = np.asarray(rewards, dtype=np.float64)
    if len(values) < 2 or not has_variance(rewards):
        return [0.0] * len(values)
    spread = float(values.std(ddof=ddof)) if std is None else std
    return [float(v) for v in (values - values.mean()) / (max(spread, std_floor) + EPSILON)]


def advantages(groups: Sequence[Group], config: TrainConfig) -> list[list[list[float]]]:
    """For each group, episode and turn: how much better than its group it went."""
    std: float | None = None
    if config.advantage_scale == "none":
        std = 1.0 - EPSILON
    elif config.advantage_scale == "batch":
        std = float(np.std([t.reward for group in groups for t in group], ddof=config.advantage_ddof))
    found = []
    for group in groups:
        rewards = [t.reward for t in group]
        whole = standardized(rewards, std=std, ddof=config.advantage_ddof, std_floor=config.std_floor)
        turns = [[advantage] * len(t.rewards) for t, advantage in zip(group, whole, strict=True)]
        if config.turn_credit:
            _add_turn_credit(turns, group, config)
        found.append(turns)
    return found


def _add_turn_credit(turns: list[list[float]], group: Group, config: TrainConfig) -> None:
    """GiGPO: turns of a group that began in the same state are compared by what they were still paid."""
    places: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    for member, trajectory in enumerate(group):
        rest = 0.0
        for turn in reversed(range(len(trajectory.rewards))):
            rest = trajectory.rewards[turn] + config.turn_discount * rest
            if state := trajectory.state_hashes[turn]:
                places[state].append((member, turn, rest))
    for same in places.values():
        better = standardized([rest for _, _, rest in same], ddof=config.advantage_ddof, std_floor=config.std_floor)
        for (member, turn, _), advantage in zip(same, better, strict=True):
            turns[member][turn] += config.turn_credit * advantage


def samples_of(groups: Sequence[Group], config: TrainConfig) -> list[Sample]:
    """Everything that one optimizer step learns from; groups without variance and masked episodes are left out."""
    kept: list[tuple[Trajectory, list[float]]] = []
    for group, turns in zip(groups, advantages(groups, config), strict=True):
        if any(value for member in turns for value in member):
            kept += [pair for pair in zip(group, turns, strict=True) if _teaches(pair[0], config)]
    tokens = sum(trajectory.trained for trajectory, _ in kept)
    return [
        _sample(row, turns, _weight(trajectory.trained, len(kept), tokens, config))
        for trajectory, turns in kept
        for row in trajectory.rows()
    ]


def _teaches(trajectory: Trajectory, config: TrainConfig) -> bool:
    return trajectory.reward_valid and trajectory.trained > 0 and not (config.mask_truncated and trajectory.truncated)


def _weight(own: int, episodes: int, tokens: int, config: TrainConfig) -> float:
    """What one token counts for: the denominators of the losses, over the whole optimizer step."""
    match config.loss:
        case "grpo" | "gspo":
            return 1.0 / (episodes * own)
        case "dr_grpo":
            return 1.0 / (episodes * config.constant_length)
        case _:
            return 1.0 / tokens


def _sample(row: Row, turns: list[float], weight: float) -> Sample:
    at = [place for place, turn in enumerate(row.turns) if turn >= 0]
    return Sample(
        ids=torch.tensor(row.ids),
        at=torch.tensor(at),
        advantages=torch.tensor([turns[row.turns[place]] for place in at]),
        weights=torch.full((len(at),), weight),
        sampled=torch.tensor([row.logprobs[place] for place in at]),
    )


# --- The loss and the step ------------------------------------------------------------------------------------------


def token_losses(
    logprobs: torch.Tensor, batch: Sample, config: TrainConfig, *, lengths: Sequence[int] = ()
) -> torch.Tensor:
    """The policy's part of the loss, per token, before weights; `lengths` cuts the tokens into rows for `gspo`."""
    assert batch.old is not None
    if config.loss == "reinforce":
        losses = -batch.advantages * logprobs
    else:
        log_ratio = logprobs - batch.old
        if config.loss == "gspo":
            means = [row.mean().expand(len(row)) for row in log_ratio.split(list(lengths or [len(log_ratio)]))]
            log_ratio = torch.cat(means)
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1.0 - config.clip_low, 1.0 + config.clip_high)
        losses = -torch.min(ratio * batch.advantages, clipped * batch.advantages)
    if config.importance_cap:
        # The sampler is not quite the policy (other precision, older weights); never trust it more than cap times.
        losses = losses * (batch.old - batch.sampled).exp().clamp(max=config.importance_cap)
    if config.kl and batch.reference is not None:
        losses = losses + config.kl * kl_estimate(logprobs, batch.reference, config.kl_estimator)
    return losses


def kl_estimate(logprobs: torch.Tensor, reference: torch.Tensor, estimator: str) -> torch.Tensor:
    """Schulman's estimators of the divergence from the reference, per token."""
    gap = reference - logprobs
    return {"k1": lambda: -gap, "k2": lambda: 0.5 * gap**2, "k3": lambda: gap.exp() - gap - 1.0}[estimator]()


def joined(samples: Sequence[Sample]) -> Sample:
    """The tokens of several contexts as one; `ids` and `at` stay behind."""

    names = ("advantages", "weights", "sampled", "old", "reference")
    parts = {name: [getattr(sample, name) for sample in samples] for name in names}
    tokens = {name: None if part[0] is None else torch.cat(part) for name, part in parts.items()}
    return Sample(ids=torch.tensor([]), at=torch.tensor([]), **tokens)


def micro_batches(samples: Sequence[Sample], budget: int) -> Iterator[list[Sample]]:
    """Contexts of like length together, at most `budget` ids with their padding (or one context) at a time."""
    piece: list[Sample] = []
    for sample in sorted(samples, key=lambda sample: -len(sample.ids)):
        if piece and (len(piece) + 1) * len(piece[0].ids) > budget:
            yield piece
            piece = []
        piece.append(sample)
    if piece:
        yield piece


def accumulate(
    policy: Policy, samples: Sequence[Sample], config: TrainConfig, *, budget: int, reference: Policy | None = None
) -> dict[str, float]:
    """Add the gradient of the whole step to the parameters, piece by piece; returns what to report."""
    sums: dict[str, float] = defaultdict(float)
    for piece in micro_batches(samples, budget):
        logprobs, entropy = policy.logprobs(piece, config.temperature, entropy=config.entropy_bonus > 0.0)
        lengths = [len(sample.at) for sample in piece]
        if piece[0].old is None:
            for sample, old in zip(piece, logprobs.detach().split(lengths), strict=True):
                sample.old = old
        if config.kl and reference is not None and piece[0].reference is None:
            with torch.no_grad(), reference.as_reference():
                known, _ = reference.logprobs(piece, config.temperature)
            for sample, one in zip(piece, known.split(lengths), strict=True):
                sample.reference = one
        batch = joined(piece)
        loss = (token_losses(logprobs, batch, config, lengths=lengths) * batch.weights).sum()
        if entropy is not None:
            loss = loss - config.entropy_bonus * (entropy * batch.weights).sum()
        loss.backward()
        for name, value in _observed(loss.detach(), logprobs.detach(), batch, config):
            sums[name] += float(value)
    tokens = max(1.0, sums.pop("tokens"))
    return {name: value if name == "loss" else value / tokens for name, value in sums.items()} | {"tokens": tokens}


def _observed(loss: Any, logprobs: Any, batch: Sample, config: TrainConfig) -> Iterator[tuple[str, Any]]:
    """Sums over tokens."""
    ratio = (logprobs - batch.old).exp()
    high, low = ratio > 1.0 + config.clip_high, ratio < 1.0 - config.clip_low
    yield "loss", loss
    yield "tokens", len(logprobs)
    yield "entropy", -logprobs.sum()
    yield "clipped", ((high & (batch.advantages > 0)) | (low & (batch.advantages < 0))).sum()
    yield "sampler_gap", (batch.sampled - batch.old).abs().sum()
    if batch.reference is not None:
        yield "kl", kl_estimate(logprobs, batch.reference, "k3").sum()


def step(optimizer: torch.optim.Optimizer, *, max_grad_norm: float) -> float:
    """Clip the gradient and move the weights; returns the gradient's norm. A norm that is no number moves nothing."""
    parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    norm = float(torch.nn.utils.clip_grad_norm_(parameters, max_grad_norm or math.inf))
    if math.isfinite(norm):
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm


def pass_at_k(groups: Mapping[int, Group], k: int) -> float:
    """The unbiased estimate of solving a task within k tries, averaged over tasks."""
    rates = [1.0 - math.comb(len(g) - sum(t.solved for t in g), k) / math.comb(len(g), k) for g in groups.values()]
    return float(np.mean(rates)) if rates else math.nan
