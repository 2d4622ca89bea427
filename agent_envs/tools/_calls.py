"""One action and its result as plain values, in our form and in the OpenAI chat API's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agent_envs.errors import AgentEnvsError
from agent_envs.json_lines import JsonObject
from agent_envs.tools._arguments import kind_of


class BadArguments(AgentEnvsError, ValueError):
    """Arguments do not fit the tool; the message is written for the agent."""


_canonical = msgspec.json.Encoder(order="sorted")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One action: which tool, with which arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """JSON values by parameter name, as the agent gave them."""
    id: str = ""
    """The caller's name for this call, where its API has one."""

    def to_json(self) -> str:
        """One line `{"name":...,"arguments":...}` that is the same text for equal calls."""
        try:
            arguments = _canonical.encode(dict(self.arguments)).decode()
        except (OverflowError, UnicodeError, TypeError, ValueError):
            # What that encoder refuses and JSON text can hold: integers beyond 64 bits, lone surrogates.
            arguments = json.dumps(dict(self.arguments), sort_keys=True, separators=(",", ":"))
        return f'{{"name":{json.dumps(self.name)},"arguments":{arguments}}}'

    def to_openai(self, thought: str = "") -> JsonObject:
        """The assistant message that makes this call through the OpenAI chat API."""
        function = {"name": self.name, "arguments": json.dumps(dict(self.arguments), ensure_ascii=False)}
        call = {"id": self.id or "call_0", "type": "function", "function": function}
        return {"role": "assistant", "content": thought or None, "tool_calls": [call]}

    @classmethod
    def from_openai(cls, message: Mapping[str, Any]) -> ToolCall:
        """The first call of an assistant message, or `BadArguments` where it holds none that can be read.

        `agent_envs.dialects.parse_openai` also says when there were more, and never raises.
        """
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or not calls:
            raise BadArguments("the message holds no tool call")
        call = calls[0]
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BadArguments('a tool call is {"id", "type": "function", "function": {"name", "arguments"}}')
        given = function.get("arguments") or "{}"
        try:
            arguments = msgspec.json.decode(given) if isinstance(given, str) else given
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as cause:
            raise BadArguments(f"the arguments of `{function['name']}` are not JSON: {cause}") from cause
        if not isinstance(arguments, dict):
            raise BadArguments(f"the arguments of `{function['name']}` are {kind_of(arguments)}, expected an object")
        identity = call.get("id")
        return cls(function["name"], arguments, identity if isinstance(identity, str) else "")


Action = str | Mapping[str, Any]
"""What an agent may send to `step`: its raw text, or a call as a mapping with `name` and `arguments`."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back."""

    text: str
    """What the agent reads."""
    error: str = ""
    """"" | "tool_failed" | "timeout"."""
    ran: bool | None = None
    """Whether guest code ran to its end; None where nothing was executed."""
    ends: bool = False
    """Whether the episode ends here, as submitted."""
