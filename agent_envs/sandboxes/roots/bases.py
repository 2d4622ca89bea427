"""How this machine comes by a root file system: a tar file that is named, debootstrap, or what Docker has."""

from __future__ import annotations

import io
import os
import posixpath
import shutil
import stat
import tarfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from agent_envs.errors import MissingExtra, SandboxUnavailable, boundary
from agent_envs.sandboxes import _debootstrap
from agent_envs.sandboxes.images import Recipe
from agent_envs.sandboxes.roots.store import Store, digest_of

if TYPE_CHECKING:
    # At run time where it is used: most machines make the base without it.
    from agent_envs.sandboxes.docker import DockerEngine

TAR_VARIABLE = "AGENT_ENVS_ROOT_TAR"
"""The environment variable that names a tar file (of `docker export`, say) to take as the standard base."""

_STANDARD = "bases/standard"
_SHORTEST = 16
# What the machine that made the root has left in it, what every sandbox gets anew, and what no program reads.
_UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale")
_LEFT = (".dockerenv",)
_EMPTIED = ("dev", "proc", "sys", "tmp", "run", "var/cache/apt", "var/lib/apt/lists", *_UNREAD)


@dataclass(frozen=True, slots=True)
class Base:
    """A stored root file system."""

    name: str
    """Of its folder in the store."""
    digest: str

    @property
    def layer(self) -> str:
        """The folder of its files, below the store."""
        return f"{self.name}/root"


def standard_base(store: Store) -> Base:
    """The standard base, made where the store does not hold it yet.

    Raises `SandboxUnavailable` with the commands that would help where it can be had in no way.
    """
    tar = os.environ.get(TAR_VARIABLE, "")
    name = _name_of(tar) if tar else _STANDARD
    if (base := _stored(store, name)) is not None:
        return base
    with store.lock(name):
        if (base := _stored(store, name)) is not None:
            return base
        with boundary(SandboxUnavailable, f"make a root file system in {store.folder}"), store.making() as made:
            root = made / "root"
            if tar:
                with tarfile.open(tar, "r|*") as archive:
                    _unpack(archive, root)
            else:
                _make_standard(root)
            _clean(root)
            store.own(root)
            store.put(made, name, {"digest": digest_of(root)})
    base = _stored(store, name)
    assert base is not None
    return base


def _stored(store: Store, name: str) -> Base | None:
    about = store.about(name)
    return None if about is None else Base(name, about["digest"])


def _name_of(tar: str) -> str:
    try:
        found = os.stat(tar)
    except OSError as error:
        raise SandboxUnavailable(
            f"{TAR_VARIABLE} names {tar!r}, which cannot be read ({error.strerror}); expected a tar file of a root "
            "file system, as `docker export` writes it"
        ) from error
    key = f"{os.path.realpath(tar)}\0{found.st_size}\0{found.st_mtime_ns}"
    return f"bases/tar-{sha256(key.encode()).hexdigest()[:_SHORTEST]}"


def require_standard_base(store: Store) -> None:
    """Raises `SandboxUnavailable` with the commands that would help where the standard base can be had in no way."""
    tar = os.environ.get(TAR_VARIABLE, "")
    if tar:
        _name_of(tar)
    elif _stored(store, _STANDARD) is None and _debootstrap.lacking():
        _reach_docker().close()


def _make_standard(root: Path) -> None:
    if _debootstrap.lacking():
        with closing(_reach_docker()) as engine:
            _export(engine.build(Recipe()).digest, root)
    else:
        _debootstrap.debootstrap(root)


def _reach_docker() -> DockerEngine:
    from agent_envs.sandboxes.docker import DockerEngine

    engine = DockerEngine()
    try:
        engine.connect()
    except (SandboxUnavailable, MissingExtra) as error:
        raise SandboxUnavailable(
            f"there is no root file system to start from: {_debootstrap.lacking()}, and Docker gives none ({error}). "
            f"One of these would help: as root, apt-get install debootstrap; {TAR_VARIABLE}=FILE, a tar file of one, "
            "for instance of `docker create --name root IMAGE && docker export root > root.tar`"
        ) from error
    return engine


def _export(image: str, root: Path) -> None:
    """Copy an image of the Docker engine."""
    import docker

    with closing(docker.from_env()) as client:
        container = client.containers.create(image, network_mode="none")
        try:
            with tarfile.open(fileobj=_Pieces(container.export()), mode="r|") as archive:
                _unpack(archive, root)
        finally:
            container.remove(force=True)


class _Pieces(io.RawIOBase):
    """Pieces of bytes, as a file that is read once."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """As much as is asked for, less only at the end."""
        parts, left = [], size
        while left and (self._rest or (piece := next(self._pieces, b""))):
            self._rest = self._rest or piece
            parts.append(self._rest[:left])
            self._rest = self._rest[left:]
            left -= len(parts[-1])
        return b"".join(parts)


def _unpack(archive: tarfile.TarFile, root: Path) -> None:
    root.mkdir()
    # What a filter of the library would refuse is refused here, in the same way under every version of it.
    archive.extraction_filter = lambda member, path: member
    for member in archive:
        if member.isreg() or member.isdir() or member.issym() or member.islnk():
            _extract(archive, member, str(root))
    if not (root / "bin/sh").is_symlink() and not (root / "bin/sh").exists():
        raise SandboxUnavailable("the tar file holds no root file system: there is no /bin/sh in it")


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, root: str) -> None:
    _require_inside(member.name, root)
    if member.islnk():
        _require_inside(member.linkname, root)
    member.uid, member.gid = os.geteuid(), os.getegid()
    member.uname = member.gname = ""
    # No set-uid program, and nothing that its owner, who is everybody inside, could not read.
    member.mode = member.mode & 0o1777 | (stat.S_IRWXU if member.isdir() else stat.S_IRUSR | stat.S_IWUSR)
    archive.extract(member, root, numeric_owner=True)


def _require_inside(name: str, root: str) -> None:
    place = posixpath.normpath(name)
    above = os.path.realpath(os.path.join(root, os.path.dirname(place)))
    if place.startswith(("/", "../")) or place == ".." or not f"{above}/".startswith(f"{root}/"):
        raise SandboxUnavailable(f"the tar file holds {name!r}, which leads out of the root file system; refused")


def _clean(root: Path) -> None:
    for name in _EMPTIED:
        place = root / name
        if place.is_dir() and not place.is_symlink():
            for path in place.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
    for name in _LEFT:
        (root / name).unlink(missing_ok=True)
    for path in root.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISBLK(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode):
            path.unlink()
