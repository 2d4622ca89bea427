"""AgentRL/SWE: the agent repairs a real repository in a container; hidden tests judge the tree it leaves."""

from __future__ import annotations

from agent_envs.envs.swe.env import SweEnv
from agent_envs.envs.swe.session import SweSession

__all__ = ["SweEnv", "SweSession"]
