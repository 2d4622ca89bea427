"""Checkpoints: written aside and renamed, so that the newest one is always whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from agent_envs.trainers.config import TrainingFailed
from safetensors.torch import load_file, save_file

from agent_envs.errors import ConfigError
from agent_envs.sampling.trajectory import Trajectory, read_trajectories, write_trajectories

_KEPT = 2
"""Older checkpoints are removed."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything that a run needs to go on as if nothing had happened."""

    state: dict[str, Any]
    """Numbers: the step, the cursor of the prompts, and the batches that were sampled and not trained on yet."""
    weights: dict[str, Any]
    """The trained ones."""
    optimizer: dict[str, Any]
    rng: torch.Tensor
    buffer: Sequence[Trajectory] = ()


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint into a run's folder; raises `TrainingFailed` where it cannot be, with the older ones whole."""
    final = folder / f"checkpoint-{checkpoint.state['step']:06d}"
    aside = folder / f".{final.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.weights.items()}
        save_file(weights, aside / "weights.safetensors")
        torch.save({"optimizer": checkpoint.optimizer, "rng": checkpoint.rng}, aside / "optimizer.pt")
        write_trajectories(aside / "buffer.jsonl", checkpoint.buffer)
        (aside / "state.json").write_text(json.dumps(checkpoint.state), encoding="utf-8")
        shutil.rmtree(final, ignore_errors=True)
        aside.rename(final)
    except (OSError, RuntimeError) as cause:
        shutil.rmtree(aside, ignore_errors=True)
        last = newest(folder)
        left = f"the last one is {last}; make room and run again with resume" if last else "there is no older one"
        raise TrainingFailed(f"the checkpoint {final} could not be written ({cause}); {left}") from cause
    for old in _all(folder)[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read the newest checkpoint of a run."""
    path = newest(folder)
    if path is None:
        raise ConfigError(f"there is no checkpoint in {folder}, so there is nothing to resume")
    kept = torch.load(path / "optimizer.pt", weights_only=True)
    buffer = list(read_trajectories(path / "buffer.jsonl")) if (path / "buffer.jsonl").exists() else []
    state = json.loads((path / "state.json").read_text(encoding="utf-8"))
    return Checkpoint(state, load_file(path / "weights.safetensors"), kept["optimizer"], kept["rng"], buffer)


def newest(folder: Path) -> Path | None:
    """The newest whole checkpoint of a run; None where there is none."""
    return next(reversed(_all(folder)), None)


def _all(folder: Path) -> list[Path]:
    return sorted(folder.glob("checkpoint-[0-9]*"))
