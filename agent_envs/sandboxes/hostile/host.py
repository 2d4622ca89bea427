"""What the suite lays out on the host for a guest to reach, and how it sees what a guest has left running."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

_SECRET_VARIABLE = "AGENT_ENVS_SELFTEST_SECRET"
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_END_S = 30.0
"""How long the processes of a closed sandbox may take to disappear."""


class Bait:
    """A secret file, a secret variable, two listening sockets and a process, all of them real and all out of bounds."""

    def __init__(self) -> None:
        self._secret = secrets.token_hex(16)

    def __enter__(self) -> Bait:
        self._folder = tempfile.TemporaryDirectory(prefix="agent-envs-selftest.")
        self._file = Path(self._folder.name) / f"{secrets.token_hex(8)}.txt"
        self._file.write_text(self._secret)
        os.environ[_SECRET_VARIABLE] = self._secret
        self._server = socket.create_server(("127.0.0.1", 0))
        self._abstract = f"agent-envs-selftest-{secrets.token_hex(8)}"
        self._local = socket.socket(socket.AF_UNIX)
        self._local.bind(f"\0{self._abstract}")
        self._local.listen()
        self._process = subprocess.Popen(["sleep", "600"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._local.close()
        self._server.close()
        os.environ.pop(_SECRET_VARIABLE, None)
        self._folder.cleanup()

    @property
    def marks(self) -> dict[str, str]:
        """What stands in the programs for the parts of the bait."""
        return {
            "@FILE@": str(self._file),
            "@PORT@": str(self._server.getsockname()[1]),
            "@ABSTRACT@": self._abstract,
            "@PID@": str(self._process.pid),
        }

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no guest may ever print: the bait, and whatever this process keeps secret in its environment."""
        named = (value for name, value in os.environ.items() if any(word in name.upper() for word in _SECRET_WORDS))
        return (self._secret, *(value for value in named if len(value) >= 8))

    def damage(self) -> str:
        """What has happened to the bait; empty while all is well."""
        if self._process.poll() is not None:
            return "a process of the host was killed"
        return "" if self._file.read_text() == self._secret else "a file of the host was changed"


Family = frozenset[tuple[int, str]]
"""Processes as (pid, start time): a pid alone may be given to somebody else."""


def family() -> Family:
    """Every process that descends from this one."""
    parents: dict[int, int] = {}
    births: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)], births[int(entry.name)] = int(fields[1]), fields[19]
    ours = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        ours |= more
        grown = bool(more)
    return frozenset((pid, births[pid]) for pid in ours if pid != os.getpid() and pid in births)


def still_alive(processes: Family) -> Family:
    """Those that have not disappeared within half a minute, unreaped ones included."""
    deadline = time.monotonic() + _END_S
    while left := frozenset(process for process in processes if _is_there(*process)):
        if time.monotonic() > deadline:
            return left
        time.sleep(0.002)
    return frozenset()


def _is_there(pid: int, birth: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == birth
