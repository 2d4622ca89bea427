"""Read-only trees in named volumes: filled once per engine through the engine's API, and shared by its containers."""

from __future__ import annotations

import io
import itertools
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from agent_envs.errors import ConfigError, SandboxUnavailable
from agent_envs.sandboxes.docker._connect import Connections
from agent_envs.sandboxes.images import Tree

_MOST_IDLE = 32
DATED = 1_600_000_000
"""When files that we bring say they were changed: some tools refuse dates before 1980."""


def archive(tree: Tree, *, below: str = "", owner: int = 0) -> bytes:
    """A tree as a tar archive, with the folders that its paths need, owned by one user."""
    target = io.BytesIO()
    folders: set[str] = set()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as made:
        for path, file in sorted(tree.items()):
            if not path or any(part in ("", ".", "..") for part in path.split("/")) or "\0" in path:
                raise ConfigError(f"a tree holds the path {path!r}; expected parts divided by single slashes")
            whole = f"{below}/{path}" if below else path
            for folder in _above(whole, folders):
                made.addfile(_member(folder, kind=tarfile.DIRTYPE, mode=0o755, owner=owner))
            member = _member(whole, mode=0o755 if file.executable else 0o644, owner=owner)
            member.size = len(file.content)
            made.addfile(member, io.BytesIO(file.content))
    return target.getvalue()


def _above(path: str, known: set[str]) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder not in known:
            known.add(folder)
            yield folder


def _member(path: str, *, kind: bytes = tarfile.REGTYPE, mode: int, owner: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode, member.mtime = kind, mode, DATED
    member.uid = member.gid = owner
    return member


def tree_digest(tree: Tree) -> str:
    """What identifies a tree."""
    digest = sha256()
    for path, file in sorted(tree.items()):
        for part in (path.encode("utf-8", "surrogateescape"), file.content):
            digest.update(len(part).to_bytes(8, "little") + part)
        digest.update(b"\x01" if file.executable else b"\x00")
    return digest.hexdigest()


@dataclass(slots=True)
class _Volume:
    name: str
    used: int = 0
    filled: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Volumes:
    """The volumes of one engine, by content. Those that nobody uses are kept for the next user, up to a number."""

    def __init__(self, connections: Connections, *, prefix: str, labels: Mapping[str, str]) -> None:
        self._connections = connections
        self._prefix = prefix
        self.labels = dict(labels)
        """What everything that is made here bears."""
        self._volumes: dict[str, _Volume] = {}
        self._serials = itertools.count()
        self._lock = threading.Lock()

    def take(self, trees: Mapping[str, Tree], image: str) -> dict[str, str]:
        """The names of volumes that hold these trees, by the same paths; to be given back once."""
        names: dict[str, str] = {}
        try:
            for path, tree in trees.items():
                if not path.startswith("/") or path == "/":
                    raise ConfigError(f"a volume is to be mounted at {path!r}; expected an absolute path")
                names[path] = self._take(tree, image)
        except BaseException:
            self.give_back(names)
            raise
        return names

    def _take(self, tree: Tree, image: str) -> str:
        digest = tree_digest(tree)
        with self._lock:
            # Each has a name of its own: one that was let go may be removed at this very moment.
            volume = self._volumes.pop(digest, None) or _Volume(f"{self._prefix}-{next(self._serials)}-{digest[:24]}")
            # Last used, last in the row.
            self._volumes[digest] = volume
            volume.used += 1
        try:
            with volume.lock:
                if not volume.filled:
                    self._fill(volume.name, tree, image)
                    volume.filled = True
        except BaseException:
            with self._lock:
                volume.used -= 1
            raise
        return volume.name

    def give_back(self, names: Mapping[str, str]) -> None:
        """They are not used any more by whoever took them."""
        wanted = list(names.values())
        with self._lock:
            for volume in self._volumes.values():
                volume.used -= wanted.count(volume.name)
            idle = [digest for digest, volume in self._volumes.items() if not volume.used]
            stale = [self._volumes.pop(digest) for digest in idle[: max(0, len(idle) - _MOST_IDLE)]]
        for volume in stale:
            self._remove(volume.name)

    def close(self) -> None:
        """Remove them all; idempotent."""
        with self._lock:
            volumes, self._volumes = list(self._volumes.values()), {}
        for volume in volumes:
            self._remove(volume.name)

    def _fill(self, name: str, tree: Tree, image: str) -> None:
        content = archive(tree)
        with self._connections.lend("fill a volume") as client:
            client.create_volume(name, labels=self.labels)
            # Never started: it only lends the volume a place where the engine unpacks.
            mounts = [{"Type": "volume", "Source": name, "Target": "/volume", "VolumeOptions": {"NoCopy": True}}]
            host_config = {"NetworkMode": "none", "Mounts": mounts}
            made = client.create_container(
                image, entrypoint=["/"], host_config=host_config, labels=self.labels, healthcheck={"Test": ["NONE"]}
            )
            try:
                client.put_archive(made["Id"], "/volume", content)
            finally:
                client.remove_container(made["Id"], force=True, v=False)

    def _remove(self, name: str) -> None:
        # One that cannot be removed now is found by its label when the engine is closed, or by the next one.
        with suppress(SandboxUnavailable), self._connections.lend("remove a volume") as client:
            client.remove_volume(name)
