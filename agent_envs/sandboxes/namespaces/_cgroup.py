"""One control group per sandbox, which bounds the memory and the processes of all of it together.

It lives beside or below the group this process is in, never at the top of the machine, so that whatever bounds us
bounds our sandboxes as well. Works on version 1 and 2; nothing of ours is moved to another group for it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NAME = "agent-envs"
_CONTROLLERS = frozenset({"memory", "pids"})
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_REMOVAL_S = 2.0
"""How long killed processes may take to leave their group before it is left to the next `sweep`."""


@dataclass(frozen=True, slots=True)
class _Hierarchy:
    """Where this process may make groups."""

    version: str
    memory: Path
    pids: Path
    """The same folder as `memory` on version 2."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The distinct parents of a group."""
        return (self.memory,) if self.memory == self.pids else (self.memory, self.pids)


class MemoryGroup:
    """A control group with hard bounds on the memory and the number of processes in it."""

    def __init__(self, version: str, folders: tuple[Path, ...]) -> None:
        self._version = version
        self._folders = folders
        self._report = -1

    @staticmethod
    @functools.cache
    def available() -> str:
        """The version of control groups that can be used here, `v1` or `v2`, found by using one; empty where none.

        Raises `OSError` where there are too few descriptors, processes or too little memory to find out.
        """
        try:
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
                try:
                    group = MemoryGroup.create(memory_mb=64, processes=8)
                    try:
                        group.add(process.pid)
                    finally:
                        group.close()
                finally:
                    process.kill()
        except OSError as error:
            # Not remembered: what is exhausted now says nothing of the machine.
            if error.errno in _EXHAUSTED:
                raise
            return ""
        return group._version

    @classmethod
    def create(cls, *, memory_mb: int, processes: int) -> MemoryGroup:
        """Make an empty group; raises `OSError` where that is not possible."""
        hierarchy = _hierarchy()
        if hierarchy is None:
            raise OSError("no control group with the controllers memory and pids can be made by this process")
        # Others may have had our number and left groups, or have it now in another pid namespace.
        name = f"{_NAME}.{os.getpid()}.{secrets.token_hex(8)}"
        group = cls(hierarchy.version, tuple(parent / name for parent in hierarchy.folders))
        try:
            for folder in group._folders:
                folder.mkdir()
            group._limit(memory_mb << 20, processes)
        except OSError:
            group.close()
            raise
        return group

    def add(self, pid: int) -> None:
        """Move a process into the group; what it starts from then on is in it too."""
        for folder in self._folders:
            _write(f"{folder}/cgroup.procs", pid)

    def doors(self) -> list[int]:
        """Descriptors through which a process enters the group by writing `0`; for the caller to close.

        A thread that moves itself need not wait for the lock over all forks of the machine, which `add` takes, and who
        may enter was decided when the door was opened: the process itself may be nobody.
        """
        file = "tasks" if self._version == "v1" else "cgroup.procs"
        return [os.open(folder / file, os.O_WRONLY | os.O_CLOEXEC) for folder in self._folders]

    def oom_kills(self) -> int:
        """How many processes of the group the kernel has killed because the memory ran out."""
        report = "memory.oom_control" if self._version == "v1" else "memory.events"
        if self._report < 0:
            self._report = os.open(self._folders[0] / report, os.O_RDONLY | os.O_CLOEXEC)
        # Asked before every cell: reading an open file takes a tenth of opening it.
        counters = dict(line.split() for line in os.pread(self._report, 4096, 0).decode().splitlines())
        return int(counters["oom_kill"])

    def memory_peak_mb(self) -> float | None:
        """The most memory the group has held at once, or None where this kernel does not record it."""
        record = self._folders[0] / ("memory.max_usage_in_bytes" if self._version == "v1" else "memory.peak")
        return int(record.read_text()) / (1 << 20) if record.exists() else None

    def close(self) -> None:
        """Kill what is left in the group and remove it; idempotent."""
        if self._report >= 0:
            os.close(self._report)
            self._report = -1
        for folder in reversed(self._folders):
            _remove(folder)

    def _limit(self, memory: int, processes: int) -> None:
        folder = self._folders[0]
        if self._version == "v1":
            _write(f"{folder}/memory.limit_in_bytes", memory)
            # Without this bound a guest would spill over into the swap of the machine. Not every kernel counts swap.
            _write_if_there(f"{folder}/memory.memsw.limit_in_bytes", memory)
        else:
            _write(f"{folder}/memory.max", memory)
            _write_if_there(f"{folder}/memory.swap.max", 0)
        _write(f"{self._folders[-1]}/pids.max", processes)


