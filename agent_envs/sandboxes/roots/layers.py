"""The layer that a recipe puts over its base, as far as trusted code writes it: users, folders, files."""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import HOSTS, Recipe, Tree
from agent_envs.sandboxes.namespaces._rootfs import AGENT

_OURS = {
    # The machine that made the base may have left its own here.
    "etc/hostname": "sandbox\n",
    "etc/hosts": HOSTS,
    "etc/resolv.conf": "",
}
_MOUNTED = ("proc", "dev", "tmp")
_FIELDS = 7
_LARGEST = 1 << 20


def write_layer(layer: Path, base: Path, recipe: Recipe) -> dict[str, str]:
    """Write the layer; the homes of the users are returned, by their id."""
    for name in _MOUNTED:
        _make_folder(layer, base, name)
    for name, content in _OURS.items():
        _write(layer, base, name, content.encode())
    homes = _add_agent(layer, base)
    for home in homes.values():
        _make_folder(layer, base, home.strip("/"))
    workspace = recipe.workspace.strip("/")
    _make_folder(layer, base, workspace)
    for path, file in recipe.files.items():
        _write(layer, base, f"{workspace}/{path}", file.content, executable=file.executable)
    return homes


def require_folder(path: str, what: str) -> None:
    """Raises `TaskError` where this cannot be the place of a folder of ours."""
    first = path.split("/")[1] if path.startswith("/") else ""
    if posixpath.normpath(path) != path or not first or "\0" in path or first in (*_MOUNTED, "sys"):
        raise TaskError(
            f"{what} is {path!r}; expected an absolute path without `..`, outside of /proc, /dev, /sys and /tmp"
        )


def require_tree(tree: Tree, what: str) -> None:
    """Raises `TaskError` where a tree cannot be written below a folder."""
    for path in tree:
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise TaskError(
                f"{what} hold the path {path!r}; expected one relative to their folder, without `.` or `..`"
            )
        for depth in range(1, len(parts)):
            if (above := "/".join(parts[:depth])) in tree:
                raise TaskError(f"{what} hold {above!r} both as a file and as a folder (for {path!r})")


def _add_agent(layer: Path, base: Path) -> dict[str, str]:
    users = _table(base / "etc/passwd")
    homes = {user[2]: user[5] for user in reversed(users) if len(user) == _FIELDS and user[5].startswith("/")}
    homes = {uid: homes[uid] for uid in ("0", str(AGENT)) if uid in homes} | {"0": homes.get("0", "/root")}
    if str(AGENT) not in homes:
        homes[str(AGENT)] = "/home/agent"
        users.append(["agent", "x", str(AGENT), str(AGENT), "agent", homes[str(AGENT)], "/bin/sh"])
        groups = _table(base / "etc/group")
        groups.append(["agent", "x", str(AGENT), ""])
        for name, table in (("passwd", users), ("group", groups)):
            _write(layer, base, f"etc/{name}", "".join(":".join(row) + "\n" for row in table).encode())
    return homes


def _table(path: Path) -> list[list[str]]:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return []
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return [line.split(":") for line in text.splitlines() if line]


def _make_folder(layer: Path, base: Path, name: str) -> None:
    """Make a folder of the layer with those above it, each as it is in the base."""
    for path in (*reversed(Path(name).parents[:-1]), Path(name)):
        below = base / path
        blocked = below.is_symlink() or (below.exists() and not below.is_dir())
        if blocked and str(path) not in _MOUNTED:
            raise TaskError(f"/{name} passes through /{path}, which is no folder in the base image; choose another")
        made = layer / path
        if not made.exists():
            made.mkdir()
            made.chmod(stat.S_IMODE(below.lstat().st_mode) | stat.S_IRWXU if below.is_dir() else 0o755)


def _write(layer: Path, base: Path, name: str, content: bytes, *, executable: bool = False) -> None:
    _make_folder(layer, base, os.path.dirname(name))
    path = layer / name
    path.write_bytes(content)
    path.chmod(0o755 if executable else 0o644)
