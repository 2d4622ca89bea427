"""The interpreter behind a Python session: it runs cells and, between them, forks snapshots of itself. Untrusted.

A snapshot is a sleeping copy that wakes when the interpreter it was made of dies, and goes on in its place.
"""

from __future__ import annotations

import builtins
import linecache
import select
import struct
from ast import Expr, Expression, Module, PyCF_ONLY_AST
from collections.abc import Iterator
from dataclasses import dataclass
from os import O_WRONLY, _exit, close, fork, getpid, listdir, pidfd_open, read, waitpid, write
from os import open as open_file
from resource import RUSAGE_SELF, getrusage
from sys import modules
from time import monotonic, process_time
from types import ModuleType
from typing import NoReturn

from agent_envs.sandboxes.namespaces import _guest

# As in _guest: out of the reach of a guest who replaces builtins. The functions imported above are bound for the same
# reason: libraries that fake time or files replace them in their modules.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]

REQUEST = struct.Struct("<QBII")
"""Nonce, whether to take a snapshot first, number of the cell, length of the code; the code follows, in frames."""
REPLY = struct.Struct("<QBIidI")
"""Nonce, kind, number of the cell, exit status, seconds of processor time, most memory in KiB; the value follows."""
FRAME = 1 << 16
_FRAME_HEAD = struct.Struct("<I?")
"""Generation of the interpreter that is meant, and whether a request begins here."""
ENDED, RAISED, SNAPSHOT = 0, 1, 2
"""Kinds of reply; a snapshot carries its pid as exit status and the last cell it has seen as number."""

_LONGEST_VALUE = 15_000
_LARGEST_VALUE = FRAME - 1024
_IDLE_MS = 10
_COSTLY_S = 0.02
_MANY_CELLS = 64
_NOTHING = 1
"""Where the processes that rehearse have an empty device, as all descriptors below 3 are there."""


def frames(generation: int, packet: bytes) -> Iterator[bytes]:
    """Cut a request into what fits through the line."""
    room = FRAME - _FRAME_HEAD.size
    for start in range(0, len(packet), room):
        yield _FRAME_HEAD.pack(generation, start == 0) + packet[start : start + room]


def serve(descriptor: int, generation: int) -> NoReturn:
    """Run cells until the host goes away."""
    try:
        _Interpreter(descriptor, generation, _guest.new_main()).serve()
    finally:
        _exit(1)


def rehearse(times: int) -> None:
    """Run cells here and drop what they show, so that the memory an interpreter writes to first has been written to."""
    main = modules["__main__"]
    interpreter = _Interpreter(_NOTHING, 1, _guest.new_main())
    for number in range(times):
        interpreter.rehearse(
            b"1 / 0" if number % 4 == 3 else b"import math\nfor i in range(2): print(i)\nsum(range(3))"
        )
    # Nothing of it is for the guests to see.
    modules["__main__"] = main
    linecache.clearcache()


@dataclass(slots=True)
class _Outcome:
    """How a cell ended."""

    kind: int
    status: int = 0
    value: bytes = b""


