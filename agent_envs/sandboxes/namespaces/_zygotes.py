"""The zygotes of this process: one for each set of packages, made when needed, remade when dead or after a fork."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import select
import signal
import socket
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from io import FileIO
from typing import Any

from agent_envs.errors import InfraError, SandboxUnavailable, boundary
from agent_envs.sandboxes.namespaces import _boot, _plan, _wire
from agent_envs.sandboxes.namespaces._rootfs import Plan
from agent_envs.sandboxes.protocol import Limits

_START_S = 60.0
_ANSWER_S = 180.0
"""Whoever is gone has closed the line, so this is only how slow a machine may be on which many sandboxes start."""


class Descriptors:
    """Open descriptors that belong to one owner, and to this process only: a forked child closes its copies."""

    def __init__(self) -> None:
        self._closers: list[Callable[[], None]] = []
        self.process = os.getpid()
        _open.add(self)

    def own(self, close: Callable[[], None]) -> None:
        """Take over what this function closes."""
        self._closers.append(close)

    def disown(self, close: Callable[[], None]) -> None:
        """Forget what has been closed by itself."""
        if close in self._closers:
            self._closers.remove(close)

    def close(self) -> None:
        """Close them all; idempotent."""
        while self._closers:
            self._closers.pop()()


@dataclass(frozen=True, slots=True)
class Lines:
    """The host's ends of the lines to a new episode."""

    control: socket.socket
    first: socket.socket
    """To the guest that waits for the first order."""

    def close(self) -> None:
        """Close them; idempotent."""
        self.control.close()
        self.first.close()


@dataclass(frozen=True, slots=True)
class Birth:
    """Process 1 of a new episode, as the host holds it."""

    pid: int
    process: int
    """A descriptor of the process, which cannot mean another one later."""
    lines: Lines

    def discard(self) -> None:
        """End it: no episode will be made of it."""
        self.lines.close()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
        os.close(self.process)


def _is_alive(process: int) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return not poll.poll(0)


class _Zygote:
    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self._pid = pid
        self._process = os.pidfd_open(pid)
        self._descriptors = Descriptors()
        self._descriptors.own(connection.close)
        self._descriptors.own(lambda: os.close(self._process))
        self._ahead: tuple[Mapping[str, Any], Lines] | None = None
        """What was asked for and is not collected: its kind, and the lines to it."""

    @classmethod
    def start(cls, plan: Plan) -> _Zygote:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        complaints, complain = os.pipe()
        with theirs, open(complaints, "rb", buffering=0) as errors:
            try:
                pid = _execute(theirs.fileno(), complain)
            except OSError:
                ours.close()
                raise
            finally:
                os.close(complain)
                theirs.close()
            ours.settimeout(_START_S)
            zygote = cls(ours, pid)
            try:
                with boundary(SandboxUnavailable, "start the process that starts sandboxes"):
                    _introduce(ours, plan, errors)
            except InfraError:
                zygote.close()
                raise
        ours.settimeout(_ANSWER_S)
        return zygote

    def birth(self, order: Mapping[str, Any]) -> Birth:
        """Process 1 of a new episode: the one that was made ahead, if it will do. The next one is made from then on."""
        birth = self._made_ahead(order)
        if birth is None:
            self._request(order)
            birth = self._collect()
        try:
            self._request(order)
            # What it has made holds its line open for a moment longer than it lives itself.
            if not _is_alive(self._process):
                raise ConnectionError("it was killed")
        except ConnectionError:
            # The zygote is dead, and all that it has made dies with it.
            birth.discard()
            raise
        return birth

    def _request(self, order: Mapping[str, Any]) -> None:
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        first, far_first = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lines = Lines(control, first)
        self._descriptors.own(lines.close)
        self._ahead = order, lines
        with theirs, far_first:
            _wire.send(self._connection, order, descriptors=[theirs.fileno(), far_first.fileno()])

    def _collect(self) -> Birth:
        """The process that was requested last."""
        assert self._ahead is not None
        (_, lines), self._ahead = self._ahead, None
        self._descriptors.disown(lines.close)
        try:
            message = _answer(_wire.receive(self._connection))
        except BaseException:
            lines.close()
            raise
        return Birth(message.header["pid"], message.descriptors[0], lines)

    def _made_ahead(self, order: Mapping[str, Any]) -> Birth | None:
        if self._ahead is None:
            return None
        made_for, _ = self._ahead
        try:
            birth = self._collect()
        except SandboxUnavailable:
            # What could not be made then may be possible now; if not, that is worth an error.
            return None
        if made_for == order and _is_alive(birth.process):
            return birth
        birth.discard()
        return None

    def close(self) -> None:
        """Let it go; it ends when nothing of the host listens any more."""
        self._descriptors.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, os.WNOHANG)


