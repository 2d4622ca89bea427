"""The host's line to process 1 of one sandbox: orders go in, answers and the ends of guests come out."""

from __future__ import annotations

import itertools
import os
import select
import signal
import socket
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_envs.errors import SandboxDied, SandboxUnavailable, ToolFailed
from agent_envs.sandboxes.namespaces import _wire, _zygotes
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup
from agent_envs.sandboxes.protocol import Limits

_ANSWER_S = 180.0
"""Whoever is gone has closed the line, so this is only how slow a machine may be on which many sandboxes start."""
_GONE_S = 5.0


class OutOfMemory(Exception):
    """The memory of the whole sandbox ran out and took process 1 with it: the guest's doing, and its end."""


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a guest process, as process 1 saw it."""

    exit_code: int
    """-1 where a signal ended it."""
    signal: int
    cpu_s: float
    max_rss_mb: float
    refused: str
    """Why it never began; empty where it did."""


class _FirstGuest:
    """The guest that was made ahead and waits for its order; it has to go through the doors of the group itself."""

    def __init__(self, line: socket.socket, doors: list[int]) -> None:
        self.doors = doors
        self._line = line
        self._line.settimeout(_ANSWER_S)

    def order(self, header: Mapping[str, Any], body: bytes, descriptors: Sequence[int]) -> bool:
        """Give it the only order that it will get; False where it is gone, and another one must be made."""
        try:
            _wire.send(self._line, header, body, [*self.doors, *descriptors])
        except OSError:
            return False
        finally:
            self.close()
        return True

    def close(self) -> None:
        """Let go of it; idempotent."""
        self._line.close()
        while self.doors:
            os.close(self.doors.pop())


class Control:
    """One sandbox's process 1, its control group, and everything that must be released with them."""

    def __init__(self, birth: _zygotes.Birth, group: MemoryGroup | None) -> None:
        self.process = birth.pid
        self.socket = birth.lines.control
        self.group = group
        self.closed = False
        self._up = False
        self._exits: dict[int, Exit] = {}
        self._reply: _wire.Message | None = None
        self._numbers = itertools.count(1)
        self.descriptors = _zygotes.Descriptors()
        self.descriptors.own(birth.lines.close)
        self._first = _FirstGuest(birth.lines.first, group.doors() if group is not None else [])
        self.descriptors.own(self._first.close)
        handle = _zygotes.Descriptors()
        handle.own(lambda: os.close(birth.process))
        self._release = weakref.finalize(self, _release, birth.process, handle, self.descriptors, group)

    @classmethod
    def open(cls, packages: tuple[str, ...], limits: Limits, *, images: str = "") -> Control:
        """Start process 1 of a new sandbox, inside a control group where one can be had."""
        grouped = bool(MemoryGroup.available())
        group = MemoryGroup.create(memory_mb=limits.memory_mb, processes=limits.processes + 5) if grouped else None
        try:
            control = cls(_zygotes.birth(packages, limits, grouped=grouped, images=images), group)
        except BaseException:
            if group is not None:
                group.close()
            raise
        control.socket.settimeout(_ANSWER_S)
        # It may have been made ahead of its episode, and is not in the group of this one yet.
        control._send({"order": "enter"}, b"", control._first.doors)
        if images:
            # Its first guest must wait for its image, and is made like any other.
            control._first.close()
        return control

    def spawn(self, kind: str, descriptors: Mapping[int, int], body: bytes = b"", **order: object) -> int:
        """Order a guest process with these descriptors, by the number it is to have; its own number is returned."""
        self._require_open()
        number = next(self._numbers)
        header = {"order": "spawn", "id": number, "kind": kind, "targets": list(descriptors), **order}
        if number == 1 and self._first.order(header, body, list(descriptors.values())):
            self._send({"order": "adopt", "id": number, "kind": kind})
        else:
            self._send(header, body, list(descriptors.values()))
        return number

    def kill(self, number: int, *, keep: Sequence[int] = (), keep_root: bool = False, since: int = 0) -> int:
        """End a guest process and all that it has started; the pid of the survivor is returned, or 0."""
        order = {"order": "kill", "id": number, "keep": list(keep), "keep_root": keep_root, "since": since}
        return int(self.ask(order).header["kept"])

    def discard(self, pid: int) -> None:
        """End a snapshot that a newer one has replaced."""
        self._send({"order": "discard", "pid": pid})

    def tell(self, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Tell process 1 something that it waits for."""
        self._send(header, body)

    def ask(self, order: Mapping[str, Any], body: bytes = b"") -> _wire.Message:
        """Give an order and wait for its answer."""
        self._reply = None
        self._send(order, body)
        while self._reply is None:
            self.pump()
        if "refused" in self._reply.header:
            raise ToolFailed(self._reply.header["refused"])
        return self._reply

    def take_exit(self, number: int) -> Exit | None:
        """How this guest process ended, once; None while it is not known to have ended."""
        return self._exits.pop(number, None)

    def has_exit(self, number: int) -> bool:
        """Whether this guest process is known to have ended."""
        return number in self._exits

    def wait_exit(self, number: int) -> Exit:
        """Wait for the end of a guest process that is bound to come."""
        while (ended := self.take_exit(number)) is None:
            self.pump()
        return ended

    def pump(self) -> None:
        """Wait for one message of process 1 and note it."""
        message = self._receive()
        header = message.header
        if "exit" in header:
            self._exits[header["exit"]] = _exit(header)
        elif "reply" in header:
            self._reply = message
        elif "up" in header:
            # Not waited for at the start: the host prepares the first guest while process 1 mounts its file systems.
            self._up = True
        elif self._up:
            raise SandboxDied(f"the sandbox failed: {header.get('failed')}")
        else:
            raise SandboxUnavailable(
                f"a namespace sandbox could not be set up: {header.get('failed')}; "
                "`agent-envs doctor` says what this machine lacks",
                passing=True,
            )

    def oom_kills(self) -> int:
        """How many guests the memory limit has ended; 0 as well where no control group counts them."""
        return self.group.oom_kills() if self.group is not None and not self.closed else 0

    def close(self) -> None:
        """Kill the sandbox and release what it holds on this machine; idempotent."""
        self.closed = True
        self._release()

    def _send(self, header: Mapping[str, Any], body: bytes = b"", descriptors: Sequence[int] = ()) -> None:
        self._require_open()
        try:
            _wire.send(self.socket, header, body, descriptors)
        except ConnectionError as error:
            self._hear_last_words(error)
        except OSError as error:
            if not self._up:
                # Perhaps it has said why before it went.
                self.pump()
            raise self._dead(error) from error

    def _hear_last_words(self, cause: OSError) -> NoReturn:
        """Process 1 is gone; where it has said why, that is raised."""
        while True:
            try:
                self.pump()
            except SandboxDied as error:
                raise error from cause

    def _receive(self) -> _wire.Message:
        self._require_open()
        try:
            message = _wire.receive(self.socket)
        except OSError as error:
            raise self._dead(error) from error
        if message is None:
            raise self._dead(None)
        return message

    def _require_open(self) -> None:
        if self.closed or self.descriptors.process != os.getpid():
            raise SandboxDied("the sandbox is closed, or belongs to another process; start a new one")

    def _dead(self, cause: OSError | None) -> Exception:
        if self.oom_kills():
            return OutOfMemory()
        return SandboxDied(f"process 1 of the sandbox is gone or does not answer ({cause or 'its line is closed'})")


def _exit(header: Mapping[str, Any]) -> Exit:
    code = os.waitstatus_to_exitcode(header["status"])
    return Exit(
        exit_code=max(code, -1),
        signal=max(-code, 0),
        cpu_s=header.get("cpu_s", 0.0),
        max_rss_mb=header.get("memory_kb", 0) / 1024,
        refused=header.get("refused", ""),
    )


def _release(
    process: int, handle: _zygotes.Descriptors, descriptors: _zygotes.Descriptors, group: MemoryGroup | None
) -> None:
    if descriptors.process != os.getpid():
        # A forked child holds this object too; what it stands for is the parent's.
        return
    # First of all: an interpreter that waits for a cell sees the end of its line, and ends while process 1 does.
    descriptors.close()
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
    else:
        # Only then is nothing of it left: the kernel ends all its processes before process 1 counts as ended.
        gone = select.poll()
        gone.register(process, select.POLLIN)
        gone.poll(_GONE_S * 1000)
    handle.close()
    if group is not None:
        group.close()