def sweep() -> int:
    """Remove the groups that dead processes have left behind, and say how many there were."""
    hierarchy = _hierarchy()
    if hierarchy is None:
        return 0
    left = {path.name for parent in hierarchy.folders for path in parent.glob(f"{_NAME}.*.*") if _is_left_over(path)}
    for name in left:
        for parent in hierarchy.folders:
            _remove(parent / name)
    return len(left)


def _is_left_over(folder: Path) -> bool:
    owner = folder.name.split(".")[1]
    if not owner.isdigit() or Path("/proc", owner).exists():
        return False
    # Pid 0 is a process of a pid namespace that we cannot see into: the owner may live there.
    return 0 not in _members(folder)


@functools.cache
def _hierarchy() -> _Hierarchy | None:
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    one: dict[str, Path] = {}
    for controllers, mount in _mounts():
        for controller in controllers & _CONTROLLERS:
            path = next((path for names, path in own.items() if controller in names.split(",")), "/")
            one[controller] = _below(mount, path)
        if not controllers and "" in own:
            two = _enabled_parent(mount.point, _below(mount, own[""]))
            if two is not None:
                return _Hierarchy("v2", two, two)
    if set(one) == _CONTROLLERS and all(os.access(folder, os.W_OK) for folder in one.values()):
        return _Hierarchy("v1", one["memory"], one["pids"])
    return None


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mounted hierarchy: the part of it that begins at `root` is visible at `point`."""

    root: str
    point: Path


def _mounts() -> Iterator[tuple[frozenset[str], _Mount]]:
    """Every hierarchy with its version 1 controllers; none for version 2."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        here, _, there = line.partition(" - ")
        kind, _, options = there.split(" ", 2)
        mount = _Mount(here.split(" ")[3], Path(here.split(" ")[4]))
        if kind == "cgroup":
            yield frozenset(options.split(",")), mount
        elif kind == "cgroup2":
            yield frozenset(), mount


def _below(mount: _Mount, path: str) -> Path:
    relative = os.path.relpath(path, mount.root)
    return mount.point if relative.startswith("..") else mount.point / relative


def _enabled_parent(top: Path, own: Path) -> Path | None:
    """The nearest group at or above our own that hands both controllers on to its children and may be written by us."""
    for folder in (own, *own.parents):
        enabled = set(_read(folder / "cgroup.subtree_control").split())
        if enabled >= _CONTROLLERS and os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            return folder
        if folder == top:
            return None
    return None


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _REMOVAL_S
    while True:
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            _kill(folder)
            time.sleep(0.0005)
        else:
            return


def _kill(folder: Path) -> None:
    if (folder / "cgroup.kill").exists():
        # Whoever removes it at the same time may be faster.
        with contextlib.suppress(OSError):
            _write(f"{folder}/cgroup.kill", 1)
        return
    for pid in _members(folder):
        try:
            process = os.pidfd_open(pid)
        except OSError:
            continue
        # Looked up again behind the descriptor, because the number may belong to a stranger by now.
        if pid in _members(folder):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)


def _members(folder: Path) -> set[int]:
    return {int(line) for line in _read(folder / "cgroup.procs").split()}


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _write(path: str, value: int) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, b"%d" % value)
    finally:
        os.close(descriptor)


def _write_if_there(path: str, value: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        _write(path, value)
