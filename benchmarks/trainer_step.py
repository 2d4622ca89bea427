"""One optimizer step, ours or TRL's, in a process of its own: seconds and peak memory as one line of JSON.

The same weights, ids, rewards, optimizer and threads; both compute in bfloat16 where that is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

from agent_envs.sampling import Segment, Trajectory, load_model

ROWS, PROMPT, COMPLETION = 8, 64, 64


def batch(vocabulary: int) -> tuple[list[list[int]], list[list[int]], list[float]]:
    """Prompts, completions of unlike lengths, and rewards."""
    draw = torch.Generator().manual_seed(0)
    prompt = torch.randint(3, vocabulary, (PROMPT,), generator=draw).tolist()
    said = [torch.randint(3, vocabulary, (COMPLETION - 4 * k,), generator=draw).tolist() for k in range(ROWS)]
    return [prompt] * ROWS, said, [float(k % 2) for k in range(ROWS)]


def ours(model: Any, *, bf16: bool) -> Callable[[], object]:
    from agent_envs.trainers import TrainConfig
    from agent_envs.trainers.learner import Learner

    prompts, said, rewards = batch(model.config.vocab_size)
    group = [
        Trajectory(
            group=0,
            member=k,
            segments=[Segment(tuple(p), fresh=True), Segment(tuple(c), (-5.0,) * len(c), by_model=True)],
            rewards=[r],
        )
        for k, (p, c, r) in enumerate(zip(prompts, said, rewards, strict=True))
    ]
    config = TrainConfig(lora_rank=0, bf16="on" if bf16 else "off", importance_cap=0.0, warmup=0)
    learner = Learner(model, config)
    return lambda: learner.learn([group])


def trl(model: Any, tokenizer: Any, *, bf16: bool, checkpointing: bool) -> Callable[[], object]:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    arguments = GRPOConfig(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=ROWS,
        num_generations=ROWS,
        max_completion_length=COMPLETION,
        report_to="none",
        use_cpu=True,
        bf16=bf16,
        gradient_checkpointing=checkpointing,
    )
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": ["x"] * ROWS}),
        reward_funcs=lambda completions, **columns: [0.0] * len(completions),
    )
    trainer.current_gradient_accumulation_steps = 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.0)
    prompts, said, rewards = batch(model.config.vocab_size)
    values = torch.tensor(rewards)
    mask = torch.tensor([[1] * len(c) + [0] * (COMPLETION - len(c)) for c in said])
    inputs = {
        "prompt_ids": torch.tensor(prompts),
        "prompt_mask": torch.ones(ROWS, PROMPT, dtype=torch.long),
        "completion_ids": torch.tensor([c + [0] * (COMPLETION - len(c)) for c in said]),
        "completion_mask": mask,
        "advantages": (values - values.mean()) / (values.std() + 1e-4),
        "num_items_in_batch": mask.sum(),
    }

    def step() -> None:
        model.train()
        with trainer.compute_loss_context_manager():
            loss = trainer._compute_loss(model, inputs)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("who", choices=("ours", "trl", "trl-checkpointing"))
    options.add_argument("--model", default="smollm2")
    options.add_argument("--bf16", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    model, tokenizer = load_model(chosen.model)
    checkpointing = chosen.who == "trl-checkpointing"
    if chosen.who == "ours":
        once = ours(model, bf16=chosen.bf16)
    else:
        once = trl(model, tokenizer, bf16=chosen.bf16, checkpointing=checkpointing)
    once()
    taken = []
    for _ in range(chosen.rounds):
        began = time.perf_counter()
        once()
        taken.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": statistics.median(taken), "peak_mb": peak}))


if __name__ == "__main__":
    main()
