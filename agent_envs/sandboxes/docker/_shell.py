"""A shell that keeps its state, for the agent: one attached exec, fed command by command."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.docker._exchange import Exchange, Ground, NotStarted
from agent_envs.sandboxes.docker._guard import Guard
from agent_envs.sandboxes.docker._scripts import shell
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status

_SURVIVE_S = 3.0
"""How long a shell may take to go on once what it waited for is dead; after that it is the shell itself that hangs."""
_LEAVE_S = 5.0


class DockerShell:
    """A bash (or `sh`) that keeps its working directory, variables and functions between commands.

    A hung command is killed with everything it started, and the shell goes on. Where the shell itself hangs, exits or
    is killed, the next command runs in a new one in the last working directory; the result says `SessionState.LOST`.
    """

    def __init__(
        self, ground: Ground, guard: Guard, others: Callable[[], Iterable[int]], *, ours: bool = False
    ) -> None:
        self._ours = ours
        self._ground = ground
        self._guard = guard
        self._others = others
        self._exchange: Exchange | None = None
        self._folder = ""
        self._closed = False

    def open(self) -> DockerShell:
        """Start the shell; it need not have answered yet."""
        self._exchange = Exchange(self._ground, shell(self._folder or self._ground.workspace, ours=self._ours))
        # Before the agent can use up the processes that it takes.
        self._guard.open()
        return self

    def await_start(self) -> DockerShell:
        """Wait until it is there."""
        if self._exchange is None:
            self.open()
        assert self._exchange is not None
        try:
            self._exchange.await_start()
        except NotStarted:
            # Another shell of the agent may have ended it before it could answer.
            self.open()
            self._exchange.await_start()
        return self

    @property
    def is_open(self) -> bool:
        """Whether its stream is open, as far as that can be seen without asking."""
        return self._exchange is not None and self._exchange.stream.is_open

    @property
    def number(self) -> int:
        """The number of its process inside the container, or 0."""
        return self._exchange.number if self._exchange is not None else 0

    def run(self, command: str, *, timeout_s: float = 60.0) -> RunResult:
        """Run one command line. A hung command is killed with everything it started; the shell stays usable."""
        if self._closed:
            raise ToolFailed("this shell is closed; open a new one")
        if "\0" in command:
            return RunResult(status=Status.ERROR, stderr=b"a command line cannot hold a zero byte\n", exit_code=126)
        return self.run_bytes(command.encode("utf-8", "surrogateescape"), timeout_s=timeout_s)

    def run_bytes(self, command: bytes, *, timeout_s: float, body: bytes = b"") -> RunResult:
        """The same, with what the command may read further from the line (a shell of our own)."""
        self.await_start()
        exchange = self._exchange
        assert exchange is not None
        began = time.monotonic()
        cause = exchange.command(command, began + timeout_s, body=body)
        if cause is not Status.OK:
            self._guard.end_since(began, root=exchange.number, spared={*self._others()} - {exchange.number})
            exchange.listen(time.monotonic() + _SURVIVE_S, limited=False)
        if exchange.report is None:
            return self._lost(exchange, cause, began)
        exit_code, self._folder = exchange.report
        if cause is Status.OK and exit_code:
            cause = Status.OUT_OF_MEMORY if self._guard.new_memory_kills() else Status.ERROR
        output, errors, dropped = exchange.stream.take()
        return RunResult(
            status=cause,
            stdout=output,
            stderr=errors,
            exit_code=exit_code,
            wall_s=time.monotonic() - began,
            dropped_bytes=dropped,
        )

    def close(self) -> None:
        """End the shell; idempotent."""
        self._closed = True
        if self._exchange is not None:
            self._exchange.close()
            self._exchange = None

    def _lost(self, exchange: Exchange, cause: Status, began: float) -> RunResult:
        """The result of a command that took the shell with it."""
        if not exchange.left:
            self._guard.end(exchange.number)
            exchange.listen(time.monotonic() + _LEAVE_S, limited=False)
        status = exchange.exit_status()
        output, errors, dropped = exchange.stream.take()
        exchange.close()
        self._exchange = None
        lost = ended(status, wall_s=time.monotonic() - began)
        if cause is Status.OK:
            cause = Status.OUT_OF_MEMORY if lost.signal == 9 and self._guard.new_memory_kills() else lost.status
        return replace(lost, status=cause, stdout=output, stderr=errors, dropped_bytes=dropped, state=SessionState.LOST)


def ended(status: int, *, wall_s: float) -> RunResult:
    """The result that an exit status stands for; 128 and more means the signal of that number, by convention."""
    if status == 0:
        return RunResult(status=Status.OK, wall_s=wall_s)
    if 128 < status <= 128 + 64:
        return RunResult(status=Status.KILLED, exit_code=-1, signal=status - 128, wall_s=wall_s)
    return RunResult(status=Status.ERROR, exit_code=status, wall_s=wall_s)
