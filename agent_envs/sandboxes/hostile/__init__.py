"""The hostile suite: programs that attack a sandbox, and a runner that looks from outside at what came of it."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.catalogue import PROGRAMS
from agent_envs.sandboxes.hostile.program import LIMITS, HostileProgram, Mode
from agent_envs.sandboxes.hostile.suite import HostileResult, programs, run_suite

__all__ = ["LIMITS", "PROGRAMS", "HostileProgram", "HostileResult", "Mode", "programs", "run_suite"]
