"""Whose a container or volume is: labels by which the next start removes what a dead process has left, only that."""

from __future__ import annotations

import functools
import os
import socket
import uuid
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from agent_envs.errors import SandboxDied, SandboxUnavailable
from agent_envs.sandboxes.docker._connect import Connections, Refused

OWNER = "agent-envs.owner"
ENGINE = "agent-envs.engine"
IMAGE = "agent-envs.image"


@dataclass(frozen=True, slots=True)
class Owner:
    """One process, told from every other one that ever had its number."""

    machine: str
    boot: str
    pid: int
    began: int

    @classmethod
    def present(cls) -> Owner:
        """This process."""
        return cls(_machine(), _boot(), os.getpid(), _began(os.getpid()) or 0)

    @classmethod
    def parse(cls, label: str) -> Owner | None:
        """The owner that a label names, if it names one."""
        parts = label.split(":")
        if len(parts) != 4 or not (parts[2].isdigit() and parts[3].isdigit()):
            return None
        return cls(parts[0], parts[1], int(parts[2]), int(parts[3]))

    def __str__(self) -> str:
        return f"{self.machine}:{self.boot}:{self.pid}:{self.began}"

    def is_dead(self, *, engine_is_local: bool) -> bool:
        """Whether it is certain that it has ended: of a process on another machine that is never known."""
        if self.machine != _machine():
            return False
        if self.boot != _boot():
            # Machines that are copies of one another share an engine only where that is not on one of them.
            return engine_is_local
        return _began(self.pid) != self.began


def labels() -> dict[str, str]:
    """The labels of everything that one engine object of this process makes."""
    return {OWNER: str(Owner.present()), ENGINE: uuid.uuid4().hex[:12]}


def sweep_connected(connections: Connections) -> dict[str, int]:
    """Remove the containers and volumes whose owners are dead, and the images that were copies of their files."""
    removed = dict.fromkeys(("containers", "volumes", "copies of containers"), 0)
    local = connections.is_local

    def left(found: dict[str, str] | None) -> bool:
        owner = Owner.parse((found or {}).get(OWNER, ""))
        return owner is not None and owner.is_dead(engine_is_local=local)

    wanted = {"label": OWNER}
    with connections.lend("look for what dead processes left") as client:
        containers = [c["Id"] for c in client.containers(all=True, filters=wanted) if left(c["Labels"])]
        volumes = [v["Name"] for v in client.volumes(filters=wanted)["Volumes"] or [] if left(v["Labels"])]
        images = [i["Id"] for i in client.images(filters=wanted) if left(i["Labels"])]
    for kind, method, ids in (
        ("containers", "remove_container", containers),
        ("volumes", "remove_volume", volumes),
        ("copies of containers", "remove_image", images),
    ):
        for one in ids:
            removed[kind] += _remove(connections, method, one)
    return removed


def remove_all(connections: Connections, engine: str) -> None:
    """Remove what is left of one engine object, for instance because the engine was away when it was to be removed."""
    wanted = {"label": f"{ENGINE}={engine}"}
    with connections.lend("look for what is left") as client:
        containers = [one["Id"] for one in client.containers(all=True, filters=wanted)]
    for one in containers:
        _remove(connections, "remove_container", one)
    with connections.lend("look for what is left") as client:
        volumes = [one["Name"] for one in client.volumes(filters=wanted)["Volumes"] or []]
    for one in volumes:
        _remove(connections, "remove_volume", one)


def _remove(connections: Connections, method: str, one: str) -> bool:
    options = {"force": True, "v": True} if method == "remove_container" else {"force": True}
    try:
        with connections.lend("remove what a dead process left") as client:
            getattr(client, method)(one, **options)
    except Refused as refused:
        # Somebody else is sweeping too, or it is still held by something that is not ours.
        if refused.gone:
            return False
        raise
    return True


@functools.cache
def _machine() -> str:
    """This machine, and the space in which its process numbers mean something."""
    try:
        identity = Path("/etc/machine-id").read_text().strip()
    except OSError:
        identity = ""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return sha256(f"{identity} {socket.gethostname()} {space}".encode()).hexdigest()[:16]


@functools.cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def _began(pid: int) -> int | None:
    """When a process began, in ticks since boot; None where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def sweep_quietly(connections: Connections) -> None:
    """The same at the start of an engine, where a fault is no reason not to start."""
    try:
        sweep_connected(connections)
    except (SandboxUnavailable, SandboxDied):
        return
