"""The program of the process at the root of a browser's tree: whatever happens to the owner, nothing of it stays.

Started in place of Playwright's driver, as `warden.py OWNER FOLDER DRIVER ARGUMENTS...`, it starts the driver and
waits. When the driver ends, or the owner dies (the kernel says so), it kills every process that descends from it and
removes FOLDER. Needs the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def prctl(option: int, value: int) -> None:
    """Change how the kernel treats this process."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_the_warden() -> None:
    """Runs in the driver before its program does."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def children(of: int) -> list[int]:
    """The living children of a process; orphans below the warden become its children."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:
            state, parent = stat.read().rpartition(b") ")[2].split()[:2]
            if int(parent) == of and state != b"Z":
                found.append(int(name))
    return found


def reap() -> set[int]:
    """Take notice of the children that have ended."""
    ended = set()
    with contextlib.suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            ended.add(pid)
    return ended


def end_everything() -> None:
    """Kill the children, then those who become children by that, until there is none."""
    for _ in range(200):
        living = children(os.getpid())
        if not living:
            break
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
    reap()


def main(owner: int, folder: str, *driver: str) -> None:
    """Run the driver to its end, or to the owner's."""
    awaited = {signal.SIGCHLD, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != owner:
        # Started by another process, which found this program in its environment; or the owner is gone already, and
        # then the next driver that starts on this machine removes the folder.
        return
    # Held while this process lives: it tells others that the folder is in use.
    fcntl.flock(os.open(os.path.join(folder, "lock"), os.O_RDONLY), fcntl.LOCK_SH)
    with open(os.path.join(folder, "warden"), "w") as note:
        note.write(str(os.getpid()))
    try:
        started = subprocess.Popen(driver, preexec_fn=die_with_the_warden)
        # The pipes are the driver's: while the warden held them too, neither end would see the other one close.
        for stream in (0, 1):
            os.close(stream)
        while signal.sigwait(awaited) != signal.SIGTERM and started.pid not in reap():
            pass
    finally:
        end_everything()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
