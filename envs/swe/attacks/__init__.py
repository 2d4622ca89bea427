"""The attack suite of AgentRL/SWE: what is tried against the verifier, and what must not be taken for it."""

from __future__ import annotations

from agent_envs.envs.swe.attacks.attack import Attack, Honest
from agent_envs.envs.swe.attacks.catalogue import catalogue, honest
from agent_envs.envs.swe.attacks.target import TARGETS, target

__all__ = ["TARGETS", "Attack", "Honest", "catalogue", "honest", "target"]
