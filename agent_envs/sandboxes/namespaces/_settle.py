"""How process 1 of an episode comes to its place: its ids, its file systems, and then without any rights.

What comes after `settle` is for guests as well: they are its children.
"""

from __future__ import annotations

import os
import socket

from agent_envs.sandboxes.namespaces import _image, _seccomp, _wire, _workspace
from agent_envs.sandboxes.namespaces import _kernel as kernel
from agent_envs.sandboxes.namespaces._entry import Settings
from agent_envs.sandboxes.namespaces._rootfs import AGENT

_INODES = 16384
_SHARED_MEMORY_PART = 4
"""/dev/shm has one part in so many of what /work may hold."""


def map_ids(outer_uid: int, outer_gid: int, *, inner: int = AGENT) -> None:
    """Be the agent's user and group (or `inner`) inside the new user namespace, and these outside of it."""
    for name, content in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner} {outer_uid} 1"),
        ("gid_map", f"{inner} {outer_gid} 1"),
    ):
        # Not `open`: its first use with an encoding imports that codec, 2 ms in every episode.
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        os.write(descriptor, content.encode())
        os.close(descriptor)


def settle(control: socket.socket, settings: Settings) -> tuple[str, int]:
    """Go to the workspace of this episode and give up all rights: where it is, and the folder that takes what is
    written over an image, or -1.
    """
    workspace, written = _mount_image(control, settings) if settings.over_image else (_mount_folders(settings), -1)
    os.chdir(workspace)
    kernel.drop_privileges()
    kernel.set_dumpable(False)
    kernel.die_with_parent()
    _seccomp.install(settings.filter_program)
    return workspace, written


def enter_group(message: _wire.Message | None) -> None:
    """Go through the doors of a control group that the host has sent; where it has gone, there is no episode."""
    if message is None:
        os._exit(0)
    for door in message.descriptors:
        os.write(door, b"0")
        os.close(door)


def _mount_folders(settings: Settings) -> str:
    """Give the guest folders to write to over the tree of the zygote; the workspace is returned."""
    map_ids(settings.outer_id, settings.outer_id)
    size = settings.limits.disk_mb
    plain = kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("proc", "/proc", "proc", plain | kernel.NO_EXEC)
    for path, megabytes, mode in (
        ("/work", size, "755"),
        ("/tmp", size, "1777"),
        ("/dev/shm", max(1, size // _SHARED_MEMORY_PART), "1777"),
    ):
        options = f"size={megabytes}m,nr_inodes={_INODES},mode={mode},uid={AGENT},gid={AGENT}"
        kernel.mount("tmpfs", path, "tmpfs", plain, options)
    return _workspace.PLACE


def _mount_image(control: socket.socket, settings: Settings) -> tuple[str, int]:
    """Move into the image that the host names: its workspace, and the folder that takes what is written."""
    mounts = _image.receive(control)
    map_ids(settings.outer_id, settings.outer_id, inner=mounts.user)
    return mounts.workspace, _image.build(mounts, settings.limits)
