"""A folder that is held stays, and whoever waits for a lock is not kept waiting by strangers."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent_envs import json_lines
from agent_envs.sandboxes import _in_use
from agent_envs.sandboxes.roots.store import Store

# The child of a fork does nothing that could need them.
threads_are_no_matter = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def test_what_is_held_is_not_swept(tmp_path: Path) -> None:
    folder, held = _in_use.make_held(tmp_path, "1-")
    assert (_in_use.sweep(tmp_path, "1-*", shutil.rmtree), folder.exists()) == (0, True)
    os.close(held)
    assert (_in_use.sweep(tmp_path, "1-*", shutil.rmtree), folder.exists()) == (1, False)


def test_what_was_removed_while_it_was_waited_for_is_not_held(tmp_path: Path, eventually: Callable[..., None]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    waits = f":{folder.stat().st_ino} "
    with ThreadPoolExecutor(1) as thread:
        with _in_use.alone(folder) as unused:
            assert unused
            waiting = thread.submit(_in_use.hold, folder)
            eventually(
                lambda: any("->" in line and waits in line for line in Path("/proc/locks").read_text().splitlines())
            )
            folder.rmdir()
        with pytest.raises(FileNotFoundError):
            waiting.result()


@contextmanager
def forked_child() -> Iterator[None]:
    """A child that has every descriptor that we have, as one of `multiprocessing` has, and does nothing."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(there)
        os.read(here, 1)
        os._exit(0)
    try:
        yield
    finally:
        os.close(there)
        os.close(here)
        os.waitpid(child, 0)


@threads_are_no_matter
def test_a_child_forked_meanwhile_does_not_keep_a_folder_or_an_image_locked(tmp_path: Path) -> None:
    store = Store(tmp_path).open()
    with ExitStack() as children:
        with _in_use.alone(tmp_path), store.lock("images/one"):
            children.enter_context(forked_child())
        with _in_use.alone(tmp_path) as unused:
            assert unused
        with (store.folder / "locks" / "images-one").open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@threads_are_no_matter
def test_a_child_forked_meanwhile_does_not_keep_a_file_of_lines_locked(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)
    with ThreadPoolExecutor(1) as thread:
        # More than a pipe holds: where some of it can be read, the writer still has the lock.
        writer = thread.submit(json_lines.append, pipe, b"x" * (1 << 20))
        left = (1 << 20) + 1 - len(os.read(reader, 1))
        with forked_child():
            while left:
                left -= len(os.read(reader, left))
            writer.result()
            fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(reader)
