"""The file system of an episode over a stored image: an overlay of the image's layers, made by process 1.

What the guest changes goes to a file system in memory that is the episode's own; the layers below are never written.
Every file of a layer belongs to the one user that exists inside, so the folders that the user `agent` must not change
are kept from it by a read-only mount and not by their owner.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_envs.sandboxes.namespaces import _kernel as kernel
from agent_envs.sandboxes.namespaces import _wire
from agent_envs.sandboxes.protocol import Limits

ROOTS = "/.roots"
"""Where a zygote keeps the store of images, read-only and out of the sight of every guest."""
MAKING = "/.making"
"""The part of the store that is being built, writable; the layer of a build is written there."""
ROOT_USER = 0

_SCRATCH = "/tmp"
_PLAIN = kernel.NO_SUID | kernel.NO_DEVICES
_SHARED_MEMORY_PART = 4
_SMALLEST_TREE = 1 << 20
_PAGE = 4096
_SET_DEVICE_FLAGS, _UP, _RUNNING = 0x8914, 0x1, 0x40
_INODES = 65536
"""Of each file system in memory: every file takes memory beside its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounts:
    """What one episode sees of which image, as told by the host."""

    layers: Sequence[str]
    """Folders below the store, the uppermost first."""
    upper: str = ""
    """Folder below `MAKING` that takes what is written; empty for memory that ends with the episode."""
    user: int
    """The user and group id of the guest, as seen from inside."""
    workspace: str
    writable: Sequence[str]
    """The folders that stay writable where the rest is not; empty where all of it is."""
    env: Mapping[str, str]
    volumes: Sequence[tuple[str, Sequence[tuple[str, int, int]]]]
    """Read-only trees: (where, files as (path, mode, size)); the contents follow one another in `contents`."""
    contents: bytes


def receive(control: socket.socket) -> Mounts:
    """Wait for the host to say what this episode is to see."""
    message = _wire.receive(control)
    if message is None:
        os._exit(0)
    return Mounts(**message.header, contents=message.body)


def build(mounts: Mounts, limits: Limits) -> int:
    """Mount it all and move into it; the caller has the rights over its own namespace of mounts.

    A descriptor of the folder that takes what is written is returned: there, what is missing was never touched.
    """
    kernel.mount("tmpfs", _SCRATCH, "tmpfs", _PLAIN, f"size={limits.disk_mb}m,nr_inodes={_INODES},mode=755")
    root = f"{_SCRATCH}/root"
    os.mkdir(root)
    written = _mount_overlay(root, mounts)
    # The zygote's own /proc is still in sight: only where a complete one is may a new one be mounted.
    kernel.mount("proc", f"{root}/proc", "proc", _PLAIN | kernel.NO_EXEC)
    kernel.mount("/dev", f"{root}/dev", flags=kernel.BIND | kernel.RECURSIVE)
    for path, size in (("/tmp", limits.disk_mb), ("/dev/shm", max(1, limits.disk_mb // _SHARED_MEMORY_PART))):
        kernel.mount("tmpfs", root + path, "tmpfs", _PLAIN, f"size={size}m,nr_inodes={_INODES},mode=1777")
    os.chdir(root)
    # The new root over the old one, which is then taken from under it: no folder is needed to move it to.
    kernel.pivot_root(".", ".")
    kernel.detach(".")
    os.chdir("/")
    _keep_writable(mounts)
    _mount_volumes(mounts)
    if mounts.writable:
        kernel.mount("", "/", flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _PLAIN)
    _raise_loopback()
    os.environ.clear()
    os.environ.update(mounts.env)
    return written


def _mount_overlay(root: str, mounts: Mounts) -> int:
    above = f"{MAKING}/{mounts.upper}" if mounts.upper else _SCRATCH
    upper, work = f"{above}/layer", f"{above}/work"
    if not mounts.upper:
        os.mkdir(upper)
        os.mkdir(work)
        _require_attributes(upper)
    lower = ":".join(f"{ROOTS}/{layer}" for layer in mounts.layers)
    # Without the rights of the machine's own root, the marks of an overlay are attributes of the user.
    options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"
    try:
        kernel.mount("overlay", root, "overlay", _PLAIN, options)
    except OSError as error:
        if not mounts.upper:
            raise
        raise OSError(
            f"the commands of a recipe need a store on a file system that an overlay can write to, as ext4, xfs and "
            f"btrfs are ({error}); XDG_CACHE_HOME moves the store"
        ) from error
    return os.open(upper, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _raise_loopback() -> None:
    """Let the guest reach itself: the only device of its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_DEVICE_FLAGS, struct.pack("16sH14x", b"lo", _UP | _RUNNING))


def _require_attributes(folder: str) -> None:
    try:
        os.setxattr(folder, "user.agent_envs", b"1")
    except OSError as error:
        kernel_version = os.uname().release
        raise OSError(
            f"a file system in memory keeps no user attributes on this kernel ({kernel_version}), and an overlay "
            "needs them; Linux 6.6 and later keep them, or use Docker"
        ) from error
    os.removexattr(folder, "user.agent_envs")


def _keep_writable(mounts: Mounts) -> None:
    # A mount of its own cannot be moved away or replaced by a link, and stays writable where its surroundings do not.
    for path in dict.fromkeys((mounts.workspace, *mounts.writable)):
        os.makedirs(path, exist_ok=True)
        kernel.mount(path, path, flags=kernel.BIND)


def _mount_volumes(mounts: Mounts) -> None:
    start, contents = 0, memoryview(mounts.contents)
    for place, files in mounts.volumes:
        os.makedirs(place, exist_ok=True)
        # A file takes whole pages, and every file and folder some room beside them.
        size = _SMALLEST_TREE + sum(length + 2 * _PAGE for _, _, length in files)
        kernel.mount("tmpfs", place, "tmpfs", _PLAIN, f"size={size},mode=755")
        for path, mode, length in files:
            _write(f"{place}/{path}", mode, contents[start : start + length])
            start += length
        kernel.lock_down(place)


def _write(path: str, mode: int, content: memoryview) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    while content:
        content = content[os.write(descriptor, content) :]
    os.close(descriptor)
