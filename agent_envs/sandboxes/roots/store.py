"""Where root file systems and images lie: folders that are made whole, then renamed into place and never changed again.

bases/NAME/{root/, about.json}       a root file system
images/KEY/{layer/, about.json}      what a recipe adds to one
making/PID-NAME/                     what is being made; left over only where its maker was killed
locks/NAME                           held while it is made, so that two processes do not make the same twice

Who uses an image, and who makes something, holds its folder, and nothing that is held is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent_envs.sandboxes import _in_use
from agent_envs.sandboxes.images import BuiltImage
from agent_envs.sandboxes.namespaces import _plan

_FORMAT = "v1"
_ABOUT = "about.json"
_PIECE = 1 << 20


def default_folder() -> Path:
    """The folder for roots in this user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-envs" / "roots"


class Store:
    """The stored roots and images of one folder, owned by the user that guests are outside of their sandboxes."""

    def __init__(self, folder: Path) -> None:
        self.owner = _plan.outer_id()
        # Whose the files are decides who can use them: what root has stored is of no use to another user.
        self.folder = Path(os.path.realpath(folder)) / f"{_FORMAT}-{self.owner}"

    def open(self) -> Store:
        """Make its folders where they are missing."""
        # Where it is ours to say: others need neither read what is in the images nor run what was left in them.
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("bases", "images", "making", "locks"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            # Whatever the umask says: the nobody that guests are must be able to pass.
            (self.folder / name).chmod(0o755)
        self.folder.chmod(0o755)
        return self

    def about(self, name: str) -> dict[str, Any] | None:
        """What is written beside a stored folder, or None where there is no such folder."""
        try:
            content: dict[str, Any] = json.loads((self.folder / name / _ABOUT).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return content

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Be the only one, of all threads and processes, that makes this."""
        with open(self.folder / "locks" / name.replace("/", "-"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                # Not by closing alone: a child that another thread forked meanwhile has the file too.
                fcntl.flock(file, fcntl.LOCK_UN)

    def hold(self, name: str) -> int:
        """A descriptor that keeps what is stored under this name until it is closed.

        Raises `FileNotFoundError` where there is nothing.
        """
        return _in_use.hold(self.folder / name)

    @contextlib.contextmanager
    def making(self) -> Iterator[Path]:
        """A new folder to make something in, removed at the end unless it was `put`."""
        self.sweep()
        folder, held = _in_use.make_held(self.folder / "making", f"{os.getpid()}-")
        try:
            folder.chmod(0o755)
            yield folder
        finally:
            remove(folder)
            os.close(held)

    def put(self, made: Path, name: str, about: dict[str, Any]) -> None:
        """Store what was made under this name, all at once."""
        (made / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        os.rename(made, self.folder / name)

    def images(self) -> list[BuiltImage]:
        """What is stored below images/, the newest first."""
        found = []
        for folder in (self.folder / "images").iterdir():
            about = self.about(f"images/{folder.name}")
            # Another process may drop it while it is looked at.
            with contextlib.suppress(FileNotFoundError):
                if about is not None:
                    size = sum(path.lstat().st_size for path in folder.rglob("*"))
                    made = int((folder / _ABOUT).stat().st_mtime)
                    found.append(BuiltImage(f"images/{folder.name}", about["digest"], about["layers"][-1], size, made))
        return sorted(found, key=lambda image: (-image.created, image.name))

    def drop(self, name: str) -> bool:
        """Remove what is stored under this name, all at once for whoever looks; False where it is held or gone."""
        with _in_use.alone(self.folder / name) as unused:
            if unused:
                with self.making() as gone:
                    os.rename(self.folder / name, gone / "dropped")
            return unused

    def sweep(self) -> int:
        """Remove what killed processes have left behind half made, and say how much that was."""
        return _in_use.sweep(self.folder / "making", "*-*", remove)

    def own(self, folder: Path) -> None:
        """Give everything below a folder to the user that guests are, readable for it and without set-uid programs."""
        for above, folders, files in os.walk(folder):
            for name in (*folders, *files):
                self._own(os.path.join(above, name))
        self._own(str(folder))

    def _own(self, path: str) -> None:
        if self.owner != os.geteuid():
            os.lchown(path, self.owner, self.owner)
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            fitting = stat.S_IMODE(mode) & 0o1777 | (stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR)
            if fitting != stat.S_IMODE(mode):
                os.chmod(path, fitting)


def digest_of(folder: Path) -> str:
    """SHA-256 over all that a folder holds: paths, kinds, modes, contents and targets of links."""
    total = sha256()
    for above, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted((*folders, *files)):
            path = os.path.join(above, name)
            mode = os.lstat(path).st_mode
            total.update(f"{os.path.relpath(path, folder)}\0{mode:o}\0".encode("utf-8", "surrogateescape"))
            if stat.S_ISLNK(mode):
                total.update(os.fsencode(os.readlink(path)))
            elif stat.S_ISREG(mode):
                total.update(_digest_of_file(path))
    return total.hexdigest()


def _digest_of_file(path: str) -> bytes:
    digest = sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.digest()


def remove(folder: Path) -> None:
    """Remove a folder of ours with whatever a guest has made of it; nothing where something is mounted in it."""
    # An overlay leaves a folder that nobody may enter, and a build may leave more of them.
    for above, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(above, name)
            if os.path.ismount(path):
                return
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
