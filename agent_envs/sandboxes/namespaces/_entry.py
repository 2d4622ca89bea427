"""The last trusted steps of a process before it is the guest's: descriptors, limits, and then its work."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_envs.sandboxes.namespaces import _cells, _guest, _kernel, _wire
from agent_envs.sandboxes.protocol import Limits

PRIVATE = 3
"""Where a guest finds the descriptor that is neither standard input nor output, if it has one."""

_ADDRESS_SPACE = 4 << 30
_STACK = 8 << 20
_HELPERS = 4
"""Process 1, and those of ours that stand beside a Python session, do not count among the guest's processes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What process 1 must know of its episode."""

    limits: Limits
    grouped: bool
    """Whether a control group bounds the memory of the whole sandbox."""
    outer_id: int
    """The user and group id of the guest, as the namespace around the episode counts."""
    filter_program: bytes
    """What process 1 puts itself under, and with it every guest."""
    over_image: bool = False
    """Whether the guest lives in a stored image; the host then says which before anything else."""


def become_guest(message: _wire.Message, settings: Settings) -> NoReturn:
    """Turn this forked child of process 1 into the guest process that was ordered."""
    try:
        _prepare(settings)
        _turn_into(message, settings)
    finally:
        os._exit(70)


def wait_to_become_guest(line: socket.socket, settings: Settings) -> NoReturn:
    """The same ahead of the order, for the first guest of an episode: the order comes from the host itself."""
    try:
        _prepare(settings)
        # All that it will write to in its first cell it writes to now, while nobody waits for it.
        _cells.rehearse(1)
        message = _wire.receive(line)
        if message is not None:
            doors = len(message.descriptors) - len(message.header["targets"])
            for door in message.descriptors[:doors]:
                os.write(door, b"0")
            line.detach()
            _turn_into(_wire.Message(message.header, message.body, message.descriptors[doors:]), settings)
    finally:
        os._exit(70)


def _prepare(settings: Settings) -> None:
    os.setsid()
    _set_limits(settings)
    for hooks in fork_hooks:
        os.register_at_fork(**hooks)
    _kernel.set_handler(signal.SIGINT, signal.default_int_handler)


def _turn_into(message: _wire.Message, settings: Settings) -> None:
    _place(message.descriptors, message.header["targets"])
    _kernel.set_dumpable(True)
    if settings.grouped:
        _offer_to_oom_killer()
    _work(message.header, message.body)


def _work(order: Mapping[str, Any], body: bytes) -> None:
    match order["kind"]:
        case "exec":
            _execute(order["argv"], order["env"], order["cwd"])
        case "program":
            _guest.run_program(body, {})
        case "channel":
            _guest.run_program(body, _guest.channel(PRIVATE))
        case "cells":
            _cells.serve(PRIVATE, order["generation"])


def _place(descriptors: tuple[int, ...], targets: list[int]) -> None:
    last = max(2, *targets)
    if any(descriptor <= last for descriptor in descriptors):
        # Out of the way first: a descriptor may stand where another one belongs.
        descriptors = tuple(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64) for descriptor in descriptors)
    for descriptor, target in zip(descriptors, targets, strict=True):
        os.dup2(descriptor, target)
    _kernel.close_from(last + 1)


def _set_limits(settings: Settings) -> None:
    limits = settings.limits
    bounds = {
        resource.RLIMIT_NPROC: limits.processes + _HELPERS,
        resource.RLIMIT_FSIZE: limits.file_mb << 20,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_STACK: _STACK,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if not settings.grouped:
        # Private memory is what a program fills; address space is reserved by threads and numpy far beyond it, and
        # bounding it tightly fails honest programs. It is the bound on shared anonymous memory alone.
        bounds[resource.RLIMIT_DATA] = limits.memory_mb << 20
        bounds[resource.RLIMIT_AS] = max(_ADDRESS_SPACE, limits.memory_mb << 20)
    for kind, bound in bounds.items():
        resource.setrlimit(kind, (bound, bound))


def _offer_to_oom_killer() -> None:
    descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(descriptor, b"1000")
    os.close(descriptor)


fork_hooks: list[dict[str, Callable[[], object]]] = []
"""What the modules that guests find imported want done when a guest forks."""


def _execute(argv: list[str], env: dict[str, str], cwd: str) -> None:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(cwd or ".")
        os.execvpe(argv[0], argv, {**os.environ, **env})
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
        os.write(2, f"{cwd if isinstance(error, NotADirectoryError) else argv[0]}: {reason}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
