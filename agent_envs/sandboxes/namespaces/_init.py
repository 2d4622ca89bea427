"""Process 1 of an episode: trusted, alone on the line to the host, and the only one that says how a guest ended.

It does little: it starts and ends guests, and carries files. No code of a guest ever runs in it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from agent_envs.sandboxes.namespaces import _kernel as kernel
from agent_envs.sandboxes.namespaces import _processes, _wire, _workspace
from agent_envs.sandboxes.namespaces._entry import Settings, become_guest
from agent_envs.sandboxes.namespaces._rootfs import AGENT

_INODES = 16384
_SHARED_MEMORY_PART = 4
"""/dev/shm has one part in so many of what /work may hold."""


def map_ids(outer_uid: int, outer_gid: int) -> None:
    """Be the agent's user and group inside the new user namespace, and these outside of it."""
    for name, content in (
        ("setgroups", "deny"),
        ("uid_map", f"{AGENT} {outer_uid} 1"),
        ("gid_map", f"{AGENT} {outer_gid} 1"),
    ):
        # Not `open`: its first use with an encoding imports that codec, 2 ms in every episode.
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        os.write(descriptor, content.encode())
        os.close(descriptor)


def main(control: socket.socket, settings: Settings) -> NoReturn:
    """Set the episode up and serve the host until it goes away."""
    _settle(settings)
    init = _Init(control, settings)
    _wire.send(control, {"up": True})
    init.serve()


def _settle(settings: Settings) -> None:
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
    os.chdir("/work")
    kernel.drop_privileges()
    kernel.set_dumpable(False)
    kernel.die_with_parent()


@dataclass(slots=True)
class _Root:
    """A process that the host asked for, and whatever comes of it."""

    pid: int
    session: int
    started: int
    survives: bool
    """Whether its relatives live on when it ends: the snapshots of a Python session."""


