"""The files of the workspace, as process 1 reads and writes them: no path leaves it and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator

from agent_envs.sandboxes.namespaces import _kernel

PLACE = "/work"


class Refused(Exception):
    """What was asked cannot be done; the message is for the agent."""


def relative(path: str) -> str:
    """The path below the workspace; an absolute path must name it."""
    if "\0" in path:
        raise Refused(f"a path cannot hold a zero byte: {path!r}")
    if path == PLACE or path.startswith(PLACE + "/"):
        path = path[len(PLACE) :].lstrip("/")
    elif path.startswith("/"):
        raise Refused(f"{path} is outside the working directory {PLACE}")
    return path or "."


def read(folder: int, path: str, limit: int) -> bytes:
    """The content of a regular file of at most this many bytes."""
    try:
        descriptor = _kernel.open_beneath(folder, relative(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise Refused(_why(error, path)) from None
    try:
        _require_regular(descriptor, path)
        content = _read_up_to(descriptor, limit + 1)
    except OSError as error:
        raise Refused(_why(error, path)) from None
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise Refused(f"{path} is larger than the {limit} bytes that can be read at once")
    return content


def write(folder: int, path: str, content: bytes) -> None:
    """Replace or create a regular file, with the folders above it."""
    place = relative(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        _make_folders(folder, place)
        descriptor = _kernel.open_beneath(folder, place, flags, 0o644)
    except OSError as error:
        raise Refused(_why(error, path)) from None
    try:
        _require_regular(descriptor, path)
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise Refused(_why(error, path)) from None
    finally:
        os.close(descriptor)


def walk(folder: int, *, leave_out: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """All of the workspace but its folders: (path, why it is not carried), the latter empty for a regular file."""
    for path, mode, _ in scan(folder, leave_out=leave_out):
        if not stat.S_ISDIR(mode):
            yield path, _KINDS.get(stat.S_IFMT(mode), "not a regular file")


_KINDS = {stat.S_IFREG: "", stat.S_IFLNK: "a symbolic link", 0: "cannot be looked into"}


def pack(folder: int) -> Iterator[tuple[str, int, bytes]]:
    """All of the workspace as (path, mode, content): folders before what is in them, of a link its target.

    What is neither a file nor a folder nor a link stays behind. Raises `Refused` where something cannot be read.
    """
    for path, mode, target in scan(folder):
        if mode == 0:
            raise Refused(f"{path} cannot be looked into")
        if stat.S_ISREG(mode):
            yield path, mode, read(folder, path, 1 << 40)
        elif stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
            yield path, mode, os.fsencode(target)


def unpack(folder: int, entries: Iterable[tuple[str, int, bytes]]) -> None:
    """Make the workspace hold exactly what was packed."""
    os.fchdir(folder)
    for name in os.listdir():
        if os.path.isdir(name) and not os.path.islink(name):
            _remove_tree(name)
        else:
            os.unlink(name)
    modes = []
    for path, mode, content in entries:
        if stat.S_ISDIR(mode):
            _make_folders(folder, f"{path}/.")
        elif stat.S_ISLNK(mode):
            os.symlink(os.fsdecode(content), path)
            continue
        else:
            write(folder, path, content)
        modes.append((path, stat.S_IMODE(mode)))
    # Folders last, and the deepest first: one that may not be entered must be filled before.
    for path, permissions in reversed(modes):
        os.chmod(path, permissions)


def scan(
    folder: int, *, leave_out: Collection[str] = (), enter: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[str, int, str]]:
    """All of the workspace as (path, mode, target of a link), but for some paths and what is below them.

    `enter` says of every folder whether to look into it. The mode is 0 where a folder cannot be looked into.
    """
    waiting = ["."]
    while waiting:
        here = waiting.pop()
        try:
            descriptor = _kernel.open_beneath(folder, here, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            yield here, 0, ""
            continue
        try:
            for name in sorted(os.listdir(descriptor)):
                mode = os.lstat(name, dir_fd=descriptor).st_mode
                path = name if here == "." else f"{here}/{name}"
                if path in leave_out:
                    continue
                if stat.S_ISDIR(mode) and enter(path):
                    waiting.append(path)
                yield path, mode, os.readlink(name, dir_fd=descriptor) if stat.S_ISLNK(mode) else ""
        finally:
            os.close(descriptor)


def _remove_tree(place: str) -> None:
    # Not shutil: it would bring four compression libraries into every guest.
    for above, folders, files in os.walk(place, topdown=False):
        for name in files:
            os.unlink(f"{above}/{name}")
        for name in folders:
            path = f"{above}/{name}"
            (os.unlink if os.path.islink(path) else os.rmdir)(path)
    os.rmdir(place)


def _make_folders(folder: int, path: str) -> None:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        above, name = "/".join(parts[: depth - 1]) or ".", parts[depth - 1]
        if name in ("", "."):
            continue
        descriptor = _kernel.open_beneath(folder, above, os.O_PATH | os.O_DIRECTORY)
        try:
            os.mkdir(name, 0o755, dir_fd=descriptor)
        except FileExistsError:
            pass
        finally:
            os.close(descriptor)


def _require_regular(descriptor: int, path: str) -> None:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        raise Refused(f"{path} is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}")


def _read_up_to(descriptor: int, most: int) -> bytes:
    parts, left = [], most
    while left > 0:
        part = os.read(descriptor, min(left, 1 << 20))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _why(error: OSError, path: str) -> str:
    match type(error).__name__:
        case "FileNotFoundError":
            return f"there is no file {path}"
        case "IsADirectoryError":
            return f"{path} is a folder"
        case _ if error.errno in (18, 40):
            return f"{path} leaves the working directory, or passes through a link, which is not followed"
        case _:
            return f"{path}: {os.strerror(error.errno or 0)}"
