"""The zygote: one trusted process per host process and set of packages, which clones process 1 of every episode.

It is executed, never forked from the host, so that a guest inherits nothing of it: no memory, lock, thread or file.
"""

from __future__ import annotations

import contextlib
import gc
import os
import posix
import select
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any, NoReturn, Self

from agent_envs.sandboxes.namespaces import _cells, _init, _kernel, _rootfs, _seccomp, _wire
from agent_envs.sandboxes.namespaces._entry import Settings
from agent_envs.sandboxes.namespaces._settle import map_ids
from agent_envs.sandboxes.protocol import Limits

_OWN_TREE = _kernel.NEW_MOUNTS | _kernel.NEW_IPC | _kernel.NEW_HOST_NAME | _kernel.NEW_CGROUP | _kernel.NEW_NET
EPISODE = _kernel.NEW_USER | _kernel.NEW_PIDS | _kernel.NEW_MOUNTS | _kernel.NEW_IPC
_LOOK_FOR_PARENT_MS = 500

# Modules that most programs use, imported once here instead of once in every guest.
_COMMON = (
    *("bisect", "collections", "copy", "dataclasses", "datetime", "enum", "functools", "heapq", "itertools", "json"),
    *("math", "operator", "random", "re", "string", "subprocess", "textwrap", "threading", "time", "typing"),
)


_FOR_IMPORTS = "size=8m,mode=1777"
"""Some packages need a folder they can write to as they are imported. Every episode has its own /tmp above this one."""


class LastWords:
    """Whatever goes wrong inside is told to the host, and then the process ends: nothing unwinds past it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if error is not None:
            self._connection.setblocking(False)
            with contextlib.suppress(OSError):
                _wire.send(self._connection, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)


def main(descriptor: int) -> NoReturn:
    """Serve the host on this socket until it goes away."""
    connection = socket.socket(fileno=descriptor)
    with LastWords(connection):
        _detach_from_host(descriptor)
        plan = _wire.receive(connection)
        if plan is None:
            os._exit(0)
        # What a guest would inherit must not be the host's: until here it told why the zygote could not start.
        os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), 2)
        layout = _rootfs.Plan(**plan.header)
        zygote = _Zygote(connection, _settle(layout), over_images=bool(layout.images))
        _wire.send(connection, {"ready": True})
        zygote.serve()
    raise AssertionError("not reached")


def _detach_from_host(descriptor: int) -> None:
    os.setsid()
    os.umask(0o022)
    os.chdir("/")
    os.set_inheritable(descriptor, False)
    _kernel.close_from(descriptor + 1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}:
        if number < signal.SIGRTMIN:
            signal.signal(number, signal.SIG_DFL)


def _settle(plan: _rootfs.Plan) -> int:
    """Build the tree, become nobody, import what guests will want; the user id in this namespace is returned."""
    sys.argv[:] = [""]
    sys.orig_argv[:] = [sys.executable]
    if os.geteuid() == 0:
        _kernel.unshare(_OWN_TREE)
        _rootfs.build(plan)
        _kernel.mount("tmpfs", "/tmp", "tmpfs", _kernel.NO_SUID | _kernel.NO_DEVICES, _FOR_IMPORTS)
        socket.sethostname("sandbox")
        # As root the guest's files, limits and signals would be root's; a number nobody uses has nothing to lose.
        os.setgroups([])
        os.setresgid(*[plan.unprivileged_id] * 3)
        os.setresuid(*[plan.unprivileged_id] * 3)
        # Or /proc/self of the children would belong to root, and they could not map their ids.
        _kernel.set_dumpable(True)
        user = plan.unprivileged_id
    else:
        uid, gid = os.geteuid(), os.getegid()
        _kernel.unshare(_kernel.NEW_USER | _OWN_TREE)
        map_ids(uid, gid)
        _rootfs.build(plan)
        _kernel.mount("tmpfs", "/tmp", "tmpfs", _kernel.NO_SUID | _kernel.NO_DEVICES, _FOR_IMPORTS)
        socket.sethostname("sandbox")
        user = _rootfs.AGENT
    _import(plan)
    return user


def _import(plan: _rootfs.Plan) -> None:
    import site

    # `exit`, `quit` and `help` come with site, which does not run here because it would add folders to the path.
    site.setquit()
    site.setcopyright()
    site.sethelper()
    path = [entry for entry in sys.path if entry.startswith((sys.base_prefix, sys.base_exec_prefix))]
    sys.path[:] = [entry for entry in path if not entry.endswith("-packages")]
    if plan.packages_at not in sys.path:
        sys.path.append(plan.packages_at)
    for name in (*_COMMON, *plan.preload):
        __import__(name)
    os.register_at_fork = posix.register_at_fork
    sys.path.insert(0, "")


def _rehearse() -> None:
    """Do here what every process 1 and every guest does first: what an interpreter writes down then is shared."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    order = {"order": "spawn", "id": 1, "kind": "cells", "targets": [3, 1, 2], "generation": 1}
    with one, other:
        for _ in range(32):
            _wire.send(one, order, b"rehearsal", [one.fileno()])
            message = _wire.receive(other)
            assert message is not None
            for descriptor in message.descriptors:
                os.close(descriptor)
            poll = select.poll()
            poll.register(other, select.POLLIN)
            poll.poll(0)
    _cells.rehearse(32)


def _hide_ourselves() -> None:
    """Keep our own modules alive and out of the sight of guests, once for all of them."""
    for name in [name for name in sys.modules if name.startswith("agent_envs")]:
        _hidden.append(sys.modules.pop(name))


_hidden: list[ModuleType] = []


@dataclass(slots=True)
class _Zygote:
    connection: socket.socket
    user: int
    over_images: bool

    def serve(self) -> NoReturn:
        """Clone one process 1 per request."""
        # The kernel reaps the episodes; the host learns of their end from their process descriptors.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # Programs of an image may serve themselves: the network is empty, and no other episode is in it.
        program = _seccomp.filter_program(loopback=self.over_images)
        _seccomp.prepare(program)
        parent = os.getppid()
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        _hide_ourselves()
        _rehearse()
        gc.collect()
        gc.freeze()
        while True:
            # The socket alone does not tell: a process forked by the host may still hold a copy of its other end.
            if not poll.poll(_LOOK_FOR_PARENT_MS):
                if os.getppid() != parent:
                    os._exit(0)
                continue
            request = _wire.receive(self.connection)
            if request is None:
                os._exit(0)
            self._start(request.header, request.descriptors, program)

    def _start(self, header: Mapping[str, Any], descriptors: tuple[int, ...], program: bytes) -> None:
        try:
            pid, process = _kernel.clone(EPISODE | _kernel.NEW_NET if self.over_images else EPISODE)
        except OSError as error:
            # The episodes that live must not die because one cannot be born.
            _wire.send(self.connection, {"failed": str(error)})
            pid, process = -1, -1
        if pid == 0:
            self.connection.detach()
            control, first = (socket.socket(fileno=descriptor) for descriptor in descriptors)
            with LastWords(control):
                settings = Settings(
                    Limits(**header["limits"]), header["grouped"], self.user, program, over_image=self.over_images
                )
                _init.main(control, first, settings)
        for descriptor in descriptors:
            os.close(descriptor)
        if process >= 0:
            _wire.send(self.connection, b'{"pid": %d}' % pid, descriptors=[process])
            os.close(process)
