"""A shell on an attached exec: a command goes in, and what it printed, its exit status and the folder come back."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_envs.errors import SandboxDied
from agent_envs.sandboxes.docker._connect import Connections, Refused, gone_or
from agent_envs.sandboxes.docker._stream import Attached, require_own
from agent_envs.sandboxes.protocol import Status

_START_S = 30.0
_UNKNOWN = 137
"""The exit status of a program that was killed."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The container that execs run in, and as whom."""

    connections: Connections
    container: str
    user: str
    env: Mapping[str, str]
    workspace: str
    output_bytes: int
    process: int = field(default_factory=os.getpid)
    """The process that has the container."""


@dataclass(frozen=True, slots=True)
class Exec:
    """One process that was started beside process 1, with its stream."""

    ground: Ground
    number: str
    stream: Attached

    @classmethod
    def start(cls, ground: Ground, argv: list[str], *, output_bytes: int = 0) -> Exec:
        """Start a program; raises `SandboxDied` where the container is gone."""
        require_own(ground.process)
        doing = "start a program in a container"
        try:
            with ground.connections.lend(doing, error=SandboxDied) as client:
                created = client.exec_create(
                    ground.container,
                    argv,
                    stdin=True,
                    user=ground.user,
                    workdir="/",
                    environment=dict(ground.env),
                )
                answer = client.exec_start(created["Id"], socket=True)
                return cls(ground, created["Id"], Attached(answer, output_bytes=output_bytes or ground.output_bytes))
        except Refused as error:
            raise gone_or(error, doing) from error

    def exit_status(self) -> int:
        """How it ended, once its stream has; raises `SandboxDied` where that is because the container is gone."""
        doing = "ask how a program in a container ended"
        try:
            status = self._status(doing)
            with self.ground.connections.lend(doing, error=SandboxDied) as client:
                # Of a container that is killed the engine first sees the programs end, and then the container.
                for _ in range(50 if status == _UNKNOWN else 1):
                    state = client.inspect_container(self.ground.container)["State"]
                    if not state["Running"]:
                        break
                    time.sleep(0.02)
        except Refused as error:
            raise gone_or(error, doing) from error
        if not state["Running"] and not state["OOMKilled"]:
            raise SandboxDied("the container was ended from outside while a command ran in it")
        return status

    def _status(self, doing: str) -> int:
        """Its exit status, or that of a killed program where the engine does not know it."""
        try:
            with self.ground.connections.lend(doing, error=SandboxDied) as client:
                for _ in range(100):
                    found = client.exec_inspect(self.number)
                    if not found["Running"]:
                        break
                    time.sleep(0.02)
        except Refused as error:
            # Some minutes after its end it is forgotten, even in a container that lives.
            if error.status == 404:
                return _UNKNOWN
            raise
        return _UNKNOWN if found["ExitCode"] is None else int(found["ExitCode"])


class NotStarted(SandboxDied):
    """A program of ours could not be started, or was ended before it could answer, in a container that lives."""


class Exchange:
    """One shell, from its start to its end."""

    def __init__(self, ground: Ground, argv: list[str]) -> None:
        self._exec = Exec.start(ground, argv)
        self.stream = self._exec.stream
        self.number = 0
        """Its process number inside the container; known once it has answered."""
        self._bash = False
        self._first_mark = self._expect(secrets.token_hex(8).encode())
        self.stream.send(self._first_mark + b"\n", time.monotonic() + _START_S)

    def await_start(self) -> None:
        """Wait until it is there; raises `SandboxDied` where it cannot be."""
        if self.number:
            return
        if self.listen(time.monotonic() + _START_S) is not Status.OK or self.stream.output.frame is None:
            output, errors, _ = self.stream.take()
            self.close()
            self._exec.exit_status()
            said = (output + errors).decode(errors="replace").strip()[-300:]
            raise NotStarted(f"no shell could be started in the container; the engine said: {said or 'nothing'}")
        number, _, name = self.stream.output.frame.strip().partition(b" ")
        # A root agent may have put something else in its place.
        self.number, self._bash = int(number) if number.isdigit() else 0, name == b"bash"
        self.stream.take()

    @property
    def report(self) -> tuple[int, str] | None:
        """Exit status and working directory after the last command, once the shell has told."""
        frame, end = self.stream.output.frame, self.stream.errors.frame
        if frame is None or end is None or self._told is not None:
            return None
        status, _, folder = frame.lstrip().partition(b" ")
        return int(status) if status.isdigit() else 255, os.fsdecode(folder)

    def command(self, command: bytes, deadline: float, *, body: bytes = b"") -> Status:
        """Give it a command and wait for its report; a status other than OK says why to wait no longer."""
        mark = self._expect(secrets.token_hex(8).encode())
        if self._bash:
            packet = b"%b\0%b\0" % (mark, command)
        else:
            octal = command.replace(b"\\", b"\\0134").replace(b"\n", b"\\0012")
            packet = b"%b\n%b\n" % (mark, octal)
        if not self.stream.send(packet + body, deadline) and not self.stream.ended:
            return Status.TIMEOUT
        return self.listen(deadline)

    def listen(self, deadline: float, *, limited: bool = True) -> Status:
        """Wait for the report, or the end of the shell; not limited: whatever it prints meanwhile."""
        stream = self.stream
        while (stream.output.frame is None or stream.errors.frame is None) and not stream.ended:
            if not stream.listen(deadline):
                return Status.TIMEOUT
            if limited and not stream.within_limit:
                return Status.OUTPUT_LIMIT
        return Status.OK if stream.within_limit or not limited else Status.OUTPUT_LIMIT

    @property
    def left(self) -> bool:
        """Whether it has ended, or has told that it is about to."""
        return self.stream.ended or self._told is not None

    def exit_status(self) -> int:
        """How it ended, once it has left."""
        return self._exec.exit_status() if self._told is None else self._told

    @property
    def _told(self) -> int | None:
        """The exit status that it has told, if it has."""
        word, _, status = (self.stream.errors.frame or b"").lstrip().partition(b" ")
        return int(status) if word == b"exit" and status.isdigit() else None

    def close(self) -> None:
        """Close its line, at whose end it leaves; idempotent."""
        self.stream.close()

    def request(self, packet: bytes, deadline: float) -> Status:
        """Give a program a request in its own words, and wait for its frame."""
        self._expect(self._first_mark)
        if not self.stream.send(packet, deadline) and not self.stream.ended:
            return Status.TIMEOUT
        return self.listen(deadline)

    def expect_end(self) -> None:
        """Wait for no frame but the one that says how a program has ended."""
        self.stream.errors.expect(self._first_mark)

    def _expect(self, mark: bytes) -> bytes:
        self.stream.output.expect(mark)
        self.stream.errors.expect(mark)
        return mark