def _introduce(connection: socket.socket, plan: Plan, errors: FileIO) -> None:
    try:
        connection.send(os.fsencode(os.path.dirname(_boot.__file__)))
        _wire.send(connection, asdict(plan))
        _answer(_wire.receive(connection))
    except OSError as error:
        os.set_blocking(errors.fileno(), False)
        raise ConnectionError((errors.read(1 << 16) or b"").decode(errors="replace").strip() or str(error)) from error


def _answer(message: _wire.Message | None) -> _wire.Message:
    if message is None:
        raise ConnectionError("it ended without a word")
    if "failed" in message.header:
        raise SandboxUnavailable(
            f"a namespace sandbox cannot be started here: {message.header['failed']}; "
            "`agent-envs doctor` says what would allow it",
            passing=True,
        )
    return message


def _execute(connection: int, errors: int) -> int:
    """Execute the zygote, which finds its socket and its own source at fixed descriptors."""
    python = _plan.interpreter()
    source = os.open(_boot.__file__, os.O_RDONLY | os.O_CLOEXEC)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    # Out of the way of the numbers they are to get.
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 16) for each in (null, null, errors, connection, source)]
    try:
        return os.posix_spawn(
            python,
            [python, "-S", "-s", "-P", "-B", f"/dev/fd/{_boot.CONNECTION + 1}"],
            {**_environment(python), **_boot.FOR_ITSELF},
            file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(high)],
        )
    finally:
        for descriptor in (source, null, *high):
            os.close(descriptor)


def _environment(python: str) -> dict[str, str]:
    """All that a guest finds in its environment."""
    return {
        "PATH": f"{os.path.dirname(python)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/work",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


class _Zygotes:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._living: dict[object, _Zygote] = {}

    def birth(self, packages: tuple[str, ...], limits: Limits, *, grouped: bool, images: str = "") -> Birth:
        plan = _plan.plan_for_images(images) if images else _plan.plan_for(packages)
        key = (images, os.stat(images).st_ino) if images else packages
        order = {"limits": asdict(limits), "grouped": grouped}
        with self.lock:
            zygote = self._living.get(key)
            if zygote is not None:
                try:
                    return zygote.birth(order)
                except OSError:
                    # It was killed, or hangs. That is over with it; a new one starts afresh.
                    zygote.close()
            with boundary(SandboxUnavailable, "start a sandbox"):
                zygote = self._living[key] = _Zygote.start(plan)
                return zygote.birth(order)

    def close(self) -> None:
        """Let them all go."""
        while self._living:
            self._living.popitem()[1].close()

    def after_fork(self) -> None:
        self.lock = threading.Lock()
        self._living.clear()


_open: weakref.WeakSet[Descriptors] = weakref.WeakSet()
no_fork = threading.RLock()
"""Held by whoever has a descriptor, for a moment, that its `Descriptors` do not know of: nobody can fork meanwhile."""
_zygotes = _Zygotes()
birth = _zygotes.birth
"""Have process 1 of a new episode made by the zygote for these packages, or for the images in a folder."""


def _forget_what_belongs_to_the_parent() -> None:
    no_fork.release()
    for descriptors in list(_open):
        descriptors.close()
    _zygotes.after_fork()


atexit.register(_zygotes.close)
os.register_at_fork(
    before=no_fork.acquire, after_in_parent=no_fork.release, after_in_child=_forget_what_belongs_to_the_parent
)
