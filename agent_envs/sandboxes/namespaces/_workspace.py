"""The files of the workspace, as process 1 reads and writes them: no path leaves it and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

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


def walk(folder: int) -> Iterator[tuple[str, str]]:
    """All of the workspace but its folders: (path, why it is not carried), the latter empty for a regular file."""
    waiting = ["."]
    while waiting:
        here = waiting.pop()
        try:
            descriptor = _kernel.open_beneath(folder, here, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            yield here, os.strerror(error.errno or 0)
            continue
        try:
            with os.scandir(descriptor) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    path = entry.name if here == "." else f"{here}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    else:
                        yield path, _kind(entry)
        finally:
            os.close(descriptor)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link"
    return "" if entry.is_file(follow_symlinks=False) else "not a regular file"


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
