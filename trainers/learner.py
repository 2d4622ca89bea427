"""The weights that are trained, and one step of them: float32, whatever is computed in."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from agent_envs.trainers import grpo
from agent_envs.trainers.config import TrainConfig, TrainingFailed
from agent_envs.trainers.policy import Policy
from agent_envs.trainers.report import Metrics

_MOST_NAN = 3
"""Steps in a row without a finite gradient, after which something is wrong."""


class Learner:
    """A model, its optimizer, and the step that both take on a batch of groups."""

    def __init__(self, model: Any, config: TrainConfig) -> None:
        self.config = config
        self.bf16 = config.bf16 == "on" or (config.bf16 == "auto" and _has_bf16(next(model.parameters()).device))
        torch.manual_seed(config.seed)
        self.model = self._adapted(model) if config.lora_rank else model.float()
        self.policy = Policy(self.model, autocast=self.bf16)
        self.reference: Policy | None = None
        if config.kl:
            kept = self.model if config.lora_rank else copy.deepcopy(self.model).requires_grad_(requires_grad=False)
            self.reference = Policy(kept, autocast=self.bf16)
        self.trained = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        self.optimizer = torch.optim.AdamW(
            self.trained.values(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.version = 0
        """Batches learned from."""
        self._nan = 0

    def learn(self, groups: Sequence[grpo.Group]) -> Metrics:
        """Take `updates_per_batch` optimizer steps; a batch that teaches nothing moves nothing."""
        config = self.config
        samples = grpo.samples_of(groups, config)
        self.version += 1
        if not samples:
            return {"idle": 1.0}
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * min(1.0, self.version / max(1, config.warmup))
        self.model.train()
        metrics: Metrics = {}
        for _ in range(config.updates_per_batch):
            metrics = grpo.accumulate(
                self.policy, samples, config, budget=config.token_budget, reference=self.reference
            )
            metrics["grad_norm"] = norm = grpo.step(self.optimizer, max_grad_norm=config.max_grad_norm)
            self._count_nan(norm, metrics["loss"])
        if not math.isfinite(norm):
            # JSON has no word for a number that is none.
            return {"nan": 1.0}
        return metrics

    def save(self, folder: Path, tokenizer: Any) -> None:
        """The trained model (or its adapter), as transformers and PEFT load it."""
        self.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    def restore(self, weights: dict[str, Any], optimizer: dict[str, Any], version: int) -> None:
        """Go on from a checkpoint."""
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(weights[name])
        self.optimizer.load_state_dict(optimizer)
        self.version = version

    def _adapted(self, model: Any) -> Any:
        from peft import LoraConfig, get_peft_model

        adapters = LoraConfig(
            r=self.config.lora_rank,
            lora_alpha=self.config.lora_alpha,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        with warnings.catch_warnings():
            # PEFT asks transformers for an attribute that has a new name.
            warnings.simplefilter("ignore", FutureWarning)
            adapted = get_peft_model(model.to(torch.bfloat16 if self.bf16 else torch.float32), adapters)
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()
        return adapted

    def _count_nan(self, norm: float, loss: float) -> None:
        self._nan = 0 if math.isfinite(norm) else self._nan + 1
        if self._nan >= _MOST_NAN:
            raise TrainingFailed(
                f"{self._nan} steps in a row had no finite gradient (the last loss is {loss}); lower learning_rate, or"
                " set bf16 to 'off'"
            )


def _has_bf16(device: Any) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    flags = Path("/proc/cpuinfo")
    # Where the processor has no instruction for it, bfloat16 is slower than float32.
    return flags.exists() and not {"amx_bf16", "avx512_bf16"}.isdisjoint(flags.read_text(encoding="utf-8").split())
