"""Python inside an image, as the host sees it: sessions, channels, and the descriptors that programs come through."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import select
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.namespaces import _run
from agent_envs.sandboxes.namespaces._channel import NamespaceChannel
from agent_envs.sandboxes.namespaces._control import Control, Exit, OutOfMemory
from agent_envs.sandboxes.namespaces._streams import Streams
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status
from agent_envs.sandboxes.roots import _guests

PYTHON = "python3"
_REQUEST = struct.Struct("<QII")
_REPLY = struct.Struct("<QBidII")
_LARGEST_REPLY = 1 << 17
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


@contextlib.contextmanager
def program_file(code: bytes) -> Iterator[int]:
    """A descriptor of a file that holds this program and that nobody can change."""
    descriptor = os.memfd_create("program", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(code)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        # A guest could open it anew for writing, and fill memory that its control group does not count.
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        yield descriptor
    finally:
        os.close(descriptor)


def order(program: str) -> dict[str, Any]:
    """The order to run one of our guest programs in the image's interpreter."""
    return {"argv": [PYTHON, "-c", program], "env": {}, "cwd": ""}


class RootChannel(NamespaceChannel):
    """A running Python program of the image that speaks framed messages with the host."""

    def _spawn(self, descriptors: dict[int, int], code: bytes) -> int:
        with program_file(code) as file:
            return self._control.spawn("exec", {**descriptors, _guests.CODE: file}, **order(_guests.CHANNEL))


@dataclass(frozen=True, slots=True)
class _Reply:
    raised: bool
    exit_code: int
    cpu_s: float
    max_rss_mb: float
    value: str


class RootPython:
    """An interpreter of the image that keeps its state between cells.

    Unlike a session without an image it cannot be rolled back: a cell that times out, crashes, or prints too much ends
    the interpreter, its result says `SessionState.LOST`, and the next cell starts afresh.
    """

    def __init__(self, control: Control, *, output_bytes: int) -> None:
        self._control = control
        self._output_bytes = output_bytes
        self._process: _Interpreter | None = None
        self._cells = 0
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether there is a state that a copy would have to continue."""
        return self._process is not None

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell. A cell that times out, crashes or floods takes the state with it, and the result says so."""
        if self._closed:
            raise ToolFailed("this Python session is closed; open a new one")
        try:
            return self._run(code.encode("utf-8", "surrogatepass"), timeout_s)
        except OutOfMemory:
            return RunResult(status=Status.OUT_OF_MEMORY, exit_code=-1, signal=9, state=SessionState.LOST)

    def close(self) -> None:
        """End the interpreter; idempotent."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OutOfMemory):
                process.end()

    def _run(self, code: bytes, timeout_s: float) -> RunResult:
        began, kills = time.monotonic(), self._control.oom_kills()
        if self._process is None:
            self._process = _Interpreter(self._control, self._output_bytes)
        self._cells += 1
        reply = self._process.run(self._cells, code, deadline=began + timeout_s)
        if isinstance(reply, Status):
            process, self._process = self._process, None
            return process.lost(reply, began=began, kills=kills)
        output, errors, dropped = self._process.streams.take()
        return RunResult(
            status=Status.ERROR if reply.raised else Status.OK,
            stdout=output,
            stderr=errors,
            value=reply.value,
            exit_code=reply.exit_code,
            wall_s=time.monotonic() - began,
            cpu_s=reply.cpu_s,
            max_rss_mb=reply.max_rss_mb,
            dropped_bytes=dropped,
        )


class _Interpreter:
    """One process that runs cells, from its start to its end."""

    def __init__(self, control: Control, output_bytes: int) -> None:
        self._control = control
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        self.streams = Streams(output_bytes).open()
        for close in (self._line.close, self.streams.close):
            control.descriptors.own(close)
        with theirs:
            descriptors = {_guests.PRIVATE: theirs.fileno(), **self.streams.guest_ends}
            self._number = control.spawn("exec", descriptors, **order(_guests.CELLS))
        self.streams.close_guest_ends()
        self._received = bytearray()
        self._poll = select.poll()
        for line in (self._line, control.socket):
            self._poll.register(line, select.POLLIN)
        self.streams.watch(self._poll)

    def run(self, number: int, code: bytes, *, deadline: float) -> _Reply | Status:
        """Run a cell; a status says why there is no reply."""
        nonce = secrets.randbits(63) | 1
        packet = memoryview(_REQUEST.pack(nonce, number, len(code)) + code)
        while (left := deadline - time.monotonic()) > 0:
            packet = self._push(packet)
            self._poll.modify(self._line, select.POLLIN | (select.POLLOUT if packet else 0))
            for descriptor, _ in self._poll.poll(left * 1000 + 1):
                if descriptor == self._control.socket.fileno():
                    self._control.pump()
                elif descriptor != self._line.fileno() and not self.streams.drain(self._poll):
                    return Status.OUTPUT_LIMIT
            hung_up = not self._listen()
            if (reply := self._reply(nonce)) is not None:
                return reply if self.streams.drain() else Status.OUTPUT_LIMIT
            if hung_up or self._control.has_exit(self._number):
                return Status.KILLED
        return Status.TIMEOUT

    def lost(self, cause: Status, *, began: float, kills: int) -> RunResult:
        """End it, and say how the cell that broke it ended."""
        ended = self._end()
        self.streams.finish()
        if cause is Status.KILLED and self._control.oom_kills() > kills:
            cause = Status.OUT_OF_MEMORY
        wall_s = time.monotonic() - began
        result = _run.result(ended, self.streams, cause=cause, wall_s=wall_s, state=SessionState.LOST)
        self._release()
        return result

    def end(self) -> None:
        """End it; idempotent."""
        if not self._control.closed:
            self._end()
        self._release()

    def _end(self) -> Exit:
        if not self._control.has_exit(self._number):
            self._control.kill(self._number)
        return self._control.wait_exit(self._number)

    def _release(self) -> None:
        for close in (self._line.close, self.streams.close):
            close()
            self._control.descriptors.disown(close)

    def _push(self, packet: memoryview) -> memoryview:
        # Where the line is cut, reading from it says so.
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            while packet:
                packet = packet[self._line.send(packet) :]
        return packet

    def _listen(self) -> bool:
        """Read what is there; False where the other end is closed."""
        try:
            piece = self._line.recv(_LARGEST_REPLY)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received += piece
        return bool(piece)

    def _reply(self, nonce: int) -> _Reply | None:
        """The reply to this request, if it is there whole; anything else that lies in the line is nothing of ours."""
        if len(self._received) < _REPLY.size:
            return None
        found, raised, status, cpu_s, memory, length = _REPLY.unpack_from(self._received)
        end = _REPLY.size + length
        if found != nonce or length > _LARGEST_REPLY:
            self._received.clear()
            return None
        if len(self._received) < end:
            return None
        value = bytes(self._received[_REPLY.size : end]).decode("utf-8", "replace")
        self._received.clear()
        return _Reply(bool(raised), status, cpu_s, memory / 1024, value)
