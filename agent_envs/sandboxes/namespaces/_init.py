"""Process 1 of an episode: trusted, alone on the line to the host, and the only one that says how a guest ended.

It does little: it starts and ends guests, and carries files. No code of a guest ever runs in it.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_envs.sandboxes.namespaces import _changes, _processes, _wire, _workspace
from agent_envs.sandboxes.namespaces import _kernel as kernel
from agent_envs.sandboxes.namespaces._entry import Settings, become_guest, wait_to_become_guest
from agent_envs.sandboxes.namespaces._settle import enter_group, settle


def main(control: socket.socket, first: socket.socket, settings: Settings) -> NoReturn:
    """Set the episode up and serve the host until it goes away; the first guest gets its order by a line of its own."""
    if settings.over_image:
        # Where the memory of all that is mounted is to count, and too early for a guest.
        enter_group(_wire.receive(control))
        first.close()
    workspace, written = settle(control, settings)
    init = _Init(control, settings, workspace, written)
    if settings.over_image:
        _wire.send(control, b'{"up": true}')
    else:
        init.fork_first(first)
    init.serve()


@dataclass(slots=True)
class _Root:
    """A process that the host asked for, and whatever comes of it."""

    pid: int
    session: int
    started: int
    survives: bool
    """Whether its relatives live on when it ends: the snapshots of a Python session."""


class _Init:
    def __init__(self, control: socket.socket, settings: Settings, workspace: str, written: int) -> None:
        self._control = control
        self._settings = settings
        self._workspace = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._written = _changes.Written(written, workspace)
        self._newest = _processes.Newest()
        # It rings when a child has ended, from before there is any.
        self._bell, ring = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        kernel.set_handler(signal.SIGCHLD, lambda *_: None)
        self._first = 0
        """The pid of the guest that waits for the first order, as long as the host has not said that it was given."""
        self._roots: dict[int, _Root] = {}
        self._orders: dict[str, Callable[[_wire.Message], None]] = {
            "enter": self._enter,
            "adopt": self._adopt,
            "spawn": self._spawn,
            "kill": self._kill,
            "discard": self._discard,
            "read": self._read,
            "write": self._write,
            "walk": self._walk,
            "manifest": self._manifest,
            "changes": self._changes,
            "pack": self._pack,
            "unpack": self._unpack,
        }

    def serve(self) -> NoReturn:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self._bell:
                    os.read(self._bell, 4096)
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

    def _enter(self, message: _wire.Message) -> None:
        enter_group(message)
        _wire.send(self._control, b'{"up": true}')

    def fork_first(self, line: socket.socket) -> None:
        """Make the first guest before it is asked for, so that an episode need not wait for it."""
        self._first = self._fork()
        if self._first == 0:
            wait_to_become_guest(line, self._settings)
        line.close()

    def _fork(self) -> int:
        pid = kernel.fork()
        if pid == 0:
            self._control.detach()
            signal.set_wakeup_fd(-1)
            kernel.set_handler(signal.SIGCHLD, kernel.DEFAULT)
        return pid

    def _adopt(self, message: _wire.Message) -> None:
        """The first guest has got its order."""
        self._add_root(message.header, self._first, started=0)
        self._first = 0
        self._reap()

    def _spawn(self, message: _wire.Message) -> None:
        # Had the first guest been there, the host would have given the order to it.
        self._first, started = 0, _processes.now()
        try:
            pid = self._fork()
        except OSError as error:
            why = f"no process can be started: {error.strerror}"
            _wire.send(self._control, {"exit": message.header["id"], "status": 1 << 8, "refused": why})
        else:
            if pid == 0:
                become_guest(message, self._settings)
            self._add_root(message.header, pid, started=started)
        for descriptor in message.descriptors:
            os.close(descriptor)

    def _add_root(self, order: Mapping[str, Any], pid: int, *, started: int) -> None:
        self._roots[order["id"]] = _Root(pid, pid, started, order["kind"] == "cells")

    def _reap(self) -> None:
        while pid := _processes.ended_child():
            if pid == self._first:
                # Nothing else can run yet. Whether this was a guest, the host will say.
                return
            # Asked before its number is free again: until then nobody else can have come to bear it.
            childless = self._newest.pid() == pid
            _, status, usage = os.wait4(pid, 0)
            number = next((number for number, root in self._roots.items() if root.pid == pid), None)
            if number is not None:
                self._ended(number, childless=childless)
                self._report(number, status, usage)

    def _ended(self, number: int, *, childless: bool) -> None:
        root = self._roots[number]
        if root.survives:
            root.pid = 0
        else:
            del self._roots[number]
            if not childless:
                self._sweep(since=root.started)

    def _report(self, number: int, status: int, usage: resource.struct_rusage) -> None:
        cpu_s = usage.ru_utime + usage.ru_stime
        told = b'{"exit": %d, "status": %d, "cpu_s": %.6f, "memory_kb": %d}' % (number, status, cpu_s, usage.ru_maxrss)
        _wire.send(self._control, told)

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
            self._report(order["id"], status, usage)
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
        for path, why in _workspace.walk(self._workspace, leave_out=message.header.get("leave_out", ())):
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

    def _manifest(self, message: _wire.Message) -> None:
        """Say what the workspace holds."""
        found = _changes.manifest(self._workspace, message.header["leave_out"])
        _wire.send(self._control, {"reply": True}, json.dumps(found).encode())

    def _changes(self, message: _wire.Message) -> None:
        """End every guest, then hand out what differs from the manifest in the body."""
        self._roots.clear()
        self._sweep()
        order = message.header
        base = json.loads(message.body)
        left_out, touched = order["leave_out"], self._written.has
        found = _changes.changes(self._workspace, base, order["limit"], leave_out=left_out, touched=touched)
        told = {"files": found.files, "rejected": found.rejected, "deleted": found.deleted}
        _wire.send(self._control, {"reply": True, **told}, b"".join(found.contents))

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
