"""AgentRL/PythonSandbox: the agent runs Python through tools and submits an answer or a program."""

from __future__ import annotations

from agent_envs.envs.python_sandbox.env import PythonSandboxEnv
from agent_envs.envs.python_sandbox.session import ProgramSession, PythonSandboxSession

__all__ = ["ProgramSession", "PythonSandboxEnv", "PythonSandboxSession"]
