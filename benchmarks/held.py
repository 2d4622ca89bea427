"""What an episode holds while it lives, and what is left of it afterwards: processes, descriptors, mounts, memory.

Only what descends from this process counts, so that a busy machine does not blur the answer.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Held:
    """What this process and everything below it hold."""

    processes: int
    threads: int
    descriptors: int
    mounts: int
    control_groups: int
    files: int
    """Entries of the folder for temporary files."""
    rss_mb: float
    """Of this process."""
    below_mb: float
    """Resident memory of the processes below it, together."""

    @classmethod
    def now(cls) -> Held:
        """Count."""
        below = descendants(os.getpid())
        processes = [os.getpid(), *below]
        return cls(
            processes=len(below),
            threads=sum(_entries(Path(f"/proc/{pid}/task")) for pid in processes),
            descriptors=sum(_entries(Path(f"/proc/{pid}/fd")) for pid in processes),
            mounts=sum(_mounts(pid) for pid in processes),
            control_groups=sum(_groups_of(pid) for pid in processes),
            files=_entries(Path(tempfile.gettempdir())),
            rss_mb=_resident_mb(os.getpid()),
            below_mb=sum(map(_resident_mb, below)),
        )

    def grown(self, before: Held) -> str:
        """What there is more of than `before`, memory left aside; empty where nothing is."""
        counts = [field.name for field in fields(self) if not field.name.endswith("_mb")]
        more = {name: getattr(self, name) - getattr(before, name) for name in counts}
        return ", ".join(f"{extra} {name.replace('_', ' ')}" for name, extra in more.items() if extra > 0)


def adopt_orphans() -> None:
    """Become the parent of whatever a child leaves behind when it ends, so that it is found."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses to make this process a reaper of orphans")


def descendants(root: int) -> list[int]:
    """The processes below `root`, without those that have ended and only wait to be collected."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        status = _read(folder / "stat").rpartition(")")[2].split()
        if status and status[0] != "Z":
            children.setdefault(int(status[1]), []).append(int(folder.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def still_there(pids: set[int]) -> set[int]:
    """Those that do not end by themselves within a second."""
    deadline = time.monotonic() + 1
    while pids and time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        pids &= set(descendants(os.getpid()))
        time.sleep(0.05)
    return pids


def private_mb(pid: int) -> float:
    """Memory that would be free if this process were not there."""
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty:", "Private_Clean:"))) / 1024


def proportional_mb(pid: int) -> float:
    """Memory of this process, where what it shares with others is split among them."""
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def program(pid: int) -> str:
    """The name of the file that this process runs; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def _resident_mb(pid: int) -> float:
    resident = [line for line in _read(Path(f"/proc/{pid}/status")).splitlines() if line.startswith("VmRSS:")]
    return int(resident[0].split()[1]) / 1024 if resident else 0.0


def _groups_of(pid: int) -> int:
    """Control groups that a process made: they carry its number in their name."""
    # Unlike a glob, a walk does not mind that the groups of others end while it looks.
    return sum(name.startswith(f"agent-envs.{pid}.") for _, names, _ in os.walk("/sys/fs/cgroup") for name in names)


def _entries(folder: Path) -> int:
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0


def _mounts(pid: int) -> int:
    """What is mounted where this process looks, but for what a Docker engine has mounted for its containers."""
    return sum("/docker/" not in line for line in _read(Path(f"/proc/{pid}/mountinfo")).splitlines())


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
