"""Verifiers judge what an agent left behind, from data alone, in a clean place that the agent never touched."""

from __future__ import annotations

from agent_envs.verifiers.answers import NumberAnswer, TextAnswer
from agent_envs.verifiers.math_answer import MathAnswer
from agent_envs.verifiers.programs import ProgramVerifier
from agent_envs.verifiers.protocol import ByKind, Verifier, verify_safely
from agent_envs.verifiers.proxy import ProxyVerifier
from agent_envs.verifiers.reasoning_gym import ReasoningGymAnswer

from agent_envs.artifact import Artifact, Outcome, Verdict

__all__ = [
    "Artifact",
    "ByKind",
    "MathAnswer",
    "NumberAnswer",
    "Outcome",
    "ProgramVerifier",
    "ProxyVerifier",
    "ReasoningGymAnswer",
    "TextAnswer",
    "Verdict",
    "Verifier",
    "verify_safely",
]
