"""Playwright's driver, one per process, under a warden that outlives us long enough to clean up after us.

Everything that driver and browsers write goes into one folder, which the warden removes; what a killed warden left is
removed by the next driver that starts on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from agent_envs.browser import guest_warden
from agent_envs.browser._ends import when_gone
from agent_envs.errors import MissingExtra, SandboxUnavailable

if TYPE_CHECKING:
    from playwright.async_api import Playwright

_PREFIX = "agent-envs-browser-"
_NODE = "PLAYWRIGHT_NODEJS_PATH"
"""The environment variable by which Playwright is told what to start as its driver."""
_NODE_FLAGS = ("--max-semi-space-size=1",)
"""What it forgets is collected at every megabyte, instead of at every sixteen: 50 MB less, and no slower."""


class Driver:
    """The running driver of this process."""

    def __init__(self, playwright: Playwright, folder: Path) -> None:
        self.playwright = playwright
        self.folder = folder
        self._note = folder / "warden"
        self.warden = int(self._note.read_text())
        """The process at the root of everything that it starts."""
        self.ended = asyncio.Event()
        """Set when it has ended or is about to."""
        self._endings = WeakSet([self.ended])
        self._began = _began(self.warden)
        # The warden ends later than the driver: only once it has cleaned up.
        for process in (self.warden, *guest_warden.children(self.warden)):
            when_gone(process, self._end)

    @property
    def alive(self) -> bool:
        """Whether its warden lives and has not cleaned up yet: a killed one takes the driver along, not the folder."""
        return not self.ended.is_set() and self._warden_lives() and self._note.exists()

    async def close(self) -> None:
        """End the driver, and with it every browser it has started; idempotent."""
        with contextlib.suppress(Exception):  # whatever it has to say, it is ended by force below
            await self.playwright.stop()
        self.kill()

    def kill(self) -> None:
        """Tell the warden to end everything at once."""
        self._end()
        if self._warden_lives():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.warden, signal.SIGTERM)

    def takes_along(self, ending: asyncio.Event) -> None:
        """Set this event together with `ended`: that of something which cannot be without the driver."""
        self._endings.add(ending)
        if self.ended.is_set():
            ending.set()

    def _end(self) -> None:
        for ending in list(self._endings):
            ending.set()

    def _warden_lives(self) -> bool:
        """Whether it is the warden still that has its number."""
        return bool(self._began) and _began(self.warden) == self._began


async def start_driver() -> Driver:
    """Start it; raises `MissingExtra` without Playwright, `SandboxUnavailable` where it does not start."""
    try:
        import playwright
        from playwright.async_api import Error, async_playwright
    except ImportError as error:
        raise MissingExtra("playwright", extra="web") from error
    sweep()
    own = os.environ.get(_NODE)
    if own is not None and Path(own).parent.name.startswith(_PREFIX):
        # Set by the process that started this one, while its own driver started: that program is for itself alone.
        own = None
    node = own or str(Path(playwright.__file__).parent / "driver" / "node")
    with _held_folder() as folder:
        os.environ[_NODE] = str(_program(folder, node))
        try:
            return Driver(await async_playwright().start(), folder)
        except (Error, OSError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise SandboxUnavailable(
                f"Playwright's driver does not start: {error}; programs must be allowed to run in {folder.parent}"
            ) from error
        finally:
            if own is None:
                del os.environ[_NODE]
            else:
                os.environ[_NODE] = own


def sweep() -> None:
    """Remove the folders whose wardens are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}{os.getuid()}-*"):
        with contextlib.suppress(OSError), open(folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            fcntl.flock(lock, fcntl.LOCK_UN)


@contextlib.contextmanager
def _held_folder() -> Iterator[Path]:
    """A new folder, with a lock that tells others that it is in use, until the warden holds that too."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getuid()}-"))
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if (folder / "lock").exists():
                try:
                    yield folder
                finally:
                    # Not by closing it alone: a child that was forked meanwhile holds it open too.
                    fcntl.flock(lock, fcntl.LOCK_UN)
                return
        # Another process swept between the two, and took it for one that was left.


def _began(pid: int) -> bytes:
    """When a process began, which tells it from a later one of its number; empty where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return b""
    return b"" if fields[0] in (b"Z", b"X") else fields[19]


def _program(folder: Path, node: str) -> Path:
    """A program that Playwright starts as if it were Node.js."""
    warden = [sys.executable, "-I", "-S", guest_warden.__file__, str(os.getpid()), str(folder), node, *_NODE_FLAGS]
    program = folder / "node"
    program.write_text(f'#!/bin/sh\nexport TMPDIR={shlex.quote(str(folder))}\nexec {shlex.join(warden)} "$@"\n')
    program.chmod(0o700)
    return program
