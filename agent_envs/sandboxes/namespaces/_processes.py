"""The processes of a sandbox, as process 1 sees and ends them: all are stopped first, so that none can multiply."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")
_GONE_S = 5.0
"""A killed process is gone within milliseconds; this only bounds the wait."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process, as /proc shows it."""

    pid: int
    parent: int
    session: int
    started: int
    """In ticks since boot, as `now` counts."""
    dead: bool


def now() -> int:
    """The present in the unit of `Process.started`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


class Newest:
    """The last number that the kernel has given to a process or thread of this sandbox.

    While the process of that number has not been waited for, it is also the last one that was made: it has started
    nothing, and nothing needs to be looked for.
    """

    def __init__(self) -> None:
        self._load = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)

    def pid(self) -> int:
        """That number, as of now."""
        return int(os.pread(self._load, 128, 0).split()[4])


def ended_child() -> int:
    """The pid of a child that has ended and is still to be waited for, or 0."""
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return 0
    return ended.si_pid if ended is not None else 0


def living() -> dict[int, Process]:
    """Every process of this sandbox but process 1."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            process = _look_at(name)
            if process is not None and not process.dead:
                found[process.pid] = process
    return found


def _look_at(pid: str) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of a program may hold anything, brackets included.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(int(pid), int(fields[1]), int(fields[3]), int(fields[19]), fields[0] in (b"Z", b"X"))


def family(processes: dict[int, Process], root: int, session: int) -> set[int]:
    """The process `root`, what descends from it, and what shares the terminal session it was started in."""
    found = {process.pid for process in processes.values() if process.session == session}
    found.add(root)
    while True:
        more = {process.pid for process in processes.values() if process.parent in found} - found
        if not more:
            return found
        found |= more


def stop_all() -> dict[int, Process]:
    """Stop every process but process 1, in one step that no fork can slip through, and say which there are."""
    _signal(-1, signal.SIGSTOP)
    return living()


def end(victims: Iterable[int], survivors: Iterable[int]) -> None:
    """Kill the first and let the second go on."""
    for pid in victims:
        _signal(pid, signal.SIGKILL)
    for pid in survivors:
        _signal(pid, signal.SIGCONT)


def end_all() -> None:
    """Kill every process but process 1."""
    _signal(-1, signal.SIGKILL)


def wait_until_gone(pids: Iterable[int]) -> None:
    """Wait for killed processes that are not our children, so that none of them can still write a file."""
    deadline = time.monotonic() + _GONE_S
    for pid in pids:
        process = _look_at(str(pid))
        while process is not None and not process.dead and time.monotonic() < deadline:
            time.sleep(0.0002)
            process = _look_at(str(pid))


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
