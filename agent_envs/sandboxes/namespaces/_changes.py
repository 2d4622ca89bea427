"""What a workspace over an image holds, and what of it differs from the image, as process 1 sees it.

A manifest is here what crosses the line to the host: path -> [kind, digest, executable].
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_envs.sandboxes.namespaces import _workspace

Told = Sequence[Any]
"""Kind, digest and whether it is executable."""

_LARGEST = 1 << 40
_EXECUTABLE = 0o111


@dataclass(slots=True)
class Changes:
    """The difference between a workspace and a manifest."""

    files: list[tuple[str, int, bool]] = field(default_factory=list)
    """Changed and added regular files: (path, size, whether it is executable)."""
    contents: list[bytes] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """The folder that takes what an episode writes over its image, out of the reach of every guest."""

    folder: int
    workspace: str

    def has(self, path: str) -> bool:
        """Whether anything has been written to this path of the workspace, or made or removed below it."""
        try:
            os.lstat(f"{self.workspace}/{path}".lstrip("/"), dir_fd=self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # A path beyond what the kernel takes: an image has none, so an episode has written it.
            return True
        return True


def manifest(folder: int, leave_out: Collection[str]) -> dict[str, Told]:
    """Everything below a folder but folders; raises `Refused` where something cannot be looked at."""
    found: dict[str, Told] = {}
    for path, mode, target in _entries(folder, leave_out):
        if mode == 0:
            raise _workspace.Refused(f"{path} cannot be looked into")
        if not _is_utf8(path):
            raise _workspace.Refused(f"the name of {_readable(path)} is not UTF-8")
        if stat.S_ISREG(mode):
            found[path] = ("file", _digest(_workspace.read(folder, path, _LARGEST)), bool(mode & _EXECUTABLE))
        elif stat.S_ISLNK(mode):
            found[path] = ("link", _digest(os.fsencode(target)), False)
        else:
            found[path] = ("other", "", False)
    return found


def changes(
    folder: int,
    base: Mapping[str, Told],
    most: int,
    *,
    leave_out: Collection[str],
    touched: Callable[[str], bool],
) -> Changes:
    """What differs from the base; the files carried have at most this many bytes together.

    `touched` says of a path whether anything in the episode has written to it: what is not is as it was.
    """
    found, seen, closed, same = Changes(), set(), [], []

    def enter(path: str) -> bool:
        if touched(path):
            return True
        same.append(path)
        return False

    for path, mode, target in _entries(folder, leave_out, enter):
        known = base.get(path)
        seen.add(path)
        if mode == 0:
            closed.append(path)
            found.rejected[_readable(path)] = "cannot be looked into"
        elif known is not None and not touched(path):
            continue
        elif stat.S_ISREG(mode):
            most -= _compare(folder, path, bool(mode & _EXECUTABLE), known, most, found)
        elif not _is_as_it_was(mode, target, known):
            found.rejected[_readable(path)] = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
    # Where nobody has looked nothing is known to be gone.
    hidden = tuple(f"{path}/" for path in (*closed, *same, *leave_out))
    gone = base.keys() - seen if "." not in closed else set()
    found.deleted = sorted(path for path in gone if not path.startswith(hidden))
    return found


def _compare(folder: int, path: str, executable: bool, known: Told | None, most: int, found: Changes) -> int:
    """Note a regular file where it differs, and say how much of the room it takes."""
    if not _is_utf8(path):
        found.rejected[_readable(path)] = "its name is not UTF-8"
        return 0
    try:
        # A file of the image may be larger than what may be carried: it is only compared, until it differs.
        content = _workspace.read(folder, path, _LARGEST if known else most)
    except _workspace.Refused as refusal:
        found.rejected[path] = str(refusal)
        return 0
    if known is not None and tuple(known) == ("file", _digest(content), executable):
        return 0
    if len(content) > most:
        found.rejected[path] = f"{path} is larger than the {most} bytes that are left to carry"
        return 0
    found.files.append((path, len(content), executable))
    found.contents.append(content)
    return len(content)


def _is_as_it_was(mode: int, target: str, known: Told | None) -> bool:
    if known is None:
        return False
    if stat.S_ISLNK(mode):
        return bool(known[0] == "link" and known[1] == _digest(os.fsencode(target)))
    return bool(known[0] == "other")


def _entries(
    folder: int, leave_out: Collection[str], enter: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[str, int, str]]:
    """All but folders; the mode is 0 for a folder that cannot be looked into."""
    for path, mode, target in _workspace.scan(folder, leave_out=leave_out, enter=enter):
        if not stat.S_ISDIR(mode):
            yield path, mode, target


def _digest(content: bytes) -> str:
    # Imported ahead by the zygote of images only: the library behind it would make every other sandbox dearer.
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _readable(path: str) -> str:
    return path if _is_utf8(path) else os.fsencode(path).decode("utf-8", "backslashreplace")