class _Interpreter:
    def __init__(self, descriptor: int, generation: int, main: ModuleType) -> None:
        self._descriptor = descriptor
        self._generation = generation
        self._main = main
        self._pid = getpid()
        self._number = 0
        self._unsaved = 0
        self._unsaved_s = 0.0
        self._poll = select.poll()
        # Not at the top: what this module wants done in every fork is to be left to the forks of guests.
        import random

        self._numbers, self._restore_numbers = random.getstate, random.setstate
        self._poll.register(descriptor, select.POLLIN)

    def serve(self) -> NoReturn:
        while True:
            if self._unsaved and self._time_for_snapshot():
                self._save()
            self._answer()

    def rehearse(self, code: bytes) -> None:
        """Run one cell that nobody has asked for."""
        self._run(code, 0)
        _guest.flush()

    def _answer(self) -> None:
        nonce, save_first, number, code = self._receive()
        if save_first and self._save():
            return
        began, worked = monotonic(), process_time()
        outcome = self._run(code, number)
        if getpid() != self._pid:
            # The guest has forked, and this is its child at the end of the cell.
            _guest.leave(outcome.status)
        _guest.flush()
        self._number = number
        self._reply(nonce, outcome, process_time() - worked)
        self._unsaved += 1
        self._unsaved_s += monotonic() - began

    def _run(self, code: bytes, number: int) -> _Outcome:
        name = f"<cell {number}>"
        try:
            _guest.remember_lines(name, code)
            tree = _parse(code, name)
            last = tree.body[-1] if tree.body else None
            if not isinstance(last, Expr):
                exec(compile(tree, name, "exec", dont_inherit=True), self._main.__dict__)
                return _Outcome(ENDED)
            if tree.body[:-1]:
                before = Module(tree.body[:-1], tree.type_ignores)
                exec(compile(before, name, "exec", dont_inherit=True), self._main.__dict__)
            expression = compile(Expression(last.value), name, "eval", dont_inherit=True)
            return _Outcome(ENDED, value=_shown(eval(expression, self._main.__dict__)))
        except SystemExit as error:
            status = _guest.exit_status(error)
            return _Outcome(RAISED if status else ENDED, status)
        except BaseException as error:  # noqa: BLE001 - whatever a guest raises is its result
            _guest.show_error(error)
            return _Outcome(RAISED, 1)

    def _receive(self) -> tuple[int, bool, int, bytes]:
        packet = self._frame(first=True)
        nonce, save_first, number, length = REQUEST.unpack_from(packet)
        parts = [packet[REQUEST.size :]]
        missing = length - len(parts[0])
        while missing > 0:
            parts.append(self._frame(first=False))
            missing -= len(parts[-1])
        return nonce, bool(save_first), number, b"".join(parts)

    def _frame(self, *, first: bool) -> bytes:
        """The next frame that is meant for this interpreter; one that died may have left some unread."""
        while True:
            frame = read(self._descriptor, FRAME)
            if not frame:
                _exit(0)
            if _FRAME_HEAD.unpack_from(frame) == (self._generation, first):
                return frame[_FRAME_HEAD.size :]

    def _reply(self, nonce: int, outcome: _Outcome, cpu_s: float) -> None:
        memory = getrusage(RUSAGE_SELF).ru_maxrss
        head = REPLY.pack(nonce, outcome.kind, self._number, outcome.status, cpu_s, memory)
        write(self._descriptor, head + outcome.value)

    def _time_for_snapshot(self) -> bool:
        if self._unsaved >= _MANY_CELLS or self._unsaved_s > _COSTLY_S:
            return True
        return not self._poll.poll(_IDLE_MS)

    def _save(self) -> bool:
        """Fork a snapshot; True in the snapshot itself, when it has woken."""
        self._unsaved, self._unsaved_s = 0, 0.0
        if len(listdir("/proc/self/task")) > 1:
            # A copy has only one thread: it would wait for ever for a lock that another one held.
            return False
        numbers = self._numbers()
        try:
            original = pidfd_open(self._pid)
            # Through a middle process, so that the guest's `os.wait()` does not find a child that it never made.
            middle = fork()
        except OSError:
            return False
        if middle:
            close(original)
            waitpid(middle, 0)
            return False
        try:
            snapshot = fork()
        except OSError:
            _exit(1)
        if snapshot:
            # Told by the process that is waited for, so that the host knows before the next cell can break anything.
            write(self._descriptor, REPLY.pack(0, SNAPSHOT, self._number, snapshot, 0.0, 0))
            _exit(0)
        self._sleep(original)
        # Forking has seeded it anew.
        self._restore_numbers(numbers)
        return True

    def _sleep(self, original: int) -> None:
        self._pid = getpid()
        # Where memory runs out, what goes on must be chosen before what could replace it.
        _offer_to_oom_killer(b"900")
        waiting = select.poll()
        waiting.register(original, select.POLLIN)
        if not waiting.poll()[0][1] & select.POLLIN:
            _exit(1)
        close(original)
        _offer_to_oom_killer(b"1000")
        self._generation += 1


def _offer_to_oom_killer(score: bytes) -> None:
    try:
        descriptor = open_file("/proc/self/oom_score_adj", O_WRONLY)
        write(descriptor, score)
        close(descriptor)
    except OSError:
        pass


def _parse(code: bytes, name: str) -> Module:
    tree = compile(code, name, "exec", PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, Module)
    return tree


def _shown(value: object) -> bytes:
    if value is None:
        return b""
    text = repr(value)
    if len(text) > _LONGEST_VALUE:
        text = f"{text[:_LONGEST_VALUE]}... ({len(text) - _LONGEST_VALUE} more characters)"
    return text.encode("utf-8", "backslashreplace")[:_LARGEST_VALUE]
