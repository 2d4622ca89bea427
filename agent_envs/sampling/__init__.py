"""Sampling with ids and log-probabilities: from a model in this process, or from an inference server.

What trains or searches needs to know exactly which ids were drawn and how likely they were; texts do not say it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent_envs.errors import MissingExtra
from agent_envs.sampling.chat import ChatFormat
from agent_envs.sampling.protocol import Completion, Request, Sampler
from agent_envs.sampling.server import ServerSampler
from agent_envs.sampling.trajectory import Row, Segment, Trajectory, read_trajectories, write_trajectories

if TYPE_CHECKING:
    from agent_envs.sampling.local import LocalSampler
    from agent_envs.sampling.models import load_model, load_tokenizer, stop_ids, tiny_model

__all__ = [
    "ChatFormat",
    "Completion",
    "LocalSampler",
    "Request",
    "Row",
    "Sampler",
    "Segment",
    "ServerSampler",
    "Trajectory",
    "load_model",
    "load_tokenizer",
    "read_trajectories",
    "stop_ids",
    "tiny_model",
    "write_trajectories",
]

_HOMES = {
    "LocalSampler": "agent_envs.sampling.local",
    "load_model": "agent_envs.sampling.models",
    "load_tokenizer": "agent_envs.sampling.models",
    "stop_ids": "agent_envs.sampling.models",
    "tiny_model": "agent_envs.sampling.models",
}
"""What needs the extra `train`, and is imported when it is asked for."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return vars(import_module(_HOMES[name]))[name]
    except ModuleNotFoundError as cause:
        raise MissingExtra(str(cause.name), extra="train") from cause


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
