"""Tools: typed Python functions that an agent may call, and the calls it makes.

One decision: the signature is the only source. Schema, validation and the error the agent reads all follow from it.
"""

from __future__ import annotations

from agent_envs.tools._arguments import JSON
from agent_envs.tools._calls import Action, BadArguments, ToolCall, ToolResult
from agent_envs.tools._toolbox import Tool, Toolbox, tool

__all__ = ["JSON", "Action", "BadArguments", "Tool", "ToolCall", "ToolResult", "Toolbox", "tool"]
