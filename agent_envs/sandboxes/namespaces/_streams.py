"""What a guest prints, read as it comes, bounded, and never waited for to end: a grandchild may hold it open."""

from __future__ import annotations

import os
import select
from dataclasses import dataclass, field

_PIECE = 1 << 16
_PIPE = 1 << 20
"""The largest a guest can make a pipe."""


@dataclass(slots=True)
class _Stream:
    read_end: int
    kept: bytearray = field(default_factory=bytearray)
    dropped: int = 0
    open: bool = True


class Streams:
    """Standard output and standard error of one guest: the head of each is kept, the rest is counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._streams: list[_Stream] = []
        self._guest_ends: list[int] = []

    def open(self) -> Streams:
        """Make the pipes."""
        for _ in range(2):
            read_end, write_end = os.pipe()
            os.set_blocking(read_end, False)
            self._streams.append(_Stream(read_end))
            self._guest_ends.append(write_end)
        return self

    @property
    def guest_ends(self) -> dict[int, int]:
        """The ends to give to a guest, by the number they have there."""
        return {1: self._guest_ends[0], 2: self._guest_ends[1]}

    def close_guest_ends(self) -> None:
        """Let go of the ends that only guests need from now on."""
        while self._guest_ends:
            os.close(self._guest_ends.pop())

    def watch(self, poll: select.poll) -> None:
        """Have this poll wake when there is something to drain."""
        for stream in self._streams:
            if stream.open:
                poll.register(stream.read_end, select.POLLIN)

    def drain(self, poll: select.poll | None = None) -> bool:
        """Read what is there, and say whether it is still within the limit."""
        for stream in self._streams:
            while not stream.dropped and self._read(stream, poll):
                pass
        return not any(stream.dropped for stream in self._streams)

    def finish(self) -> None:
        """Read what is left once nobody writes any more, so that all of it is counted."""
        for stream in self._streams:
            for _ in range(_PIPE // _PIECE):
                if not self._read(stream, None):
                    break

    def _read(self, stream: _Stream, poll: select.poll | None) -> bool:
        """Read one piece, if there is one."""
        if not stream.open:
            return False
        try:
            piece = os.read(stream.read_end, _PIECE)
        except BlockingIOError:
            return False
        if not piece:
            stream.open = False
            if poll is not None:
                poll.unregister(stream.read_end)
            return False
        room = max(0, self._limit - len(stream.kept))
        stream.kept += piece[:room]
        stream.dropped += max(0, len(piece) - room)
        # A pipe gives all it holds: what comes later wakes whoever polls it.
        return len(piece) == _PIECE

    def take(self) -> tuple[bytes, bytes, int]:
        """Hand out output, error output and the number of bytes dropped, and begin anew."""
        output, errors = (bytes(stream.kept) for stream in self._streams)
        dropped = sum(stream.dropped for stream in self._streams)
        for stream in self._streams:
            stream.kept.clear()
            stream.dropped = 0
        return output, errors, dropped

    def close(self) -> None:
        """Close the pipes; idempotent."""
        self.close_guest_ends()
        while self._streams:
            os.close(self._streams.pop().read_end)
