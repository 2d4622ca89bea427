"""The library's way to a local engine, with sockets that are closed where nobody answers: its own are forgotten."""

from __future__ import annotations

import socket
from typing import Any


def unix_adapter(host: str, timeout_s: float) -> Any:
    """What `docker.APIClient` mounts for a host that begins with unix://."""
    from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnection

    class Connection(UnixHTTPConnection):  # type: ignore[misc]  # the library has no types
        def connect(self) -> None:
            door = socket.socket(socket.AF_UNIX)
            door.settimeout(self.timeout)
            try:
                door.connect(self.unix_socket)
            except OSError:
                door.close()
                raise
            self.sock = door

    class Adapter(UnixHTTPAdapter):  # type: ignore[misc]  # the library has no types
        def get_connection(self, url: str, proxies: Any = None) -> Any:
            pool = super().get_connection(url, proxies)
            pool._new_conn = lambda: Connection(url, self.socket_path, self.timeout)
            return pool

    return Adapter(f"http+{host}", timeout_s)
