"""How behaviour becomes a number: seven named parts, each switched on by its own field, summed and never mixed.

The default is the verifier's score alone. Every number of a `RewardSpec` is plain JSON, so that a run names its reward.
"""

from __future__ import annotations

from agent_envs.rewards._account import PARTS, RewardAccount, RewardParts, add, no_reward, total
from agent_envs.rewards._scorers import CleanStep, Progress, Step, StepScorer, register_scorer
from agent_envs.rewards._spec import PRESETS, RewardSpec

__all__ = [
    "PARTS",
    "PRESETS",
    "CleanStep",
    "Progress",
    "RewardAccount",
    "RewardParts",
    "RewardSpec",
    "Step",
    "StepScorer",
    "add",
    "no_reward",
    "register_scorer",
    "total",
]
