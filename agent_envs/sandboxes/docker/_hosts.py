"""The names of the loopback, in a file for each container.

An engine that is asked for no network still sets one up for every container, by a process of its own, and that takes as
long as all the rest of a start. Asked to leave it alone, it gives the same (a network namespace with a loopback and no
way out), but no names: those come from files in a volume of ours, mounted by their paths at the engine.
"""

from __future__ import annotations

import threading

from agent_envs.sandboxes.docker._connect import Connections, Refused
from agent_envs.sandboxes.docker._volumes import Volumes
from agent_envs.sandboxes.images import HOSTS, TreeFile

HOSTS_AT = "/etc/hosts"
_FILES = 256
"""As many containers at once have names of this kind; the network of any more is set up by the engine."""


class HostFiles:
    """These files at one engine. Each is in one container at a time: two that held the same could tell by its locks."""

    def __init__(self, connections: Connections, volumes: Volumes) -> None:
        self._connections = connections
        self._volumes = volumes
        self._free: list[str] | None = None
        self._lock = threading.Lock()

    def take(self, image: str) -> str:
        """The path at the engine of one that is free; empty where the engine must set up the network."""
        with self._lock:
            if self._free is None:
                self._free = self._made(image)
            return self._free.pop() if self._free else ""

    def give_back(self, path: str) -> None:
        """It is in no container any more."""
        with self._lock:
            if path and self._free is not None:
                self._free.append(path)

    def _made(self, image: str) -> list[str]:
        names = TreeFile(HOSTS.encode())
        # Never given back, so it is there until the volumes are closed.
        (name,) = self._volumes.take({"/names": dict.fromkeys(map(str, range(_FILES)), names)}, image).values()
        with self._connections.lend("find the folder of a volume") as client:
            folder = client.inspect_volume(name).get("Mountpoint", "")
        files = [f"{folder}/{number}" for number in range(_FILES)] if folder else []
        return files if files and self._is_mountable(files[0], image) else []

    def _is_mountable(self, path: str, image: str) -> bool:
        """Whether the engine finds the file there: some keep their volumes elsewhere than they say."""
        mounts = [{"Type": "bind", "Source": path, "Target": HOSTS_AT, "ReadOnly": True}]
        try:
            with self._connections.lend("try to mount a file of a volume") as client:
                made = client.create_container(
                    image,
                    entrypoint=["/"],
                    host_config={"NetworkMode": "none", "Mounts": mounts},
                    labels=self._volumes.labels,
                )
                client.remove_container(made["Id"], force=True, v=False)
        except Refused:
            return False
        return True
