"""What one hostile program is: its text, and what may and may not come of it, as data.

A program that gets something it must not have prints `BREACH`; nothing else about it needs to be believed, because
everything else is looked at from outside.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from agent_envs.sandboxes.protocol import Limits, Sandbox, Status

LIMITS = Limits(memory_mb=256, processes=32, file_mb=16, disk_mb=16, output_bytes=1 << 16, open_files=128)
"""The limits the programs are written for: small, so that reaching them is quick."""

ANYTHING = frozenset(Status)
FINE = frozenset({Status.OK})
FAILED = ANYTHING - FINE
ERROR = frozenset({Status.ERROR})
TIMEOUT = frozenset({Status.TIMEOUT})
ENDED = frozenset({Status.KILLED, Status.ERROR})
"""It died, or left before its end; never a success."""

PRELUDE = """
import ctypes, errno, os, signal, sys, time
def attempt(what, *arguments, **options):
    try:
        result = what(*arguments, **options)
    except BaseException as error:
        print("refused:", type(error).__name__, error, flush=True)
    else:
        print("BREACH", repr(result)[:200], flush=True)
def syscall(number, *arguments):
    result = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
"""
"""What every program begins with: `attempt` tries what must be refused, `syscall` goes past the C library."""


class Mode(StrEnum):
    """How a program is run."""

    SESSION = "session"
    """As a cell of an interpreter that keeps its state."""
    FRESH = "fresh"
    """As a program of its own."""
    COMMAND = "command"
    """As a shell command line of its own."""
    SHELL = "shell"
    """As a command line of a shell that keeps its state."""
    CHANNEL = "channel"
    """As a program that exchanges messages with the host."""


PYTHON = (Mode.SESSION, Mode.FRESH)
SHELLS = (Mode.COMMAND, Mode.SHELL)
Check = Callable[[Sandbox], str]
"""A look from outside after the program has run; it says what is wrong, or nothing."""


@dataclass(frozen=True, slots=True)
class HostileProgram:
    """A program that attacks, and everything that may come of it."""

    name: str
    code: str
    """`@FILE@`, `@PORT@`, `@ABSTRACT@` and `@PID@` stand for things of the host that the suite puts in reach."""
    statuses: frozenset[Status] = FINE
    requires: tuple[str, ...] = ()
    """Each must be in what it printed: the attack really took place."""
    forbids: tuple[str, ...] = ()
    """None may be in what it printed, besides `BREACH` and the secrets of the host."""
    timeout_s: float = 30.0
    modes: tuple[Mode, ...] = PYTHON
    tiers: tuple[str, ...] = ()
    """The tiers whose promise it tests; empty for all."""
    check: Check | None = None
    spoils: bool = False
    """It may make its own session or sandbox useless (full, crowded, patched), though never anybody else's."""

    def text(self, replacements: dict[str, str]) -> str:
        """The program as it is run."""
        code = textwrap.dedent(self.code)
        for mark, value in replacements.items():
            code = code.replace(mark, value)
        return code if self.modes == SHELLS else PRELUDE + code


def refused(name: str, expression: str, *, before: str = "", modes: tuple[Mode, ...] = PYTHON) -> HostileProgram:
    """A program that tries one expression, which must raise."""
    code = f"{textwrap.dedent(before)}\nattempt(lambda: {expression})\n"
    return HostileProgram(name, code, requires=("refused:",), modes=modes)
