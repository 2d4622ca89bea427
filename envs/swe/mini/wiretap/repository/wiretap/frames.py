"""Messages in a stream: a length, a checksum, the bytes; docs/frames.md says what is promised."""

from __future__ import annotations

import struct
import zlib

from wiretap.errors import Corrupt, Truncated
from wiretap.varint import decode_varint, encode_varint

CHECKSUM_SIZE = 4


def frame(payload: bytes) -> bytes:
    """A message as it goes into a stream."""
    return encode_varint(len(payload)) + struct.pack("<I", zlib.crc32(payload)) + payload


class FrameDecoder:
    """Finds the messages in a stream that comes in pieces of any size."""

    def __init__(self, *, limit: int = 1 << 24) -> None:
        self.limit = limit
        """The longest message that is believed."""
        self.damaged = 0
        """How many messages were left out because of their checksum."""
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes of the stream, and return the messages that are complete with them."""
        data, position = self._rest + chunk, 0
        payloads = []
        while position < len(data):
            try:
                length, start = decode_varint(data, position)
            except Truncated:
                break
            if length > self.limit:
                raise Corrupt(f"a message of {length} bytes is announced; the limit is {self.limit}", 0)
            begin = start + CHECKSUM_SIZE
            end = begin + length
            if end > len(data):
                break
            if struct.pack("<I", zlib.crc32(data[begin:end])) == data[start:begin]:
                payloads.append(data[begin:end])
            else:
                self.damaged += 1
            position = end
        self._rest = data[position:]
        return payloads

    def finish(self) -> None:
        """Say that no more bytes will come; raises `Truncated` if they end inside a frame."""
        if self._rest:
            raise Truncated("the stream ends inside a frame", len(self._rest))
