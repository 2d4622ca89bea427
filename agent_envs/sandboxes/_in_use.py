"""Folders that are in use: who uses one holds a shared lock on it, and only who can lock it alone may remove it.

Unlike the number of a process, a lock means the same in every container that sees the folder, and ends with its holder.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def hold(folder: Path) -> int:
    """A descriptor that keeps others from removing the folder until it is closed.

    Raises `FileNotFoundError` where it is not there, also where it was removed while it was waited for.
    """
    return _locked(folder, fcntl.LOCK_SH)


def make_held(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, and the descriptor that holds it."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
        # Somebody who sweeps between the two takes it for one that was left.
        with suppress(FileNotFoundError):
            return folder, hold(folder)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether nobody holds the folder; as long as this lasts, nobody can."""
    try:
        descriptor = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        # Not by closing alone: a child that another thread forked meanwhile has the descriptor too.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def sweep(parent: Path, pattern: str, remove: Callable[[Path], None]) -> int:
    """Remove the folders that nobody holds, and say how many there were."""
    swept = 0
    for folder in parent.glob(pattern):
        with alone(folder) as unused:
            if unused:
                remove(folder)
                swept += not folder.exists()
    return swept


def _locked(folder: Path, how: int) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
        # By now another may stand in its place, or none.
        if not os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            raise FileNotFoundError(f"{folder} was replaced")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
