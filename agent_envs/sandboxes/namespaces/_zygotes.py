"""The zygotes of this process: one for each set of packages, made when needed, remade when dead or after a fork."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import FileIO

from agent_envs.errors import InfraError, SandboxUnavailable, boundary
from agent_envs.sandboxes.namespaces import _boot, _plan, _wire
from agent_envs.sandboxes.namespaces._rootfs import Plan
from agent_envs.sandboxes.protocol import Limits

_START_S = 60.0
_ANSWER_S = 30.0


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
class Birth:
    """Process 1 of a new episode, as the host holds it."""

    pid: int
    process: int
    """A descriptor of the process, which cannot mean another one later."""
    control: socket.socket


class _Zygote:
    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self._pid = pid
        self._descriptors = Descriptors()
        self._descriptors.own(connection.close)

    @classmethod
    def start(cls, plan: Plan) -> _Zygote:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        complaints, complain = os.pipe()
        with theirs, open(complaints, "rb", buffering=0) as errors:
            try:
                pid = _execute(theirs.fileno(), complain)
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

    def birth(self, limits: Limits, *, doors: Sequence[int]) -> Birth:
        """Have process 1 of a new episode made, which goes through these doors of a control group first."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                _wire.send(self._connection, {"limits": asdict(limits)}, descriptors=[theirs.fileno(), *doors])
            message = _answer(_wire.receive(self._connection))
        except BaseException:
            control.close()
            raise
        return Birth(message.header["pid"], message.descriptors[0], control)

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
            "`agent-envs doctor` says what would allow it"
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
            _environment(python),
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
        self._living: dict[tuple[str, ...], _Zygote] = {}

    def birth(self, packages: tuple[str, ...], limits: Limits, *, doors: Sequence[int]) -> Birth:
        plan = _plan.plan_for(packages)
        with self.lock:
            zygote = self._living.get(packages)
            if zygote is not None:
                try:
                    return zygote.birth(limits, doors=doors)
                except OSError:
                    # It was killed, or hangs. That is over with it; a new one starts afresh.
                    zygote.close()
            zygote = self._living[packages] = _Zygote.start(plan)
            with boundary(SandboxUnavailable, "start a sandbox"):
                return zygote.birth(limits, doors=doors)

    def close(self) -> None:
        """Let them all go."""
        while self._living:
            self._living.popitem()[1].close()

    def after_fork(self) -> None:
        self.lock = threading.Lock()
        self._living.clear()


_open: weakref.WeakSet[Descriptors] = weakref.WeakSet()
_zygotes = _Zygotes()
birth = _zygotes.birth
"""Have process 1 of a new episode made by the zygote for these packages."""


def _forget_what_belongs_to_the_parent() -> None:
    for descriptors in list(_open):
        descriptors.close()
    _zygotes.after_fork()


atexit.register(_zygotes.close)
os.register_at_fork(after_in_child=_forget_what_belongs_to_the_parent)
