"""Solutions as the tool calls that play them."""

from __future__ import annotations

from base64 import b64encode
from posixpath import dirname
from shlex import quote

from agent_envs.verifiers.swe.task import Change, Solution

from agent_envs.tools import ToolCall

_END = "END_OF_FILE"


def calls_of(solution: Solution) -> tuple[ToolCall, ...]:
    """What an agent calls to apply the solution and submit; nothing where there is no solution."""
    calls = [_change(change) for change in solution.changes]
    calls += [ToolCall("bash", {"command": _written(path, text)}) for path, text in solution.files.items()]
    if solution.command:
        calls.append(ToolCall("bash", {"command": solution.command}))
    return (*calls, ToolCall("submit", {})) if calls else ()


def _written(path: str, text: str) -> str:
    """The command that writes a file anywhere, where the tool for files keeps to the workspace."""
    made = f"mkdir -p {quote(dirname(path))} && "
    if text.endswith("\n") and "\r" not in text and _END not in text.splitlines():
        return f"{made}cat > {quote(path)} <<'{_END}'\n{text}{_END}"
    packed = b64encode(text.encode("utf-8")).decode()
    return f"{made}base64 -d > {quote(path)} <<'{_END}'\n{packed}\n{_END}"


def _change(change: Change) -> ToolCall:
    if change.old is not None:
        return ToolCall("edit", {"path": change.path, "old": change.old, "new": change.new or ""})
    if change.new is not None:
        return ToolCall("create", {"path": change.path, "content": change.new})
    return ToolCall("bash", {"command": f"rm -- {quote(change.path)}"})
