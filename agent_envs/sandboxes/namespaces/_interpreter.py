"""The line to the interpreter of a Python session: one request, one reply, and the notices of snapshots between."""

from __future__ import annotations

import secrets
import select
import socket
import time
from collections import deque
from dataclasses import dataclass

from agent_envs.sandboxes.namespaces import _cells
from agent_envs.sandboxes.namespaces._control import Control, Exit
from agent_envs.sandboxes.namespaces._entry import PRIVATE
from agent_envs.sandboxes.namespaces._streams import Streams
from agent_envs.sandboxes.protocol import Status


@dataclass(frozen=True, slots=True)
class Reply:
    """What an interpreter says of itself."""

    number: int
    raised: bool
    exit_code: int
    cpu_s: float
    max_rss_mb: float
    value: str


class Interpreter:
    """The process that runs the cells now; after a rollback that is another one, at the other end of the same line."""

    def __init__(self, control: Control, output_bytes: int) -> None:
        self._control = control
        self.streams = Streams(output_bytes)
        self.running = False
        self.hung_up = False
        """The guest has cut the line, which its snapshots share."""
        self._line: socket.socket | None = None
        self._far_line: socket.socket | None = None
        self._poll = select.poll()
        self._process = 0
        self._generation = 0
        self._notices: list[Reply] = []

    def start(self) -> None:
        """Start an interpreter that has run nothing."""
        if self.hung_up:
            self.close()
        if self._line is None:
            self._open()
        assert self._far_line is not None
        self._generation += 1
        descriptors = {PRIVATE: self._far_line.fileno(), **self.streams.guest_ends}
        self._process = self._control.spawn("cells", descriptors, generation=self._generation)
        self.running = True

    def _open(self) -> None:
        self._line, self._far_line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.setblocking(False)
        self.streams.open()
        for close in (self._line.close, self._far_line.close, self.streams.close):
            self._control.descriptors.own(close)
        self._poll.register(self._line, select.POLLIN)
        self._poll.register(self._control.socket, select.POLLIN)
        self.streams.watch(self._poll)

    def wake(self) -> None:
        """Speak to the snapshot from now on, which has woken because its original is dead."""
        # A request that the dead one did not read may still lie in the line: the snapshot must not take it for its own.
        self._generation += 1
        self.running = True

    def run(self, number: int, code: bytes, *, save_first: bool, deadline: float) -> Reply | Status:
        """Run a cell; a status says why there is no reply."""
        nonce = secrets.randbits(63) | 1
        packet = _cells.REQUEST.pack(nonce, save_first, number, len(code)) + code
        frames = deque(_cells.frames(self._generation, packet))
        self._push(frames)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return Status.TIMEOUT
            ready = self._poll.poll(left * 1000 + 1 if not frames else 1)
            if frames:
                self._push(frames)
            for descriptor, _ in ready:
                if descriptor == self._control.socket.fileno():
                    self._control.pump()
                elif descriptor != self._line_number and not self.streams.drain():
                    return Status.OUTPUT_LIMIT
            reply = self._read(nonce)
            if reply is not None:
                return reply if self.streams.drain() else Status.OUTPUT_LIMIT
            if self.hung_up or self._control.has_exit(self._process):
                return Status.KILLED

    def read_notices(self) -> None:
        """Look for notices that came after the last reply."""
        self._read(0)

    def take_notices(self) -> list[Reply]:
        """The snapshots taken since the last call, oldest first: their pid as exit code, their last cell as number."""
        notices, self._notices = self._notices, []
        return notices

    def end(self, *, keep: int) -> tuple[Exit, int]:
        """End the interpreter and all that it started but this snapshot: how it ended, and the snapshot if alive."""
        self.running = False
        kept = self._control.kill(self._process, keep=[keep] if keep else [])
        return self._control.wait_exit(self._process), kept

    def close(self) -> None:
        """Close the line and the pipes; idempotent."""
        if self._line is None or self._far_line is None:
            return
        for close in (self._line.close, self._far_line.close, self.streams.close):
            close()
            self._control.descriptors.disown(close)
        self._line = self._far_line = None
        self._poll = select.poll()
        self.hung_up = False

    def _push(self, frames: deque[bytes]) -> None:
        assert self._line is not None
        while frames:
            try:
                self._line.send(frames[0])
            except BlockingIOError:
                return
            except OSError:
                self.hung_up = True
                return
            frames.popleft()

    @property
    def _line_number(self) -> int:
        return self._line.fileno() if self._line is not None else -1

    def _read(self, nonce: int) -> Reply | None:
        """The reply to this request, if it is there; what is not an answer to it is a notice, or nothing at all."""
        while (frame := self._receive()) is not None:
            if len(frame) < _cells.REPLY.size:
                continue
            found, kind, number, status, cpu_s, memory = _cells.REPLY.unpack_from(frame)
            reply = Reply(number, kind == _cells.RAISED, status, cpu_s, memory / 1024, "")
            if kind == _cells.SNAPSHOT:
                self._notices.append(reply)
            elif found == nonce:
                value = frame[_cells.REPLY.size :].decode("utf-8", "replace")
                return Reply(number, reply.raised, status, cpu_s, reply.max_rss_mb, value)
        return None

    def _receive(self) -> bytes | None:
        assert self._line is not None
        try:
            frame = self._line.recv(_cells.FRAME)
        except OSError as error:
            self.hung_up |= not isinstance(error, BlockingIOError)
            return None
        self.hung_up |= not frame
        return frame or None
