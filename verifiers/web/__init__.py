"""Verdicts on what an agent did on web sites: composable checks, written as data, judged from the record alone."""

from __future__ import annotations

from agent_envs.verifiers.web._check import Check
from agent_envs.verifiers.web._verifier import WebVerifier, checks_of

__all__ = ["Check", "WebVerifier", "checks_of"]
