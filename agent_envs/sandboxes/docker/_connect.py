"""The way to the Docker engine: connections that are lent to one user at a time, and what its failures are called.

But for `_unix.py` the only module that imports the library. An engine may be on another machine: nothing here hands it
a path of ours.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent_envs.errors import InfraError, MissingExtra, SandboxDied, SandboxUnavailable
from agent_envs.sandboxes.docker._unix import unix_adapter

DEFAULT_SOCKET = "/var/run/docker.sock"
_MOST_IDLE = 8
_PIECE = 1 << 18
_ENDED = ("is not running", "container not running", "no such container", "stopped state", "task not found")


class Refused(SandboxUnavailable):
    """The engine is there and did not do what it was asked; `status` is that of its answer."""

    def __init__(self, message: str, *, status: int) -> None:
        # It may have been busy, or somebody else has removed what was asked for.
        super().__init__(message, passing=True)
        self.status = status

    @property
    def gone(self) -> bool:
        """Whether it says that there is no such thing, or that the thing is no longer running.

        An engine that finds a container ended between two questions calls that a fault of its own, with status 500.
        """
        said = str(self).lower()
        return self.status in (404, 409) or any(words in said for words in _ENDED)


class Connections:
    """Connections to one engine. Each is used by one thread at a time, and none is shared with a forked child."""

    def __init__(self, host: str = "", *, timeout_s: float = 60.0) -> None:
        self.host = host or os.environ.get("DOCKER_HOST", "") or f"unix://{DEFAULT_SOCKET}"
        self._timeout_s = timeout_s
        self._version = ""
        self._idle: list[Any] = []
        self._owner = os.getpid()
        self._lock = threading.Lock()

    @property
    def is_local(self) -> bool:
        """Whether the engine answers at the usual socket of this machine."""
        return self.host == f"unix://{DEFAULT_SOCKET}"

    @contextmanager
    def lend(self, doing: str, *, error: type[InfraError] = SandboxUnavailable) -> Iterator[Any]:
        """A client to the engine (`docker.APIClient`). What fails meanwhile is raised as `error`, with its remedy.

        An answer that is a refusal is raised as `Refused`, for those who know what it means.
        """
        client = self._take(doing, error)
        fine = False
        try:
            with named(doing, self.host, error):
                yield client
            fine = True
        except Refused:
            fine = True
            raise
        finally:
            self._give_back(client, fine=fine)

    def _take(self, doing: str, error: type[InfraError]) -> Any:
        if self._owner != os.getpid():
            # Forked: those connections are the parent's, and so may be the lock.
            self._lock, self._idle, self._owner = threading.Lock(), [], os.getpid()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        with named(doing, self.host, error):
            return self._connect()

    def _give_back(self, client: Any, *, fine: bool) -> None:
        with self._lock:
            if fine and len(self._idle) < _MOST_IDLE and self._owner == os.getpid():
                self._idle.append(client)
                return
        client.close()

    def _connect(self) -> Any:
        docker = library()
        if self.host.startswith("ssh://"):
            raise SandboxUnavailable(
                f"the engine at {self.host} cannot be reached directly, for its streams would be too slow; forward its "
                f"socket: ssh -nNT -L /tmp/docker.sock:{DEFAULT_SOCKET} HOST & export DOCKER_HOST=unix:///tmp/docker.sock"
            )
        settings = docker.utils.kwargs_from_env({**os.environ, "DOCKER_HOST": self.host})
        oldest = docker.constants.MINIMUM_DOCKER_API_VERSION
        client = docker.APIClient(**settings, version=self._version or oldest, timeout=self._timeout_s)
        if self.host.startswith("unix://"):
            client.mount("http+docker://", unix_adapter(self.host, self._timeout_s))
        # The library keeps a socket open for every address it was asked for, and each container has its own.
        client.headers["Connection"] = "close"
        if not self._version:
            self._version = client._version = client.version(api_version=False)["ApiVersion"]
        return client

    def close(self) -> None:
        """Close those that are not lent; idempotent."""
        with self._lock:
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            for client in idle:
                client.close()


def library() -> Any:
    """The library, or `MissingExtra`."""
    try:
        import docker
    except ImportError as error:
        raise MissingExtra("docker", extra="docker") from error
    return docker


@contextmanager
def named(doing: str, host: str, error: type[InfraError]) -> Iterator[None]:
    """Give what fails on the way to the engine our names."""
    docker = library()
    from requests.exceptions import RequestException

    try:
        yield
    except docker.errors.APIError as answer:
        message = f"the Docker engine refused to {doing}: {answer.explanation or answer}"
        raise Refused(message, status=answer.status_code or 0) from answer
    except (docker.errors.DockerException, RequestException, OSError) as failure:
        raise error(f"could not {doing}: {_why(failure, host)}") from failure


@contextmanager
def archive(client: Any, container: str, path: str) -> Iterator[Iterator[bytes]]:
    """The files below a path of a container as the pieces of a tar archive, which may be left before its end."""
    url = f"{client.base_url}/v{client.api_version}/containers/{container}/archive"
    with client.get(url, params={"path": path}, stream=True, timeout=client.timeout) as response:
        if response.status_code != 200:
            raise Refused(f"the Docker engine refused to read {path}: {response.text}", status=response.status_code)
        yield response.iter_content(_PIECE)


def gone_or(error: Refused, doing: str) -> InfraError:
    """What a refusal means to somebody who has a container: it is gone, or something else is wrong."""
    if error.gone:
        return SandboxDied(f"could not {doing}: its container is gone or no longer running ({error})")
    return error


def _why(failure: BaseException, host: str) -> str:
    causes = list(_causes(failure))
    if any(isinstance(cause, PermissionError) for cause in causes):
        return (
            f"this user may not use the Docker engine at {host}; to allow it: sudo usermod -aG docker $USER, and log "
            "in again"
        )
    if any(isinstance(cause, FileNotFoundError) for cause in causes):
        return (
            f"there is no Docker engine at {host}; install and start one (Debian: apt-get install docker.io, then "
            "systemctl start docker, or dockerd in the background), or name another in DOCKER_HOST"
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return (
            f"nothing answers at {host}; is the engine running? Try: systemctl start docker (or dockerd), docker info"
        )
    if any(isinstance(cause, TimeoutError) or "Timeout" in type(cause).__name__ for cause in causes):
        return f"the Docker engine at {host} did not answer in time; try: docker info"
    return f"the Docker engine at {host} failed: {failure}; try: docker info"


def _causes(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        yield from (part for part in failure.args if isinstance(part, BaseException))
        failure = failure.__cause__ or failure.__context__
