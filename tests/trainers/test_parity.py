"""The same batch and the same weights: TRL's loss and gradient are ours. A step of .ci/run installs TRL for this."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from agent_envs.trainers import TrainConfig
from agent_envs.trainers.grpo import accumulate, samples_of
from agent_envs.trainers.policy import Policy

from agent_envs.sampling import Segment, Trajectory, tiny_model

pytest.importorskip("trl", reason="on purpose: TRL is installed for this file alone (pip install 'agent-envs[parity]')")
pytestmark = pytest.mark.filterwarnings("ignore")

PROMPT = [5, 6, 7]
COMPLETIONS = [[9, 8, 7, 6, 5], [30, 31], [40, 41, 42], [1, 2, 3, 4, 5, 6, 7, 8]]
REWARDS = [1.0, 0.0, 0.25, 0.7]
OLD_GAP = 0.35
"""How far the weights have moved since the tokens were drawn, so that ratios are clipped on both sides."""


def trl_gradient(folder: Path, **options: Any) -> tuple[float, torch.Tensor]:
    """TRL's `_compute_loss` on the batch, through its own trainer."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = tiny_model(seed=1)
    arguments = GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=16,
        report_to="none",
        use_cpu=True,
        bf16=False,
        disable_dropout=True,
        epsilon=0.2,
        epsilon_high=0.28,
        use_bias_correction_kl=False,
        **options,
    )
    data = Dataset.from_dict({"prompt": ["x"] * 4})
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=arguments,
        train_dataset=data,
        reward_funcs=lambda completions, **columns: [0.0] * len(completions),
    )
    trainer.current_gradient_accumulation_steps = 1
    width = max(map(len, COMPLETIONS))
    mask = torch.tensor([[1] * len(c) + [0] * (width - len(c)) for c in COMPLETIONS])
    rewards = torch.tensor(REWARDS)
    inputs = {
        "prompt_ids": torch.tensor([PROMPT] * 4),
        "prompt_mask": torch.ones(4, len(PROMPT), dtype=torch.long),
        "completion_ids": torch.tensor([c + [0] * (width - len(c)) for c in COMPLETIONS]),
        "completion_mask": mask,
        "advantages": (rewards - rewards.mean()) / (rewards.std() + 1e-4),
        "old_per_token_logps": old_logprobs(width),
        "num_items_in_batch": mask.sum(),
    }
    model.train()
    loss = trainer._compute_loss(model, inputs)
    loss.backward()
    return float(loss), torch.cat([p.grad.flatten() for p in model.parameters()])


def old_logprobs(width: int) -> torch.Tensor:
    """What the tokens had under other weights."""
    model, _ = tiny_model(seed=1)
    rows = []
    with torch.no_grad():
        for c in COMPLETIONS:
            logits = model(input_ids=torch.tensor([PROMPT + c])).logits[0, len(PROMPT) - 1 : -1]
            own = logits.log_softmax(-1)[range(len(c)), c]
            moved = own + OLD_GAP * torch.tensor([(-1.0) ** k for k in range(len(c))])
            rows.append(torch.cat([moved, torch.zeros(width - len(c))]))
    return torch.stack(rows)


def our_gradient(config: TrainConfig) -> tuple[float, torch.Tensor]:
    model, _ = tiny_model(seed=1)
    group = [
        Trajectory(
            group=0,
            member=member,
            segments=[Segment(tuple(PROMPT), fresh=True), Segment(tuple(c), (0.0,) * len(c), by_model=True)],
            rewards=[reward],
        )
        for member, (c, reward) in enumerate(zip(COMPLETIONS, REWARDS, strict=True))
    ]
    samples = samples_of([group], config)
    for sample, old in zip(samples, old_logprobs(max(map(len, COMPLETIONS))), strict=True):
        sample.old = old[: len(sample.at)]
    metrics = accumulate(Policy(model), samples, config, budget=30)
    return metrics["loss"], torch.cat([p.grad.flatten() for p in model.parameters()])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"loss": "grpo"}, {"loss_type": "grpo"}),
        ({"loss": "dr_grpo", "length": 16}, {"loss_type": "dr_grpo"}),
        ({"loss": "dapo"}, {"loss_type": "dapo"}),
        ({"loss": "gspo"}, {"loss_type": "grpo", "importance_sampling_level": "sequence"}),
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_loss_and_gradient_are_those_of_trl(ours: dict[str, Any], theirs: dict[str, Any], tmp_path: Path) -> None:
    their_loss, their_gradient = trl_gradient(tmp_path, **theirs)
    our_loss, gradient = our_gradient(TrainConfig(importance_cap=0.0, std_floor=0.0, **ours))
    assert abs(our_loss - their_loss) < 1e-5
    assert float(their_gradient.norm()) > 1e-3
    torch.testing.assert_close(gradient, their_gradient, atol=1e-5, rtol=1e-5)
