"""A program that speaks with the host in messages, over a line of its own that nothing else in the sandbox holds."""

from __future__ import annotations

import select
import socket
import struct
import time

from agent_envs.sandboxes.namespaces import _run
from agent_envs.sandboxes.namespaces._control import Control, OutOfMemory
from agent_envs.sandboxes.namespaces._entry import PRIVATE
from agent_envs.sandboxes.namespaces._streams import Streams
from agent_envs.sandboxes.protocol import ChannelClosed, RunResult, SessionState, Status

LARGEST_MESSAGE = 16 << 20
_LENGTH = struct.Struct("<I")
_PIECE = 1 << 18
_LEAVE_S, _END_S = 0.1, 2.0
"""How long a program may take to leave by itself once it is told that no more messages will come, and to have ended
once its own end of the line is closed."""


class NamespaceChannel:
    """A running guest process that speaks framed messages with the host."""

    def __init__(self, control: Control, *, output_bytes: int) -> None:
        self._control = control
        self._streams = Streams(output_bytes)
        self._poll = select.poll()
        self._received = bytearray()
        self._line: socket.socket | None = None
        self._number = 0
        self._began = 0.0
        self._kills = 0
        self._cause = Status.OK
        self._hung_up = False
        self._result: RunResult | None = None

    def open(self, code: bytes) -> NamespaceChannel:
        """Start the program."""
        self._began, self._kills = time.monotonic(), self._control.oom_kills()
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        self._streams.open()
        for close in (self._line.close, self._streams.close):
            self._control.descriptors.own(close)
        with theirs:
            self._number = self._spawn({PRIVATE: theirs.fileno(), **self._streams.guest_ends}, code)
        self._streams.close_guest_ends()
        self._poll.register(self._line, select.POLLIN)
        self._poll.register(self._control.socket, select.POLLIN)
        self._streams.watch(self._poll)
        return self

    def _spawn(self, descriptors: dict[int, int], code: bytes) -> int:
        return self._control.spawn("channel", descriptors, code)

    def send(self, message: bytes, *, timeout_s: float) -> None:
        """Send one message; raises `ChannelClosed` where the process is gone or does not take it in time."""
        line = self._require_line()
        deadline = time.monotonic() + timeout_s
        packet = memoryview(_LENGTH.pack(len(message)) + message)
        try:
            while packet:
                try:
                    packet = packet[line.send(packet) :]
                except BlockingIOError:
                    self._wait(deadline, select.POLLIN | select.POLLOUT)
        except OSError as error:
            raise ChannelClosed("the program has closed its end of the channel") from error

    def receive(self, *, timeout_s: float) -> bytes:
        """Wait for one message; raises `ChannelClosed` where the process is gone, too late, or says too much."""
        line = self._require_line()
        deadline = time.monotonic() + timeout_s
        while (message := self._message()) is None:
            # Known before reading: what a program said before it ended still counts.
            ended = self._control.has_exit(self._number)
            try:
                piece = line.recv(_PIECE)
            except BlockingIOError:
                if ended:
                    raise ChannelClosed("the program ended without an answer") from None
                self._wait(deadline, select.POLLIN)
            except OSError as error:
                raise ChannelClosed("the program has closed its end of the channel") from error
            else:
                if not piece:
                    self._hung_up = True
                    raise ChannelClosed("the program ended without an answer, or closed its end of the channel")
                self._received += piece
        return message

    def result(self) -> RunResult:
        """End the process and say how it ended; a program that was still serving well has ended well."""
        if self._result is None:
            try:
                self._result = self._end()
            except OutOfMemory:
                self._result = RunResult(status=Status.OUT_OF_MEMORY, exit_code=-1, signal=9, state=SessionState.LOST)
            self._release()
        return self._result

    def _end(self) -> RunResult:
        line = self._require_line()
        if self._cause is Status.OK and not self._control.has_exit(self._number):
            line.shutdown(socket.SHUT_WR)
            self._linger(time.monotonic() + (_END_S if self._hung_up else _LEAVE_S))
        served = not self._control.has_exit(self._number)
        if served:
            self._control.kill(self._number)
        ended = self._control.wait_exit(self._number)
        wall_s = time.monotonic() - self._began
        self._streams.finish()
        oom = not served and self._control.oom_kills() > self._kills and bool(ended.signal or ended.exit_code)
        result = _run.result(ended, self._streams, cause=self._cause, wall_s=wall_s, oom=oom)
        if served and self._cause is Status.OK:
            return RunResult(status=Status.OK, stdout=result.stdout, stderr=result.stderr, wall_s=wall_s)
        return result

    def _linger(self, deadline: float) -> None:
        try:
            while not self._control.has_exit(self._number):
                self._wait(deadline, 0)
        except ChannelClosed:
            # Too late or too loud; the program is ended all the same, and it served well until then.
            self._cause = Status.OK

    def _message(self) -> bytes | None:
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        if length > LARGEST_MESSAGE:
            self._cause = Status.OUTPUT_LIMIT
            raise ChannelClosed(f"the program sent a message of {length} bytes; {LARGEST_MESSAGE} are allowed")
        end = _LENGTH.size + length
        if len(self._received) < end:
            return None
        message = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return message

    def _wait(self, deadline: float, events: int) -> None:
        """Wait until something happens, and see to all but the line itself."""
        line = self._require_line()
        self._poll.modify(line, events)
        left = deadline - time.monotonic()
        if left <= 0:
            self._cause = Status.TIMEOUT
            raise ChannelClosed("the program took too long")
        for descriptor, _ in self._poll.poll(left * 1000 + 1):
            if descriptor == self._control.socket.fileno():
                self._control.pump()
            elif descriptor == line.fileno() and not events:
                # Hung up, and it would say so again at once for as long as it is watched.
                self._poll.unregister(line)
                self._poll.poll(1)
                self._poll.register(line, 0)
            elif descriptor != line.fileno() and not self._streams.drain(self._poll):
                self._cause = Status.OUTPUT_LIMIT
                raise ChannelClosed("the program printed too much")

    def _require_line(self) -> socket.socket:
        if self._line is None or self._result is not None:
            raise ChannelClosed("this channel is closed")
        return self._line

    def _release(self) -> None:
        if self._line is not None:
            for close in (self._line.close, self._streams.close):
                close()
                self._control.descriptors.disown(close)
