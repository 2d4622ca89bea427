"""Our own shell in a container: it ends what hangs, and reads and writes files, as the agent's user.

It is kept open beside the shells of the agent, and it is no more trusted than they are: an agent who ends it gets
another one, and nothing that a verdict rests on passes through it.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Iterable

from agent_envs.errors import SandboxDied, ToolFailed
from agent_envs.sandboxes.docker._exchange import Exchange, Ground, NotStarted
from agent_envs.sandboxes.docker._scripts import shell, words
from agent_envs.sandboxes.protocol import Status

_PATIENCE_S = 10.0
_WHY = {
    3: "{path} leaves the working directory, or passes through a link, which is not followed",
    4: "{path} is a folder",
    5: "there is no file {path}",
    6: "{path} is not a regular file",
    7: "{path}: permission denied",
    8: "{path} cannot be written: the disk is full, or the file is larger than is allowed",
}
_TRIES = 3


class Guard:
    """The shell that is ours. Used by one thread at a time, as the sandbox is."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._exchange: Exchange | None = None
        self._known_kills = 0

    def open(self) -> None:
        """Start it, if it is not there; it need not have answered yet."""
        if self._exchange is None:
            self._exchange = Exchange(self._ground, shell(self._ground.workspace, ours=True))

    @property
    def number(self) -> int:
        """The number of its process inside the container, or 0."""
        return self._exchange.number if self._exchange is not None else 0

    def await_start(self) -> None:
        """Wait until it is there. An agent may have ended it meanwhile, and then another one is started."""
        for left in reversed(range(_TRIES)):
            self.open()
            assert self._exchange is not None
            try:
                return self._exchange.await_start()
            except NotStarted:
                self.close()
                if not left:
                    raise
        return None

    def close(self) -> None:
        """End it; idempotent."""
        if self._exchange is not None:
            self._exchange.close()
            self._exchange = None

    def end_since(self, began: float, *, root: int, spared: Iterable[int], session: int = 0) -> None:
        """End every process that began at this time (of `time.monotonic`) or later, but for the root and the sessions
        that are spared; and besides every process of one session, whenever it began."""
        # Asked first, so that the way there and back makes us end too much and never too little.
        up = self._ask("agent_tick; echo $agent_up")[1]
        ago = int((time.monotonic() - began) * 100) + 2
        self._ask(words("agent_end", _number(up) - ago, " ".join(map(str, spared)), root, session))

    def end(self, number: int) -> None:
        """End one process of this number, a shell that hangs."""
        self._ask(words("kill", "-KILL", number))

    def new_memory_kills(self) -> bool:
        """Whether the kernel has ended a process of this sandbox for want of memory since this was last asked."""
        kills = _number(self._ask("agent_memory_kills")[1])
        before, self._known_kills = self._known_kills, kills
        return kills > before

    def read(self, path: str, limit: int) -> bytes:
        """The content of a regular file of at most this many bytes."""
        parts = below(path, self._ground.workspace)
        status, content = self._ask(words("agent_read", limit + 1, self._ground.workspace, *parts), limit=limit + 1)
        if status:
            raise ToolFailed(_WHY.get(status, "{path} cannot be read").format(path=path))
        if len(content) > limit:
            raise ToolFailed(f"{path} is larger than the {limit} bytes that can be read at once")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Replace or create a regular file, with the folders above it."""
        parts = below(path, self._ground.workspace)
        command = words("agent_write", len(content), self._ground.workspace, *parts)
        status, _ = self._ask(command, body=content)
        if status:
            raise ToolFailed(_WHY.get(status, "{path} cannot be written").format(path=path))

    def _ask(self, command: str, *, body: bytes = b"", limit: int = 1 << 16) -> tuple[int, bytes]:
        """Have it run a command: exit status and output. An agent may have ended it, and then another one is asked."""
        for _ in range(_TRIES):
            self.await_start()
            exchange = self._exchange
            assert exchange is not None
            exchange.stream.output.limit = limit
            cause = exchange.command(os.fsencode(command), time.monotonic() + _PATIENCE_S, body=body)
            if cause is Status.OK and exchange.report is not None:
                output, _, _ = exchange.stream.take()
                return exchange.report[0], output
            self.close()
            if cause is Status.OK:
                exchange.exit_status()
        raise SandboxDied(f"the container did not answer {_TRIES} times within {_PATIENCE_S:.0f} s each")


def _number(said: bytes) -> int:
    """What it said, where that is a number: a root agent may have put something else in the place of our shell."""
    return int(said) if said.strip().isdigit() and len(said) < 20 else 0


def below(path: str, workspace: str) -> list[str]:
    """The parts of a path below the workspace; an absolute path must name it."""
    if "\0" in path:
        raise ToolFailed(f"a path cannot hold a zero byte: {path!r}")
    whole = posixpath.normpath(posixpath.join(workspace, path))
    if whole == workspace:
        raise ToolFailed(f"{path or '.'} is a folder")
    if not whole.startswith(workspace.rstrip("/") + "/"):
        raise ToolFailed(f"{path} is outside the working directory {workspace}")
    return whole[len(workspace.rstrip("/")) + 1 :].split("/")
