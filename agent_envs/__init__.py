"""Gymnasium environments for LLM agents: real tools, fast sandboxes, verdicts that cannot be forged.

Importing the package registers its environments, so that `gymnasium.make("agent_envs:AgentRL/PythonSandbox-v0")`
works with no other import.
"""

from __future__ import annotations

from agent_envs._version import __version__
from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.dialects import get_dialect
from agent_envs.env import AgentEnv
from agent_envs.episode import Episode, Turn, read_episodes
from agent_envs.errors import (
    END_POLICY,
    AgentEnvsError,
    ConfigError,
    EndReason,
    InfraError,
    ResetNeeded,
    SandboxUnavailable,
    TaskError,
    ToolFailed,
    UnknownTask,
)
from agent_envs.options import Options
from agent_envs.registration import register_environments
from agent_envs.rewards import RewardSpec
from agent_envs.session import AnswerSession, Session
from agent_envs.spaces import ToolCallSpace, UnicodeText
from agent_envs.tasks import GeneratedTaskSet, Task, TaskSet
from agent_envs.tools import Tool, Toolbox, ToolCall, ToolResult, tool

__all__ = [
    "END_POLICY",
    "AgentEnv",
    "AgentEnvsError",
    "AnswerSession",
    "Artifact",
    "ConfigError",
    "EndReason",
    "Episode",
    "GeneratedTaskSet",
    "InfraError",
    "Options",
    "Outcome",
    "ResetNeeded",
    "RewardSpec",
    "SandboxUnavailable",
    "Session",
    "Task",
    "TaskError",
    "TaskSet",
    "Tool",
    "ToolCall",
    "ToolCallSpace",
    "ToolFailed",
    "ToolResult",
    "Toolbox",
    "Turn",
    "UnicodeText",
    "UnknownTask",
    "Verdict",
    "__version__",
    "get_dialect",
    "read_episodes",
    "register_environments",
    "tool",
]

register_environments()
