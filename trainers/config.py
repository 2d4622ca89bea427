"""Every option of a training run: one spelling for Python, TOML and the command line."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_envs.errors import AgentEnvsError, ConfigError


class TrainingFailed(AgentEnvsError, RuntimeError):
    """Training cannot go on; the last checkpoint is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """How a model is trained; `agent-envs train --options` prints this list."""

    steps: int = 100
    """Optimizer steps (batches, where `updates_per_batch` is more than 1)."""
    seed: int = 0
    """Decides the order of prompts, every draw of the model, and new weights."""

    groups: int = 8
    """Groups of episodes per step; the episodes of a group begin alike."""
    group_size: int = 8
    """Episodes per group."""
    prompts: int = 64
    """How many different beginnings to train on: `reset(seed=0)`, `reset(seed=1)` and so on."""
    task_ids: tuple[str, ...] = ()
    """Tasks to train on, by `reset(options={"task_id": ...})`, in place of `prompts` seeds."""
    eval_prompts: int = 16
    """Beginnings to evaluate on, from seed 1,000,000 on; 0 evaluates nothing."""
    eval_task_ids: tuple[str, ...] = ()
    """Tasks to evaluate on, in place of `eval_prompts` seeds."""
    eval_samples: int = 4
    """Episodes per beginning in an evaluation."""
    eval_every: int = 10
    """Steps between evaluations; there is always one before the first step and one after the last."""
    eval_temperature: float = -1.0
    """Temperature in evaluations; 0 takes the likeliest token, negative means that of training."""
    dynamic_rounds: int = 1
    """Further rounds of sampling that replace groups without variance; 0 trains on what the first one gives."""
    curriculum: bool = False
    """Prefer prompts that are solved about half of the time; the others stay possible."""

    system: str = ""
    """The system message; empty leaves it to the chat template."""
    temperature: float = 1.0
    """Of sampling, and of the log-probabilities that are trained. There is no top-p or top-k: they bias the ratio."""
    max_new_tokens: int = 256
    """The most tokens of one turn."""
    max_turns: int = 8
    """The most turns of one episode."""
    context: int = 0
    """The most tokens of prompt, episode and next turn together; 0 is what the model allows."""
    seats: int = 64
    """The most environments at once."""
    turn_seconds: float = 120.0
    """The longest answer of an environment; after that it is left behind."""
    episode_seconds: float = 1200.0
    """The longest episode."""
    retries: int = 2
    """New environments for an episode whose environment broke; after that its group is dropped."""
    success_reward: float = 1.0
    """What an episode must earn to count as solved, in environments whose `info` has no `outcome`."""
    overlap: int = 0
    """How many steps old the sampling weights may be: 0 samples and learns by turns, 1 or more at the same time."""

    loss: Literal["grpo", "dr_grpo", "dapo", "gspo", "reinforce"] = "dapo"
    """`grpo`: mean over episodes of the mean over tokens; `dr_grpo`: a constant length; `dapo`: mean over all tokens;
    `gspo`: ratios of whole contexts, averaged as in `grpo`; `reinforce`: no ratio, averaged as in `dapo`."""
    clip_low: float = 0.2
    """How far the ratio may fall before the gradient stops."""
    clip_high: float = 0.28
    """How far it may rise."""
    advantage_scale: Literal["group", "batch", "none"] = "group"
    """Whose standard deviation divides rewards: their group's, the whole batch's, or nobody's."""
    advantage_ddof: int = 1
    """The standard deviation divides by n - ddof."""
    std_floor: float = 1e-3
    """The least standard deviation."""
    turn_credit: float = 0.0
    """Weight of GiGPO's comparison of turns that began in the same `info["state_hash"]`."""
    turn_discount: float = 0.95
    """Of later rewards, in that comparison."""
    mask_truncated: bool = False
    """Whether episodes that a budget ended teach nothing (their rewards still count for their group)."""
    length: int = 0
    """The constant length of `dr_grpo`; 0 is `max_new_tokens * max_turns`."""
    kl: float = 0.0
    """Weight of the divergence from the model before training; at 0 no reference model is kept."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    """Schulman's estimators."""
    entropy_bonus: float = 0.0
    """Weight of the entropy at trained tokens."""
    importance_cap: float = 2.0
    """The most by which a token counts more because the learner likes it better than the sampler did; 0: never more."""

    learning_rate: float = 1e-5
    """Of AdamW, after the warm-up."""
    warmup: int = 5
    """Steps over which the learning rate rises."""
    weight_decay: float = 0.0
    """Of AdamW."""
    max_grad_norm: float = 1.0
    """Longer gradients are shortened; 0 leaves them."""
    updates_per_batch: int = 1
    """Optimizer steps on each batch."""
    token_budget: int = 8192
    """Tokens, with padding, of one forward pass of the learner; changes speed and memory, never the gradient."""
    lora_rank: int = 16
    """Rank of the adapters; 0 trains every weight."""
    lora_alpha: int = 32
    """Their scale."""
    bf16: Literal["auto", "on", "off"] = "auto"
    """Compute in bfloat16; trained weights are always kept in float32. `auto`: where the processor has it."""

    probe: Literal["warn", "refuse", "off"] = "warn"
    """What to do at the start where nothing parses, or no group has variance."""
    probe_groups: int = 2
    """Groups played to find that out."""
    checkpoint_every: int = 25
    """Steps between checkpoints; there is always one at the end."""
    trackers: tuple[Literal["tensorboard", "trackio", "wandb"], ...] = ()
    """Where metrics go besides `metrics.jsonl`."""

    def __post_init__(self) -> None:
        for name in ("steps", "groups", "prompts", "max_new_tokens", "max_turns", "seats", "updates_per_batch"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("group_size", self.group_size >= 2, "at least 2: rewards are compared within a group")
        self._require("temperature", self.temperature > 0, "a positive number: a greedy policy explores nothing")
        self._require("clip_low", 0 <= self.clip_low < 1, "from 0 to below 1")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise ConfigError(f"the option {name} is {getattr(self, name)!r}; expected {expected}")

    @property
    def constant_length(self) -> int:
        """By what `dr_grpo` divides."""
        return self.length or self.max_new_tokens * self.max_turns

    @classmethod
    def of(cls, options: dict[str, Any]) -> TrainConfig:
        """Check options that came from outside; raises `ConfigError` naming the one that is wrong."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise ConfigError(f"unknown training option {name!r}; the options are: {', '.join(known)}")
        try:
            return msgspec.convert(options, cls)
        except msgspec.ValidationError as cause:
            if isinstance(cause.__cause__, ConfigError):
                raise cause.__cause__ from None
            raise ConfigError(f"a training option has the wrong type: {cause}") from cause

    @classmethod
    def from_toml(cls, path: str | Path, **changes: Any) -> TrainConfig:
        """The options of a TOML file, and `changes` to them."""
        try:
            options = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as cause:
            raise ConfigError(f"the configuration {path} cannot be read: {cause}") from cause
        return cls.of(options | changes)
