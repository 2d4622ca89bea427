"""A program that speaks with the host in messages, on a line of its own; what it prints comes as errors."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable

from agent_envs.sandboxes.docker import _scripts
from agent_envs.sandboxes.docker._exchange import Ground
from agent_envs.sandboxes.docker._guard import Guard
from agent_envs.sandboxes.docker._python import PythonProcess
from agent_envs.sandboxes.docker._shell import ended
from agent_envs.sandboxes.protocol import ChannelClosed, RunResult, Status

LARGEST_MESSAGE = 16 << 20
_LENGTH = struct.Struct("<I")
_FAREWELL = 0xFFFFFFFF
"""Where the length of a message should stand: the program has ended, and all that it said was before this."""
_SEND_S = 5.0
_LEAVE_S, _END_S = 0.1, 2.0
"""How long a program may take to leave by itself once it is told that no more messages will come, and to have ended
once it has said so."""


class DockerChannel:
    """A running guest process that speaks framed messages with the host. What it prints is found in `stderr`."""

    def __init__(self, ground: Ground, guard: Guard, others: Callable[[], Iterable[int]]) -> None:
        self._others = others
        self._guard = guard
        self._began = time.monotonic()
        self._process = PythonProcess(ground, guard, "channel", _scripts.LENGTH)
        self._stream = self._process.exchange.stream
        self._stream.output.limit = LARGEST_MESSAGE + (1 << 20)
        self._cause = Status.OK
        self._said_farewell = False
        self._result: RunResult | None = None

    def open(self, code: bytes) -> DockerChannel:
        """Let the program begin."""
        self._process.exchange.expect_end()
        self._stream.send(b"%d\n%b" % (len(code), code), time.monotonic() + _SEND_S)
        return self

    @property
    def number(self) -> int:
        """The number of its process inside the container, or 0."""
        return self._process.exchange.number

    def send(self, message: bytes, *, timeout_s: float) -> None:
        """Send one message; raises `ChannelClosed` where the process is gone or does not take it in time."""
        self._require_open()
        if not self._stream.send(_LENGTH.pack(len(message)) + message, time.monotonic() + timeout_s):
            if self._stream.ended:
                raise ChannelClosed("the program has closed its end of the channel")
            self._cause = Status.TIMEOUT
            raise ChannelClosed("the program took too long")

    def receive(self, *, timeout_s: float) -> bytes:
        """Wait for one message; raises `ChannelClosed` where the process is gone, too late, or says too much."""
        self._require_open()
        deadline = time.monotonic() + timeout_s
        while (message := self._message()) is None:
            if self._stream.ended:
                raise ChannelClosed("the program ended without an answer")
            if not self._stream.listen(deadline):
                self._cause = Status.TIMEOUT
                raise ChannelClosed("the program took too long")
            if self._stream.errors.dropped:
                self._cause = Status.OUTPUT_LIMIT
                raise ChannelClosed("the program printed too much")
        return message

    def result(self) -> RunResult:
        """End the process and say how it ended; a program that was still serving well has ended well."""
        if self._result is None:
            self._result = self._end()
        return self._result

    def close(self) -> None:
        """Let go of the line; idempotent."""
        self._process.exchange.close()

    def _end(self) -> RunResult:
        exchange = self._process.exchange
        deadline = time.monotonic() + (_END_S if self._said_farewell else _LEAVE_S)
        if self._cause is Status.OK:
            self._stream.end_input()
            while not exchange.left and self._stream.listen(deadline):
                pass
        served = not exchange.left
        wall_s = time.monotonic() - self._began
        self._process.end(self._began, self._others())
        _, errors, dropped = self._stream.take()
        last = ended(exchange.exit_status(), wall_s=wall_s)
        if self._cause is Status.OK and not served:
            self._cause = last.status
            if last.status is not Status.OK and self._guard.new_memory_kills():
                self._cause = Status.OUT_OF_MEMORY
        fine = served and self._cause is Status.OK
        return RunResult(
            status=self._cause,
            stderr=errors,
            exit_code=0 if fine else last.exit_code,
            signal=0 if fine else last.signal,
            wall_s=wall_s,
            dropped_bytes=dropped,
        )

    def _message(self) -> bytes | None:
        received = self._stream.output.kept
        if len(received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(received)
        if length == _FAREWELL:
            self._said_farewell = True
            raise ChannelClosed("the program ended without an answer")
        if length > LARGEST_MESSAGE:
            self._cause = Status.OUTPUT_LIMIT
            raise ChannelClosed(f"the program sent a message of {length} bytes; {LARGEST_MESSAGE} are allowed")
        end = _LENGTH.size + length
        if len(received) < end:
            return None
        message = bytes(received[_LENGTH.size : end])
        del received[:end]
        return message

    def _require_open(self) -> None:
        if self._result is not None or self._cause is not Status.OK:
            raise ChannelClosed("this channel is closed")
