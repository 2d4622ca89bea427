"""The attached stream of a container or of one process in it: what it prints, told apart, bounded, and framed.

A frame is a zero byte, a mark that was drawn for it, a few words, and a zero byte; what comes before it is output.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import struct
import time
from dataclasses import dataclass, field
from typing import Any

from agent_envs.errors import SandboxDied, SandboxUnavailable

_HEAD = struct.Struct(">BxxxL")
_PIECE = 1 << 18
_LONGEST_FRAME = 1 << 19
_NOT_READY = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


@dataclass(slots=True)
class Output:
    """One of the two outputs: its head is kept, the rest is counted, and a frame ends it."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    dropped: int = 0
    frame: bytes | None = None
    """What stood in the frame, once it has come."""
    _mark: bytes = b""
    _held: bytes = b""

    def expect(self, mark: bytes) -> None:
        """Look for a frame with this mark from now on."""
        self._mark, self.frame = b"\0" + mark, None

    def feed(self, piece: bytes) -> None:
        """Take what came."""
        if not self._mark:
            self._keep(piece)
            return
        piece = self._held + piece
        start = piece.find(self._mark)
        if start >= 0 and len(piece) - start > _LONGEST_FRAME:
            # A guest who knows the mark plays with us; a frame is never so long.
            start = len(piece)
        elif start >= 0:
            end = piece.find(b"\0", start + 1)
            if end >= 0:
                self.frame = piece[start + len(self._mark) : end]
                self._held, self._mark = b"", b""
                self._keep(piece[:start])
                self._keep(piece[end + 1 :])
                return
        else:
            # What may be the beginning of the mark.
            start = max(0, len(piece) - len(self._mark) + 1)
            start = start if b"\0" in piece[start:] else len(piece)
        self._held = piece[start:]
        self._keep(piece[:start])

    def _keep(self, piece: bytes) -> None:
        room = max(0, self.limit - len(self.kept))
        self.kept += piece[:room]
        self.dropped += max(0, len(piece) - room)

    def take(self) -> tuple[bytes, int]:
        """Hand out what was kept and how much was not, and begin anew."""
        taken = bytes(self.kept) + self._held[: max(0, self.limit - len(self.kept))], self.dropped
        self.kept.clear()
        self._held, self.dropped = b"", 0
        return taken


class Attached:
    """The stream to one process: it takes input and gives output until the process ends or either side closes it."""

    def __init__(self, answer: Any, *, output_bytes: int) -> None:
        self.output = Output(output_bytes)
        self.errors = Output(output_bytes)
        self.ended = False
        """Whether nothing will come any more."""
        self._outputs = {1: self.output, 2: self.errors}
        self._process = os.getpid()
        self._received = bytearray()
        self._socket = _own_socket(answer)
        self._socket.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    @property
    def is_open(self) -> bool:
        """Whether the other side has not closed it, as of now."""
        if self._poll.poll(0):
            self._read()
        return not self.ended

    @property
    def within_limit(self) -> bool:
        """Whether nothing had to be dropped."""
        return not self.output.dropped and not self.errors.dropped

    def send(self, packet: bytes, deadline: float) -> bool:
        """Send all of it, reading meanwhile; False where that is not possible in time or the other side is gone."""
        require_own(self._process)
        left = memoryview(packet)
        try:
            while left:
                try:
                    left = left[self._socket.send(left) :]
                except _NOT_READY:
                    if not self._wait(deadline, select.POLLIN | select.POLLOUT):
                        return False
                    self._read()
        except OSError:
            self._read()
            return False
        return True

    def end_input(self) -> None:
        """Let the process see the end of its input."""
        if isinstance(self._socket, ssl.SSLSocket):
            raise SandboxUnavailable(
                "input cannot be ended over a TLS connection to the Docker engine; forward its socket by ssh instead: "
                "ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock HOST & export DOCKER_HOST=unix:///tmp/docker.sock"
            )
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def listen(self, deadline: float) -> bool:
        """Wait until something has come, and take it; False where the time is up."""
        require_own(self._process)
        if self.ended:
            return True
        if not self._wait(deadline, select.POLLIN):
            return False
        self._read()
        return True

    def take(self) -> tuple[bytes, bytes, int]:
        """Hand out output, error output and the number of bytes dropped, and begin anew."""
        (output, dropped), (errors, also_dropped) = self.output.take(), self.errors.take()
        return output, errors, dropped + also_dropped

    def close(self) -> None:
        """Close it, which ends the input of the process; idempotent."""
        self.ended = True
        self._socket.close()

    def _wait(self, deadline: float, events: int) -> bool:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if events != select.POLLIN:
            self._poll.modify(self._socket, events)
        try:
            return bool(self._poll.poll(left * 1000 + 1))
        finally:
            if events != select.POLLIN:
                self._poll.modify(self._socket, select.POLLIN)

    def _read(self) -> None:
        """Take all that is there."""
        while not self.ended:
            try:
                piece = self._socket.recv(_PIECE)
            except _NOT_READY:
                return
            except OSError:
                piece = b""
            if not piece:
                self.ended = True
                return
            self._received += piece
            self._divide()
            if len(piece) < _PIECE and not isinstance(self._socket, ssl.SSLSocket):
                return

    def _divide(self) -> None:
        start, received = 0, self._received
        while len(received) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(received, start)
            end = start + _HEAD.size + length
            if len(received) < end:
                break
            output = self._outputs.get(kind)
            if output is not None:
                output.feed(bytes(received[start + _HEAD.size : end]))
            start = end
        del received[:start]


def require_own(process: int) -> None:
    """Raise `SandboxDied` where this is not that process but was forked from it: what it has is not for both."""
    if process != os.getpid():
        raise SandboxDied("the sandbox belongs to the process that this one was forked from; start a new one")


def _own_socket(answer: Any) -> socket.socket:
    """The socket under an answer of the library, which goes on reading from it where we do not take it away."""
    under: Any = getattr(answer, "_sock", answer)
    if isinstance(under, ssl.SSLSocket):
        return under
    own = socket.socket(fileno=os.dup(under.fileno()))
    response = getattr(answer, "_response", None)
    if response is not None:
        response.close()
    answer.close()
    return own
