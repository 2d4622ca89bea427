"""Environments with a real browser: sites of our own, and MiniWoB++."""

from __future__ import annotations

from agent_envs.envs.web.env import WebEnv
from agent_envs.envs.web.miniwob import MiniWobEnv

__all__ = ["MiniWobEnv", "WebEnv"]
