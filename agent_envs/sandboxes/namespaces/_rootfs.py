"""The file system a guest sees: the system and one Python, read-only, and nothing else of this machine.

Built once by the zygote. What an episode may write is mounted over it by process 1 of the episode.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from agent_envs.sandboxes.namespaces import _kernel as kernel
from agent_envs.sandboxes.namespaces._image import MAKING, ROOTS

AGENT = 1000
"""The user and group id of a guest, as seen from inside."""

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/etc/localtime": "/usr/share/zoneinfo/Etc/UTC",
    "/var/tmp": "/tmp",
}
_FILES = {
    "/etc/passwd": f"agent:x:{AGENT}:{AGENT}:agent:/work:/bin/sh\n",
    "/etc/group": f"agent:x:{AGENT}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/hostname": "sandbox\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_OLD = "/.old"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to build; found out by the host, which knows its own interpreter."""

    shown: list[str]
    """Folders to show besides the system: those of the interpreter."""
    masked: list[str]
    """Folders to cover: whatever happens to be installed there is none of the guest's business."""
    packages: dict[str, str]
    """Files and folders to show among the packages after all: name -> where it is on this machine."""
    packages_at: str
    """Where guests look for packages; may be one of the masked folders."""
    preload: list[str]
    """Modules to import before the first guest starts."""
    unprivileged_id: int
    """Whom to become where root has started us."""
    images: str = ""
    """The folder with stored images that every episode is to run over; empty for episodes over this very tree."""


def build(plan: Plan) -> None:
    """Build the root and move into it; the caller is alone in its namespaces of mounts and has the rights over them."""
    kernel.mount("", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=4m,mode=755")
    os.mkdir("/tmp" + _OLD)
    kernel.pivot_root("/tmp", "/tmp" + _OLD)
    os.chdir("/")
    for folder in ("proc", "dev/shm", "tmp", "work", "etc", "run", "var"):
        os.makedirs(f"/{folder}")
    for path in (*_SYSTEM, *plan.shown):
        _show(path)
    for name in _DEVICES:
        _touch(f"/dev/{name}")
        kernel.mount(f"{_OLD}/dev/{name}", f"/dev/{name}", flags=kernel.BIND)
    for path, target in _LINKS.items():
        os.symlink(target, path)
    for path, content in _FILES.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    # A user namespace may mount a /proc of its own only where it can already see a complete one.
    kernel.mount(f"{_OLD}/proc", "/proc", flags=kernel.BIND | kernel.RECURSIVE)
    _mask(plan)
    if plan.images:
        _keep_images(plan.images)
    kernel.detach(_OLD)
    os.rmdir(_OLD)
    kernel.mount("", "/", flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES)


def _show(path: str) -> None:
    source = _OLD + path
    if os.path.islink(source):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.readlink(source), path)
    elif os.path.exists(source) and not os.path.exists(path):
        _bind(source, path)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        _touch(target)
    kernel.mount(source, target, flags=kernel.BIND | kernel.RECURSIVE)
    kernel.lock_down(target)


def _touch(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _keep_images(folder: str) -> None:
    """Keep the store in reach of every process 1, which moves out of this tree before there is a guest."""
    _bind(_OLD + folder, ROOTS)
    os.mkdir(MAKING)
    kernel.mount(f"{_OLD}{folder}/making", MAKING, flags=kernel.BIND)


def _mask(plan: Plan) -> None:
    os.makedirs(plan.packages_at, exist_ok=True)
    covered = [path for path in {*plan.masked, plan.packages_at} if os.path.isdir(path)]
    for path in covered:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=1m,mode=755")
    for name, source in plan.packages.items():
        _bind(_OLD + source, f"{plan.packages_at}/{name}")
    for path in covered:
        kernel.lock_down(path)
