"""Containers: how each is made, so that a guest finds no privilege, no network and no way past its limits."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_envs.errors import ConfigError, SandboxDied, SandboxUnavailable
from agent_envs.sandboxes.docker._connect import Connections, Refused, gone_or
from agent_envs.sandboxes.docker._hosts import HOSTS_AT
from agent_envs.sandboxes.images import Place
from agent_envs.sandboxes.protocol import Limits

USERS = {"agent": "1000:1000", "root": "0:0"}
_HOMES = {"agent": "/home/agent", "root": "/root"}
_NOBODY = "65534:65534"
_HELPERS = 12
"""Process 1, our own shells and what they start for a moment do not count among the guest's processes."""

# Process 1 belongs to a user that the agent never is, root included: without capabilities it can neither signal nor
# trace it. It waits for children that it never had, which is how orphans are reaped.
_FIRST_PROCESS = ("/bin/sh", "-c", "while :; do sleep 86400 & wait $!; done")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for every container of one engine."""

    labels: Mapping[str, str]
    cpus: float
    disk_quota: bool
    """Whether the storage driver bounds the disk space of a container."""


def environment(place: Place) -> dict[str, str]:
    """What a guest finds in its environment, beside that of the image: nothing of ours."""
    return {"HOME": _HOMES[place.user], "USER": place.user, "LANG": "C.UTF-8", "TZ": "UTC", **place.env}


def host_config(place: Place, mounts: Mapping[str, str], settings: Settings) -> dict[str, Any]:
    """The part of a container's description that bounds and isolates it.

    `mounts` names what is mounted read-only at a path: a volume, or a file of the engine's by its absolute path.
    """
    limits = place.limits
    memory = limits.memory_mb << 20
    config: dict[str, Any] = {
        "NetworkMode": "none",
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": int(settings.cpus * 1e9),
        "PidsLimit": limits.processes + _HELPERS,
        "Ulimits": _ulimits(limits),
        "Tmpfs": {"/tmp": f"rw,nosuid,nodev,exec,mode=1777,size={limits.disk_mb}m"},
        "ShmSize": max(1, limits.disk_mb // 4) << 20,
        "IpcMode": "private",
        # What a guest prints goes to us and is not kept on the disk of the engine.
        "LogConfig": {"Type": "none", "Config": {}},
        "Mounts": [_mount(path, source) for path, source in sorted(mounts.items())],
    }
    if settings.disk_quota:
        config["StorageOpt"] = {"size": f"{limits.disk_mb}m"}
    return config


def _mount(path: str, source: str) -> dict[str, Any]:
    what: dict[str, Any] = {"Source": source, "Target": path, "ReadOnly": True}
    if source.startswith("/"):
        return {"Type": "bind", **what}
    return {"Type": "volume", "VolumeOptions": {"NoCopy": True}, **what}


def _ulimits(limits: Limits) -> list[dict[str, Any]]:
    bounds = {"core": 0, "fsize": limits.file_mb << 20, "nofile": limits.open_files, "msgqueue": 0}
    return [{"Name": name, "Soft": bound, "Hard": bound} for name, bound in bounds.items()]


@dataclass(frozen=True, slots=True)
class Container:
    """One container, by its id."""

    connections: Connections
    id: str

    def start(self) -> None:
        """Start its process 1."""
        doing = "start a container"
        try:
            with self.connections.lend(doing) as client:
                client.start(self.id)
        except Refused as refused:
            raise gone_or(refused, doing) from refused

    def kill(self) -> None:
        """End everything in it, at once and for good; no error where it has ended already."""
        try:
            with self.connections.lend("stop a container", error=SandboxDied) as client:
                client.kill(self.id)
        except Refused as refused:
            if not refused.gone:
                raise

    def remove(self) -> None:
        """Destroy it with all it holds; no error where it is gone, or the engine is."""
        with (
            contextlib.suppress(SandboxUnavailable, SandboxDied),
            self.connections.lend("remove a container") as client,
        ):
            client.remove_container(self.id, force=True, v=True)


def create(
    connections: Connections,
    place: Place,
    *,
    mounts: Mapping[str, str],
    settings: Settings,
    command: Sequence[str] = (),
    takes_input: bool = False,
    cwd: str = "",
    image: str = "",
) -> Container:
    """Make a container that is not started yet: for many commands, or for one where a command is given.

    `image` takes the place of that of the place.
    """
    if place.user not in USERS:
        raise ConfigError(f"a place has the user {place.user!r}; expected one of {', '.join(USERS)}")
    # Where a program is process 1 itself, signals that it sends to itself are ignored.
    config = host_config(place, mounts, settings) | {"Init": bool(command)}
    argv = list(command or _FIRST_PROCESS)
    with connections.lend(f"create a container of the image {place.image.name}") as client:
        created = client.create_container(
            # Another process may have given its name to an image of its own.
            image or place.image.digest,
            entrypoint=argv[:1],
            command=argv[1:],
            user=USERS[place.user] if command else _NOBODY,
            hostname="sandbox",
            environment=environment(place) if command else {},
            labels=dict(settings.labels),
            working_dir=posixpath.join(place.image.workspace, cwd) if command else "/",
            stdin_open=takes_input,
            healthcheck={"Test": ["NONE"]},
            # No network either way; but where the engine need not see to that, a start takes half the time.
            network_disabled=HOSTS_AT in mounts,
            host_config=config,
        )
    return Container(connections, created["Id"])