class _Init:
    def __init__(self, control: socket.socket, settings: Settings) -> None:
        self._control = control
        self._settings = settings
        self._workspace = os.open("/work", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._roots: dict[int, _Root] = {}
        self._orders: dict[str, Callable[[_wire.Message], None]] = {
            "spawn": self._spawn,
            "kill": self._kill,
            "discard": self._discard,
            "read": self._read,
            "write": self._write,
            "walk": self._walk,
            "pack": self._pack,
            "unpack": self._unpack,
        }

    def serve(self) -> NoReturn:
        bell, ring = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(bell, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == bell:
                    os.read(bell, 4096)
                    self._reap()
                else:
                    self._obey()

    def _obey(self) -> None:
        message = _wire.receive(self._control)
        if message is None:
            os._exit(0)
        try:
            self._orders[message.header["order"]](message)
        except _workspace.Refused as refusal:
            _wire.send(self._control, {"reply": True, "refused": str(refusal)})

    def _spawn(self, message: _wire.Message) -> None:
        order = message.header
        started = _processes.now()
        try:
            pid = os.fork()
        except OSError as error:
            self._report(order["id"], 1 << 8, refused=f"no process can be started: {error.strerror}")
        else:
            if pid == 0:
                self._control.detach()
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                become_guest(order, message.body, message.descriptors, self._settings)
            self._roots[order["id"]] = _Root(pid, pid, started, order["kind"] == "cells")
        for descriptor in message.descriptors:
            os.close(descriptor)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = next((number for number, root in self._roots.items() if root.pid == pid), None)
            if number is not None:
                self._ended(number, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)

    def _ended(self, number: int, status: int, cpu_s: float, memory_kb: int) -> None:
        root = self._roots[number]
        if root.survives:
            root.pid = 0
        else:
            del self._roots[number]
            self._sweep(since=root.started)
        self._report(number, status, cpu_s=cpu_s, memory_kb=memory_kb)

    def _report(self, number: int, status: int, **more: float | str) -> None:
        _wire.send(self._control, {"exit": number, "status": status, **more})

    def _sweep(self, *, keep: frozenset[int] = frozenset(), since: int = 0) -> None:
        """End every process that belongs to no root, is not kept, and was started since then."""
        if not self._roots and not keep:
            _processes.end_all()
            self._wait_for_all()
            return
        present = _processes.stop_all()
        spared = set(keep) | {process.pid for process in present.values() if process.started < since}
        for root in self._roots.values():
            spared |= _processes.family(present, root.pid, root.session)
        victims = present.keys() - spared
        _processes.end(victims, present.keys() & spared)
        _processes.wait_until_gone(victims)

    def _wait_for_all(self) -> None:
        while True:
            try:
                os.wait4(-1, 0)
            except ChildProcessError:
                return

    def _kill(self, message: _wire.Message) -> None:
        """End one root with all that belongs to it, but for the processes that are to be kept."""
        order = message.header
        root = self._roots.pop(order["id"], None)
        keep = frozenset(order["keep"])
        if root is not None and root.pid and order["keep_root"]:
            keep |= {root.pid}
        elif root is not None and root.pid:
            os.kill(root.pid, signal.SIGKILL)
            _, status, usage = os.wait4(root.pid, 0)
            self._report(order["id"], status, cpu_s=usage.ru_utime + usage.ru_stime, memory_kb=usage.ru_maxrss)
        self._sweep(keep=keep, since=order["since"])
        kept = next((pid for pid, process in _processes.living().items() if pid in keep), 0) if keep else 0
        if root is not None and kept:
            self._roots[order["id"]] = _Root(kept, root.session, root.started, root.survives)
        _wire.send(self._control, {"reply": True, "kept": kept})

    def _discard(self, message: _wire.Message) -> None:
        """End a snapshot that a newer one has replaced."""
        pid = message.header["pid"]
        present = _processes.living()
        if pid in present and any(root.session == present[pid].session for root in self._roots.values()):
            os.kill(pid, signal.SIGKILL)

    def _read(self, message: _wire.Message) -> None:
        content = _workspace.read(self._workspace, message.header["path"], message.header["limit"])
        _wire.send(self._control, {"reply": True}, content)

    def _write(self, message: _wire.Message) -> None:
        _workspace.write(self._workspace, message.header["path"], message.body)
        _wire.send(self._control, {"reply": True})

    def _walk(self, message: _wire.Message) -> None:
        """End every guest, then hand out the workspace: the contents follow one another in the body."""
        self._roots.clear()
        self._sweep()
        left = message.header["limit"]
        files: list[tuple[str, int]] = []
        rejected: dict[str, str] = {}
        contents: list[bytes] = []
        for path, why in _workspace.walk(self._workspace):
            try:
                if why:
                    raise _workspace.Refused(why)
                path.encode()
                content = _workspace.read(self._workspace, path, left)
            except UnicodeEncodeError:
                rejected[os.fsencode(path).decode("utf-8", "backslashreplace")] = "its name is not UTF-8"
            except _workspace.Refused as refusal:
                rejected[path.encode("utf-8", "backslashreplace").decode()] = str(refusal)
            else:
                left -= len(content)
                files.append((path, len(content)))
                contents.append(content)
        _wire.send(self._control, {"reply": True, "files": files, "rejected": rejected}, b"".join(contents))

    def _pack(self, _: _wire.Message) -> None:
        """Hand out the workspace to be unpacked elsewhere; the guests go on."""
        entries, contents = [], []
        try:
            for path, mode, content in _workspace.pack(self._workspace):
                entries.append((path, mode, len(content)))
                contents.append(content)
        except OSError as error:
            raise _workspace.Refused(f"the workspace changes while it is copied: {error}") from error
        _wire.send(self._control, {"reply": True, "entries": entries}, b"".join(contents))

    def _unpack(self, message: _wire.Message) -> None:
        """Replace the workspace with what was packed elsewhere."""
        body, start = memoryview(message.body), 0
        entries = []
        for path, mode, size in message.header["entries"]:
            entries.append((path, mode, bytes(body[start : start + size])))
            start += size
        try:
            _workspace.unpack(self._workspace, entries)
        except OSError as error:
            raise _workspace.Refused(f"the workspace cannot be replaced: {error}") from error
        _wire.send(self._control, {"reply": True})
