"""Where tools act: a place that runs code nobody trusts.

The protocol is the same for every backend. A `Sandbox` belongs to one episode and is never used again. What the
guest does wrong is a `Status`; only what breaks on our side raises (`InfraError`).
"""

from __future__ import annotations

from agent_envs.sandboxes.protocol import (
    Channel,
    Limits,
    PythonSession,
    RunResult,
    Sandbox,
    SessionState,
    Shell,
    Status,
)

__all__ = ["Channel", "Limits", "PythonSession", "RunResult", "Sandbox", "SessionState", "Shell", "Status"]
