"""A workspace as the engine hands it out, read defensively: nothing of it is ever put on our disk.

The archive is written by the engine, but its names, targets and sizes are the guest's.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import BinaryIO, cast

from agent_envs.artifact import Artifact
from agent_envs.errors import SandboxDied
from agent_envs.sandboxes.images import Entry, Manifest

_PIECE = 1 << 20
_MOST_ENTRIES = 500_000
_LONGEST_PATH = 4096
_ROOM = 4 << 30
"""How much of an archive is read, beyond which a workspace counts as absurd."""

_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.FIFOTYPE: "not a regular file (a pipe)",
    tarfile.CHRTYPE: "not a regular file (a device)",
    tarfile.BLKTYPE: "not a regular file (a device)",
}


@dataclass(slots=True)
class Found:
    """One entry of a workspace; the content of a file where it was kept."""

    path: str
    entry: Entry
    content: bytes | None = None
    why: str = ""
    """Why it cannot be carried, whatever is in it."""
    same_as: str = ""
    """The path of the file that this is a second name of."""


class Pieces(io.RawIOBase):
    """The pieces of an answer as a file that is read once, up to a bound."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""
        self._left = _ROOM

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, target: object) -> int:
        """Fill as much as the next piece does."""
        view = memoryview(cast(bytearray, target)).cast("B")
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        size = min(len(view), len(self._rest), self._left)
        if not size:
            raise Endless
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        self._left -= size
        return size


class Endless(Exception):
    """The archive goes on beyond every sensible bound."""


@dataclass(slots=True)
class _Walk:
    keep: int
    """The largest content that is kept."""
    seen: dict[str, Found] = field(default_factory=dict)
    count: int = 0

    def entries(self, archive: tarfile.TarFile) -> Iterator[Found]:
        for member in archive:
            # The library remembers every one of them otherwise.
            vars(archive)["members"] = []
            self.count += 1
            if self.count > _MOST_ENTRIES:
                raise Endless
            found = self._look(archive, member)
            if found is not None:
                yield found

    def _look(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Found | None:
        path = member.name.partition("/")[2]
        if not path and not member.isdir():
            return Found(".", Entry("other"), why="the workspace is not a folder any more")
        if not path or member.isdir() or path == ".git" or path.startswith(".git/"):
            return None
        shown, why = _named(path)
        if shown in self.seen:
            return Found(shown, Entry("other"), why="it is in the archive twice")
        found = self._read(archive, member, shown)
        found.why = why or found.why
        self.seen[shown] = Found(shown, found.entry)
        return found

    def _read(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> Found:
        if member.isreg():
            digest, content = _content(archive, member, self.keep)
            return Found(path, Entry("file", digest, bool(member.mode & 0o111)), content)
        if member.islnk():
            target = self.seen.get(_named(member.linkname.partition("/")[2])[0])
            if target is not None and target.entry.kind == "file":
                return Found(path, target.entry, same_as=target.path)
            return Found(path, Entry("other"), why="a second name of something that is not in the workspace")
        if member.issym():
            digest = sha256(member.linkname.encode("utf-8", "surrogateescape")).hexdigest()
            return Found(path, Entry("link", digest), why=_KINDS[tarfile.SYMTYPE])
        return Found(path, Entry("other"), why=_KINDS.get(member.type, "not a regular file"))


def walk(pieces: Iterable[bytes], *, keep: int) -> Iterator[Found]:
    """Everything below the top folder of an archive but folders and `.git`; raises `Endless` where it is absurd."""
    try:
        stream = cast(BinaryIO, Pieces(pieces))
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_PIECE, errorlevel=0) as archive:
            yield from _Walk(keep).entries(archive)
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise SandboxDied(f"the archive of the workspace cannot be read: {error}") from error


def manifest(pieces: Iterable[bytes]) -> Manifest:
    """What is in the archive of an image's workspace."""
    return {found.path: found.entry for found in walk(pieces, keep=0) if not found.why or found.entry.kind != "other"}


def changes(pieces: Iterable[bytes], base: Manifest, *, max_bytes: int) -> Artifact:
    """What differs from the base: files added or changed, what is not carried and why, and what is gone."""
    files: dict[str, bytes] = {}
    rejected: dict[str, str] = {}
    executable: list[str] = []
    missing = set(base)
    left = max_bytes
    try:
        for found in walk(pieces, keep=max_bytes):
            missing.discard(found.path)
            if base.get(found.path) == found.entry and found.entry.kind != "other":
                continue
            content = files.get(found.same_as) if found.same_as else found.content
            if found.why or content is None or len(content) > left:
                rejected[found.path] = found.why or _not_kept(found, max_bytes)
                files.pop(found.path, None)
                continue
            left -= len(content)
            files[found.path] = content
            if found.entry.executable:
                executable.append(found.path)
    except Endless:
        rejected["."] = f"the workspace is absurdly large (more than {_ROOM >> 30} GiB or {_MOST_ENTRIES} entries)"
        missing = set()
    return Artifact(
        files=files,
        rejected=rejected,
        state={"deleted": sorted(missing), "executable": sorted(set(executable) & files.keys())},
    )


def _not_kept(found: Found, max_bytes: int) -> str:
    if found.same_as:
        return f"a second name (hard link) of {found.same_as}, which is not carried itself"
    return f"too large: {max_bytes} bytes are carried in all"


def _named(path: str) -> tuple[str, str]:
    """The path as it can be told, and why it cannot be carried under that name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), "its name is not UTF-8"
    if len(path) > _LONGEST_PATH or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return path[:_LONGEST_PATH], "its name leads out of the workspace, or is absurd"
    return path, ""


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, keep: int) -> tuple[str, bytes | None]:
    file = archive.extractfile(member)
    assert file is not None
    if member.size <= min(keep, _PIECE):
        content = file.read()
        return sha256(content).hexdigest(), content
    digest, parts = sha256(), []
    while piece := file.read(_PIECE):
        digest.update(piece)
        if member.size <= keep:
            parts.append(piece)
    return digest.hexdigest(), b"".join(parts) if member.size <= keep else None
