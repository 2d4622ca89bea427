"""debootstrap: makes the standard base out of Debian's packages, for the store of roots and for Docker alike."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from agent_envs.errors import SandboxUnavailable, boundary

_PROGRAM = "debootstrap"
_OPTIONS = ("--variant=minbase", "--include=python3,python3-pytest,git,procps", "bookworm")
_WAIT_S = 1800.0
_OWN_MOUNTS = ("unshare", "-m")


def lacking() -> str:
    """What keeps it from being run here; empty where nothing does."""
    if shutil.which(_PROGRAM, path=_path()) is None:
        return f"{_PROGRAM} is not installed"
    return "" if os.geteuid() == 0 else f"{_PROGRAM} needs root"


def debootstrap(root: Path) -> None:
    """Make a root file system in a new folder; nothing of it stays mounted, however it ends."""
    with boundary(SandboxUnavailable, f"make a root file system with {_PROGRAM}"):
        # It mounts /proc and /sys, and could not unmount them where it is killed. Who may not have mounts of its own
        # cannot mount anything either, and then debootstrap does without.
        tried = subprocess.run([*_OWN_MOUNTS, "true"], capture_output=True, check=False)
        _run([*(() if tried.returncode else _OWN_MOUNTS), _PROGRAM, *_OPTIONS, str(root)])


def _run(command: list[str]) -> None:
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "PATH": _path()},
    ) as process:
        try:
            output, _ = process.communicate(timeout=_WAIT_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        tail = " | ".join(output.decode(errors="replace").strip().splitlines()[-5:])
        raise SandboxUnavailable(f"{' '.join(command)} failed with exit status {process.returncode}: {tail}")


def _path() -> str:
    # Where programs of the administrator are, whatever our own PATH says.
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
