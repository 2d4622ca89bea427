"""For everyone who writes an environment: the conformance check, and small real parts to test with.

`check_agent_env` turns each promise of the contract into a check whose message names the likely mistake.
"""

from __future__ import annotations

from agent_envs.testing.conformance import ContractBroken, check_agent_env
from agent_envs.testing.echo import EchoEnv, EchoSession, FixedVerifier, ManualClock

__all__ = ["ContractBroken", "EchoEnv", "EchoSession", "FixedVerifier", "ManualClock", "check_agent_env"]
