"""Messages between the host and the trusted processes of a sandbox: a JSON header, a body of bytes, and descriptors.

Both ends are ours. A message is cut into frames, because a packet socket bounds the size of one packet.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FRAME = 1 << 16
_LENGTHS = struct.Struct("<II")
_DESCRIPTOR = struct.calcsize("i")
_ROOM_FOR_DESCRIPTORS = socket.CMSG_SPACE(8 * _DESCRIPTOR)

# What `json.loads` and `recv_fds` do besides costs every process 1 and every guest dozens of memory pages of its own.
_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder())["scan_once"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it came."""

    header: Mapping[str, Any]
    body: bytes = b""
    descriptors: tuple[int, ...] = ()
    """Open in this process from now on; whoever receives the message closes them."""


def send(
    connection: socket.socket, header: Mapping[str, Any] | bytes, body: bytes = b"", descriptors: Sequence[int] = ()
) -> None:
    """Send one message; a header of bytes is JSON already."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    packet = b"".join((_LENGTHS.pack(len(head), len(body)), head, body))
    if descriptors:
        socket.send_fds(connection, [packet[:FRAME]], descriptors)
    else:
        connection.send(packet[:FRAME])
    for start in range(FRAME, len(packet), FRAME):
        connection.send(packet[start : start + FRAME])


def receive(connection: socket.socket) -> Message | None:
    """Wait for one message; None where the other end is closed."""
    packet, ancillary, _, _ = connection.recvmsg(FRAME, _ROOM_FOR_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
    if not packet:
        return None
    head, body = _LENGTHS.unpack_from(packet)
    start = _LENGTHS.size + head
    missing = start + body - len(packet)
    if missing:
        frames = [packet]
        while missing > 0:
            frame = connection.recv(FRAME)
            if not frame:
                return None
            frames.append(frame)
            missing -= len(frame)
        packet = b"".join(frames)
    header, _ = _scan(packet[_LENGTHS.size : start].decode(), 0)
    return Message(header, packet[start:], _descriptors(ancillary[0][2]) if ancillary else ())


def _descriptors(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"{len(data) // _DESCRIPTOR}i", data)
