"""Gymnasium environments for LLM agents: real tools, fast sandboxes, verdicts that cannot be forged.

Importing the package registers its environments, so that `gymnasium.make("agent_envs:AgentRL/PythonSandbox-v0")`
works with no other import. Everything else is imported when it is first asked for: registering must cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent_envs._version import __version__
from agent_envs.registration import register_environments

if TYPE_CHECKING:
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

_HOMES = {
    "agent_envs.artifact": (
        "Artifact",
        "Outcome",
        "Verdict",
    ),
    "agent_envs.dialects": ("get_dialect",),
    "agent_envs.env": ("AgentEnv",),
    "agent_envs.episode": (
        "Episode",
        "Turn",
        "read_episodes",
    ),
    "agent_envs.errors": (
        "AgentEnvsError",
        "ConfigError",
        "END_POLICY",
        "EndReason",
        "InfraError",
        "ResetNeeded",
        "SandboxUnavailable",
        "TaskError",
        "ToolFailed",
        "UnknownTask",
    ),
    "agent_envs.options": ("Options",),
    "agent_envs.rewards": ("RewardSpec",),
    "agent_envs.session": (
        "AnswerSession",
        "Session",
    ),
    "agent_envs.spaces": (
        "ToolCallSpace",
        "UnicodeText",
    ),
    "agent_envs.tasks": (
        "GeneratedTaskSet",
        "Task",
        "TaskSet",
    ),
    "agent_envs.tools": (
        "Tool",
        "ToolCall",
        "ToolResult",
        "Toolbox",
        "tool",
    ),
}
"""Where the public names live; the imports above tell a type checker the same, and a test compares the two."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'agent_envs' has no attribute {name!r}")
    value = vars(import_module(_HOME_OF[name]))[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_environments()
