"""Which engine runs images here, shared by everything in this process that wants the same one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from agent_envs.errors import ConfigError, MissingExtra, SandboxUnavailable
from agent_envs.sandboxes.images import ImageEngine

ENGINES = ("auto", "docker", "namespaces")
"""What can be asked for; `auto` is Docker where it answers or DOCKER_HOST names it, else namespaces."""


@dataclass(slots=True)
class _Shared:
    engine: ImageEngine
    users: int
    process: int


_shared: dict[tuple[str, int], _Shared] = {}
_lock = threading.Lock()


class EngineLease:
    """A share in an engine, which is opened when it is first used and closed with its last share.

    Args:
        kind: One of `ENGINES`.
        ready: How many started sandboxes the engine keeps ready for each kind of place, where it can.
    """

    def __init__(self, kind: str = "auto", *, ready: int = 0) -> None:
        if kind not in ENGINES:
            raise ConfigError(f"the sandbox is {kind!r}; expected one of {', '.join(ENGINES)}")
        if type(ready) is not int or ready < 0:
            raise ConfigError(f"ready is {ready!r}; expected a number of sandboxes from 0 on")
        self._key = (kind, ready)
        self._held: _Shared | None = None

    def engine(self) -> ImageEngine:
        """The engine; raises `SandboxUnavailable` with the remedy where there is none of this kind."""
        with _lock:
            if self._held is None or self._held.process != os.getpid():
                shared = _shared.get(self._key)
                if shared is None or shared.process != os.getpid():
                    # What a forked child finds here is its parent's.
                    shared = _shared[self._key] = _Shared(_open(*self._key), 0, os.getpid())
                shared.users += 1
                self._held = shared
            return self._held.engine

    def release(self) -> None:
        """Give the share back; idempotent."""
        with _lock:
            held, self._held = self._held, None
            if held is None or held.process != os.getpid():
                return
            held.users -= 1
            if held.users == 0:
                _shared.pop(self._key, None)
                held.engine.close()


def _open(kind: str, ready: int) -> ImageEngine:
    openers: dict[str, Callable[[int], ImageEngine]] = {"docker": _docker, "namespaces": _namespaces}
    if kind == "auto" and os.environ.get("DOCKER_HOST"):
        # Whoever names an engine wants that one, and not to be given another in silence.
        kind = "docker"
    if kind != "auto":
        return openers[kind](ready)
    reasons = []
    for opener in openers.values():
        try:
            return opener(ready)
        except (SandboxUnavailable, MissingExtra) as reason:
            reasons.append(str(reason))
    raise SandboxUnavailable("no engine can run images here: " + "; and ".join(reasons))


def _docker(ready: int) -> ImageEngine:
    from agent_envs.sandboxes.docker import DockerEngine

    engine = DockerEngine(ready=ready)
    engine.connect()
    return engine


def _namespaces(ready: int) -> ImageEngine:
    from agent_envs.sandboxes.roots import NamespaceEngine

    engine = NamespaceEngine()
    engine.connect()
    return engine


def _forked() -> None:
    global _lock
    # A thread of the parent may have held it, for as long as an engine takes to open.
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
