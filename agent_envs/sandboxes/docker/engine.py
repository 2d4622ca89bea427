"""The Docker engine as a place to run images: the class that everything else of this package serves."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_envs.errors import ConfigError, InfraError, SandboxUnavailable
from agent_envs.sandboxes.docker import _container, _once, _owner
from agent_envs.sandboxes.docker._connect import Connections, Refused
from agent_envs.sandboxes.docker._container import Container, Settings
from agent_envs.sandboxes.docker._hosts import HOSTS_AT, HostFiles
from agent_envs.sandboxes.docker._images import Images, missing
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.docker._volumes import Volumes
from agent_envs.sandboxes.docker.pool import Pool, Readiness
from agent_envs.sandboxes.images import BuiltImage, Image, Place, Recipe
from agent_envs.sandboxes.protocol import RunResult


@dataclass(slots=True)
class _Held:
    """What an engine holds in one process; a forked child holds nothing of its parent's."""

    settings: Settings
    volumes: Volumes
    hosts: HostFiles
    pool: Pool
    removals: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "agent-envs-removals"))
    live: set[DockerSandbox] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


class DockerEngine:
    """Images and sandboxes of a Docker engine, on this machine or another: `DOCKER_HOST` and its like are honoured.

    Constructing it does nothing; the first use connects, and removes what dead processes of this machine have left.
    Its methods may be called from several threads at once.

    Args:
        host: Where the engine answers; empty: `DOCKER_HOST`, or the usual socket.
        cpus: The processors each container may use.
        ready: How many started sandboxes are kept ready for each place that was asked for.
        ready_memory_mb: The memory that those together may use, by their limits.
        timeout_s: How long the engine may take to answer.
    """

    def __init__(
        self,
        *,
        host: str = "",
        cpus: float = 1.0,
        ready: int = 0,
        ready_memory_mb: int = 8192,
        timeout_s: float = 60.0,
    ) -> None:
        for name, value, least in (("cpus", cpus, 0.01), ("ready", ready, 0), ("timeout_s", timeout_s, 1.0)):
            if value < least:
                raise ConfigError(f"the option {name} of the Docker engine is {value}; expected at least {least}")
        self._connections = Connections(host, timeout_s=timeout_s)
        self._cpus = cpus
        self._readiness = Readiness(each=ready, memory_mb=ready_memory_mb)
        self._opening = threading.Lock()
        self._process = os.getpid()
        self._held: _Held | None = None
        self.images = Images(self._connections)
        """What was built here."""

    @property
    def isolation(self) -> str:
        """`docker`: whatever separates a container of that engine from its machine."""
        return "docker"

    def connect(self) -> None:
        """See that the engine is there; raises `SandboxUnavailable` with the remedy where it is not."""
        self._open()

    def build(self, recipe: Recipe) -> Image:
        """The image of a recipe, built where it is not there yet."""
        self._open()
        return self.images.build(recipe)

    def list_images(self) -> list[BuiltImage]:
        """Every image that was built from a recipe, the newest first."""
        return self.images.list_images()

    def prune(self) -> list[BuiltImage]:
        """Remove every image that was built from a recipe and is not in use, and say which."""
        return self.images.prune()

    def start(self, place: Place) -> DockerSandbox:
        """A new sandbox, perhaps taken from those kept ready; used by one episode and never again."""
        held = self._open()
        sandbox = held.pool.take(place) or self._started(place)
        with held.lock:
            held.live.add(sandbox)
        return sandbox

    def wait_until_ready(self, timeout_s: float = 60.0) -> bool:
        """Wait until as many sandboxes are ready as are to be kept; False where the time is up."""
        return self._open().pool.wait_until_full(timeout_s)

    def run_once(
        self,
        place: Place,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cwd: str = "",
    ) -> RunResult:
        """Run one program as the only one of a new sandbox, and destroy it."""
        if not command or isinstance(command, str):
            raise ConfigError(f"run_once was given the command {command!r}; expected the program and its arguments")
        held = self._open()
        container, let_go = self._created(place, command=command, takes_input=bool(stdin), cwd=cwd)

        def remove() -> None:
            container.remove()
            let_go()

        try:
            limit = place.limits.output_bytes
            result = _once.run_to_end(container, stdin=stdin, timeout_s=timeout_s, output_bytes=limit)
        except BaseException:
            remove()
            raise
        # Nothing runs in it any more, so nobody need wait for it to be gone.
        held.removals.submit(remove)
        return result

    def close(self) -> None:
        """Destroy every sandbox that is left, kept ready or running; idempotent."""
        held, self._held = self._held, None
        atexit.unregister(self.close)
        if held is not None and self._process == os.getpid():
            held.pool.close()
            held.removals.shutdown()
            with held.lock:
                live = list(held.live)
            for sandbox in live:
                sandbox.close()
            held.volumes.close()
            with suppress(InfraError):
                _owner.remove_all(self._connections, held.settings.labels[_owner.ENGINE])
        self._connections.close()

    def _start_ahead(self, place: Place) -> DockerSandbox:
        sandbox = self._started(place)
        try:
            sandbox.await_ready()
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def _start_twin(self, sandbox: DockerSandbox, *, copy_files: bool) -> DockerSandbox:
        held = self._open()
        copy = self.images.copy_of(sandbox.container.id) if copy_files else ""
        twin = self._started(sandbox.place, copy=copy)
        with held.lock:
            held.live.add(twin)
        return twin

    def _started(self, place: Place, *, copy: str = "") -> DockerSandbox:
        """A started sandbox; of a copy of another one's files where that image is named, which goes with it."""
        container, let_go = self._created(place, copy=copy)
        on_close = _forget(self._open(), let_go)
        sandbox = DockerSandbox(container, place, on_close=on_close, start_twin=self._start_twin)
        try:
            container.start()
            sandbox.prepare()
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def _created(
        self, place: Place, *, copy: str = "", command: Sequence[str] = (), takes_input: bool = False, cwd: str = ""
    ) -> tuple[Container, Callable[[], None]]:
        """A container that is not started yet, and what is to be called when it has been removed."""
        held = self._open()
        place = self._with_owner(place)
        mounts: dict[str, str] = {}

        def let_go() -> None:
            held.hosts.give_back(mounts.pop(HOSTS_AT, ""))
            held.volumes.give_back(mounts)
            if copy:
                self.images.remove_copy(copy)

        try:
            mounts |= held.volumes.take(place.volumes, place.image.digest)
            if hosts := held.hosts.take(place.image.digest):
                mounts[HOSTS_AT] = hosts
            container = _container.create(
                self._connections,
                place,
                mounts=mounts,
                settings=held.settings,
                command=command,
                takes_input=takes_input,
                cwd=cwd,
                image=copy,
            )
        except BaseException as error:
            let_go()
            if isinstance(error, Refused) and error.status == 404:
                raise missing(place.image) from error
            raise
        return container, let_go

    def _with_owner(self, place: Place) -> Place:
        """The same place with a workspace that its user may write to."""
        return replace(place, image=self.images.owned_by_root(place.image)) if place.user == "root" else place

    def _open(self) -> _Held:
        if self._process != os.getpid():
            # Forked: what is held is the parent's, and so may be the lock.
            self._opening, self._process, self._held = threading.Lock(), os.getpid(), None
            self.images = Images(self._connections)
        with self._opening:
            if self._held is None:
                self._held = self._connected()
                atexit.register(self.close)
            return self._held

    def _connected(self) -> _Held:
        with self._connections.lend("ask the Docker engine what it is") as client:
            found = client.info()
        if found.get("OSType") != "linux":
            raise SandboxUnavailable(f"the Docker engine runs {found.get('OSType')} containers; expected linux")
        _owner.sweep_quietly(self._connections)
        labels = _owner.labels()
        cpus = min(self._cpus, float(found["NCPU"]))
        settings = Settings(labels=labels, cpus=cpus, disk_quota=_has_quota(found))
        volumes = Volumes(self._connections, prefix=f"agent-envs-{labels[_owner.ENGINE]}", labels=labels)
        disk = str(found["DockerRootDir"]) if self._connections.is_local else ""
        hosts = HostFiles(self._connections, volumes)
        return _Held(settings, volumes, hosts, Pool(self._start_ahead, replace(self._readiness, disk=disk)))


def _forget(held: _Held, let_go: Callable[[], None]) -> Callable[[DockerSandbox], None]:
    def forget(sandbox: DockerSandbox) -> None:
        with held.lock:
            held.live.discard(sandbox)
        let_go()

    return forget


def _has_quota(found: dict[str, object]) -> bool:
    """Whether the storage driver can bound a container's disk space: overlay2 can on XFS alone."""
    status = found.get("DriverStatus")
    backing = dict(status).get("Backing Filesystem", "") if isinstance(status, list) else ""
    return found.get("Driver") in ("btrfs", "zfs") or (found.get("Driver") == "overlay2" and backing == "xfs")
