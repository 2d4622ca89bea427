"""Patches as data: what is done to which file, what paths may be named, and the text that says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent_envs.errors import TaskError

DEV_NULL = "/dev/null"
FILE_MODES = ("100644", "100755")
_NO_NEWLINE = b"\\ No newline at end of file"
_UNUSUAL = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')


@dataclass(frozen=True, slots=True)
class Hunk:
    """One changed stretch of a file."""

    old_start: int
    """The first line in the base, from 1; with no old lines, the line after which the new ones come."""
    new_start: int
    lines: tuple[tuple[str, bytes], ...]
    """A mark (` `, `-` or `+`) and a line with its line feed, which only the last line of a file may lack."""

    @property
    def old(self) -> tuple[bytes, ...]:
        """The lines that the base must have."""
        return tuple(line for mark, line in self.lines if mark != "+")

    @property
    def new(self) -> tuple[bytes, ...]:
        """The lines that take their place."""
        return tuple(line for mark, line in self.lines if mark != "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file."""

    path: str
    """In the base; where the file is created, what it is called."""
    new_path: str
    """Afterwards; differs from `path` where the file is renamed or copied."""
    created: bool = False
    deleted: bool = False
    copied: bool = False
    """The file at `path` stays as it is."""
    old_mode: str = ""
    """`100644`, `100755`, or empty where the patch does not say."""
    new_mode: str = ""
    hunks: tuple[Hunk, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths that are no longer what they were."""
        return (self.new_path,) if self.copied or self.path == self.new_path else (self.path, self.new_path)


def render(files: Iterable[FilePatch]) -> bytes:
    """A patch that `parse` reads as the same files, and that `git apply` applies."""
    return b"".join(map(_rendered, files))


def check_path(path: str) -> str:
    """The path, if it is one inside a repository; else `TaskError` naming the rule that it breaks."""
    parts = path.split("/")
    problem = ""
    if "\0" in path:
        problem = "holds a NUL byte"
    elif path.startswith("/"):
        problem = "is absolute"
    elif ".." in parts:
        problem = "leaves the repository with `..`"
    elif any(part.lower() == ".git" for part in parts):
        problem = "reaches into `.git`"
    elif "" in parts or "." in parts:
        problem = "has an empty part or a `.`"
    if problem:
        raise TaskError(f"the path {path!r} {problem}; a patch may change files of its repository only")
    return path


def _rendered(file: FilePatch) -> bytes:
    old, new = _quoted(f"a/{file.path}"), _quoted(f"b/{file.new_path}")
    lines = [b"diff --git %s %s" % (old, new)]
    if file.created or file.deleted:
        word, mode = ("new", file.new_mode) if file.created else ("deleted", file.old_mode)
        lines.append(f"{word} file mode {mode or FILE_MODES[0]}".encode())
    elif file.new_mode:
        lines += [f"old mode {file.old_mode or FILE_MODES[0]}".encode(), f"new mode {file.new_mode}".encode()]
    if file.path != file.new_path:
        word = "copy" if file.copied else "rename"
        lines += [f"{word} from ".encode() + _quoted(file.path), f"{word} to ".encode() + _quoted(file.new_path)]
    if file.hunks:
        lines.append(b"--- " + (DEV_NULL.encode() if file.created else _ended(old)))
        lines.append(b"+++ " + (DEV_NULL.encode() if file.deleted else _ended(new)))
    return b"\n".join(lines) + b"\n" + b"".join(map(_rendered_hunk, file.hunks))


def _rendered_hunk(hunk: Hunk) -> bytes:
    numbers = (hunk.old_start, len(hunk.old), hunk.new_start, len(hunk.new))
    body = [
        mark.encode() + line if line.endswith(b"\n") else b"%s%s\n%s\n" % (mark.encode(), line, _NO_NEWLINE)
        for mark, line in hunk.lines
    ]
    return b"@@ -%d,%d +%d,%d @@\n" % numbers + b"".join(body)


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8")
    if not _UNUSUAL.search(raw):
        return raw
    return b'"' + _UNUSUAL.sub(lambda match: b"\\%03o" % match[0][0], raw) + b'"'


def _ended(name: bytes) -> bytes:
    """A name that ends with a tab where it holds a space, as git writes it."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name
