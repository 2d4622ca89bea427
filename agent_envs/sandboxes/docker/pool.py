"""Sandboxes kept ready: started ahead by one thread, taken once, never given back."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from agent_envs.errors import InfraError, SandboxUnavailable, boundary
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.docker._volumes import tree_digest
from agent_envs.sandboxes.images import Place

_LEAST_FREE = 2 << 30
"""Bytes of disk below which nothing is started ahead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """How much is kept ready."""

    each: int = 0
    """Sandboxes for each of the places asked for last; 0 keeps none, and starts no thread."""
    memory_mb: int = 8192
    """The memory that those which wait may use together, by their limits; the places asked for last come first."""
    disk: str = ""
    """A folder on the disk of the engine, where that is one of ours: nothing is started where it is nearly full."""


@dataclass(slots=True)
class _Shelf:
    """What is ready for one place."""

    place: Place
    ready: list[DockerSandbox] = field(default_factory=list)


class Pool:
    """Started sandboxes by place. After a fault nothing is started ahead until somebody asks, who then sees it."""

    def __init__(self, start: Callable[[Place], DockerSandbox], readiness: Readiness) -> None:
        self._start = start
        self._readiness = readiness
        self._shelves: dict[str, _Shelf] = {}
        """The place asked for last comes last."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._resting = False
        """After a fault nothing is started ahead until somebody asks again."""

    def take(self, place: Place) -> DockerSandbox | None:
        """A sandbox that is ready for this place, if there is one; another is then made in its stead."""
        if self._readiness.each < 1:
            return None
        key = _key(place)
        with self._changed:
            if self._closed:
                return None
            shelf = self._shelves.pop(key, None) or _Shelf(place)
            self._shelves[key] = shelf
            taken, self._resting = None, False
            while shelf.ready and taken is None:
                taken = shelf.ready.pop(0)
                if not taken.is_fresh:
                    taken.close()
                    taken = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._refill, name="agent-envs-pool", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return taken

    def wait_until_full(self, timeout_s: float) -> bool:
        """Wait until there is nothing to start ahead; False where the time is up."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or self._wanted() is None, timeout_s)

    def close(self) -> None:
        """Destroy what is ready, and end the thread; idempotent."""
        with self._changed:
            self._closed = True
            shelves, self._shelves = list(self._shelves.values()), {}
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        for shelf in shelves:
            for sandbox in shelf.ready:
                sandbox.close()

    def _refill(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._wanted() is not None)
                shelf = None if self._closed else self._wanted()
            if shelf is None:
                return
            try:
                with boundary(SandboxUnavailable, "start a sandbox ahead"):
                    sandbox = self._start(shelf.place)
            except InfraError:
                with self._changed:
                    self._resting = True
                    self._changed.notify_all()
                continue
            with self._changed:
                kept = not self._closed and shelf in self._shelves.values()
                if kept:
                    shelf.ready.append(sandbox)
                stale = self._beyond_memory()
                self._changed.notify_all()
            for one in [*stale, *([] if kept else [sandbox])]:
                one.close()

    def _wanted(self) -> _Shelf | None:
        """The shelf that the next one is for, if any."""
        if self._resting or self._is_disk_full():
            return None
        room = self._readiness.memory_mb
        for shelf in reversed(self._shelves.values()):
            room -= self._readiness.each * shelf.place.limits.memory_mb
            if room < 0:
                return None
            if len(shelf.ready) < self._readiness.each:
                return shelf
        return None

    def _beyond_memory(self) -> list[DockerSandbox]:
        """Those of the places asked for longest ago, which have no room any more; they leave their shelves."""
        room, stale = self._readiness.memory_mb, []
        for key, shelf in reversed(list(self._shelves.items())):
            room -= self._readiness.each * shelf.place.limits.memory_mb
            if room < 0:
                stale += shelf.ready
                del self._shelves[key]
        return stale

    def _is_disk_full(self) -> bool:
        if not self._readiness.disk:
            return False
        try:
            return shutil.disk_usage(self._readiness.disk).free < _LEAST_FREE
        except OSError:
            return False


def _key(place: Place) -> str:
    parts: list[Any] = [place.image.name, place.image.digest, place.user, asdict(place.limits), dict(place.env)]
    parts.append({path: tree_digest(tree) for path, tree in place.volumes.items()})
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
