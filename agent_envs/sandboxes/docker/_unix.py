"""The library's way to a local engine, with sockets that are closed where nobody answers: its own are forgotten."""

from __future__ import annotations

import socket
from typing import Any

from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnection


class UnixAdapter(UnixHTTPAdapter):  # type: ignore[misc]  # the library has no types
    """What the library mounts for unix:// hosts."""

    def get_connection(self, url: str, proxies: Any = None) -> Any:
        pool = super().get_connection(url, proxies)
        pool._new_conn = lambda: _Connection(url, self.socket_path, self.timeout)
        return pool


class _Connection(UnixHTTPConnection):  # type: ignore[misc]  # the library has no types
    def connect(self) -> None:
        door = socket.socket(socket.AF_UNIX)
        door.settimeout(self.timeout)
        try:
            door.connect(self.unix_socket)
        except OSError:
            door.close()
            raise
        self.sock = door
