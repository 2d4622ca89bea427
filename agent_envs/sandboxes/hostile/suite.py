"""Run hostile programs, each in a sandbox of its own, and say what came of each as seen from outside."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent_envs.errors import ConfigError, InfraError, ToolFailed, boundary
from agent_envs.sandboxes.hostile.catalogue import PROGRAMS
from agent_envs.sandboxes.hostile.host import Bait, Family, family, still_alive
from agent_envs.sandboxes.hostile.program import ANYTHING, LIMITS, HostileProgram, Mode
from agent_envs.sandboxes.protocol import ChannelClosed, Limits, RunResult, Sandbox, SessionState, text

_SLACK_S = 20.0
"""What a run may take beyond its time-out before that counts as not having ended it."""
_MESSAGES = 64
_ALIVE_S = 60.0
_ALIVE_AFTER_SPOILING_S = 1.0


class Start(Protocol):
    """Starts a new sandbox with these limits, for instance `agent_envs.sandboxes.ladder.start_sandbox`."""

    def __call__(self, *, limits: Limits) -> Sandbox:
        """Start one."""


@dataclass(frozen=True, slots=True)
class HostileResult:
    """What came of one program in one mode."""

    name: str
    """Of the program."""
    kind: str
    mode: Mode
    status: str
    """As the sandbox reported it; empty where it reported nothing."""
    seen: str
    """What went wrong, in words; empty where everything held."""
    wall_s: float

    @property
    def passed(self) -> bool:
        """Whether the sandbox did what it promises."""
        return not self.seen


@dataclass(slots=True)
class _Attack:
    """One program at work in one sandbox, and what has been found about it so far."""

    program: HostileProgram
    mode: Mode
    code: str
    forbidden: tuple[str, ...]
    status: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def _alive_s(self) -> float:
        return _ALIVE_AFTER_SPOILING_S if self.program.spoils else _ALIVE_S

    def run(self, sandbox: Sandbox) -> None:
        """Attack, then look at the sandbox itself."""
        try:
            self._run(sandbox)
        except ToolFailed as error:
            # An answer that the agent reads, and as good as any where the program may end in any way.
            self.status = "refused"
            if self.program.statuses != ANYTHING:
                self._note(f"refused to run it: {error}")
        if self.program.check is not None:
            self._note(self.program.check(sandbox))
        else:
            self._expect_alive("a fresh program", lambda: sandbox.run_python("print('alive')", timeout_s=self._alive_s))

    def _run(self, sandbox: Sandbox) -> None:
        match self.mode:
            case Mode.SESSION:
                self._run_session(sandbox)
            case Mode.FRESH:
                self._judge(sandbox.run_python(self.code, timeout_s=self.program.timeout_s))
            case Mode.COMMAND:
                self._judge(sandbox.run(self.code, timeout_s=self.program.timeout_s))
            case Mode.SHELL:
                self._run_shell(sandbox)
            case Mode.CHANNEL:
                self._run_channel(sandbox)

    def _run_session(self, sandbox: Sandbox) -> None:
        session = sandbox.open_python()
        session.run("kept = 41")
        result = session.run(self.code, timeout_s=self.program.timeout_s)
        self._judge(result)
        if self.program.check is not None:
            return
        if result.state is SessionState.LOST:
            self._expect_alive("the next cell", lambda: session.run("print('alive')", timeout_s=self._alive_s))
        else:
            rolled_back = result.state is SessionState.ROLLED_BACK
            cell = "print('alive' if kept == 41 else 'state lost')"
            alive_s = _ALIVE_S if rolled_back else self._alive_s
            self._expect_alive("the next cell", lambda: session.run(cell, timeout_s=alive_s), certainly=rolled_back)
        session.close()
        second = sandbox.open_python()
        self._expect_alive("a second session", lambda: second.run("print('alive')", timeout_s=self._alive_s))

    def _run_shell(self, sandbox: Sandbox) -> None:
        shell = sandbox.open_shell()
        self._judge(shell.run(self.code, timeout_s=self.program.timeout_s))
        self._expect_alive("the next command", lambda: shell.run("echo alive", timeout_s=self._alive_s))
        shell.close()

    def _run_channel(self, sandbox: Sandbox) -> None:
        channel = sandbox.open_channel(self.code)
        try:
            for _ in range(_MESSAGES):
                channel.send(bytes(1 << 16), timeout_s=self.program.timeout_s)
                channel.receive(timeout_s=self.program.timeout_s)
        except ChannelClosed:
            pass
        self._judge(channel.result())

    def _expect_alive(self, what: str, run: Callable[[], RunResult], *, certainly: bool = False) -> None:
        """Certainly: even a program that spoils its own session was told that it is as it was before."""
        try:
            result = run()
        except ToolFailed as error:
            seen, ok = f"refused ({error})", False
        else:
            seen, ok = f"{result.status} {_shown(result)[:200]!r}", result.ok and result.stdout == b"alive\n"
        if not ok and (certainly or not self.program.spoils):
            self._note(f"{what} did not work afterwards: {seen}")

    def _judge(self, result: RunResult) -> None:
        program, shown = self.program, _shown(result)
        self.status = result.status
        if result.status not in program.statuses:
            self._note(f"status {result.status}, allowed {', '.join(sorted(program.statuses))}: {shown[-300:]!r}")
        self._note(*(f"printed no {wanted!r}: {shown[-300:]!r}" for wanted in program.requires if wanted not in shown))
        self._note(*(f"printed what it must not have: {shown[:300]!r}" for word in self.forbidden if word in shown))
        if result.wall_s > program.timeout_s + _SLACK_S:
            self._note(f"ran {result.wall_s:.1f} s where {program.timeout_s} s were allowed")
        largest = max(len(result.stdout), len(result.stderr), len(result.value))
        # A marked cut may be a little longer than the limit.
        if largest > LIMITS.output_bytes + 1024:
            self._note(f"{largest} bytes of output were kept where {LIMITS.output_bytes} are allowed")

    def _note(self, *problems: str) -> None:
        self.problems += filter(None, problems)


def programs() -> tuple[tuple[str, HostileProgram, Mode], ...]:
    """Every program, with its kind, in every mode it is run in."""
    return tuple(
        (kind, program, mode) for kind, members in PROGRAMS.items() for program in members for mode in program.modes
    )


def run_suite(
    start: Start, *, attacks: Sequence[tuple[str, HostileProgram, Mode]] | None = None
) -> Iterator[HostileResult]:
    """Run every program in every mode (or these `attacks` out of `programs`), yielding each result as it is known.

    After each program the host is looked at, a new sandbox must work, and all that ran before it must be gone.
    Raises `ConfigError` where the sandbox does not separate processes at all, because these programs would then
    attack this machine.
    """
    with Bait() as bait:
        _require_isolation(start)
        first = family()
        _require_isolation(start)
        # What outlives a sandbox and the next one serves them all. What is there but once was made ahead for the next.
        known = first & family()
        for kind, program, mode in programs() if attacks is None else attacks:
            result = _attack(start, bait, known, kind, program, mode)
            if result is not None:
                yield result


def _require_isolation(start: Start) -> None:
    sandbox = start(limits=LIMITS)
    try:
        ran = sandbox.run_python("import os; print(os.readlink('/proc/self/ns/pid'))")
        here = os.readlink("/proc/self/ns/pid").encode()
        if not ran.ok or not ran.stdout.startswith(b"pid:[") or ran.stdout.strip() == here:
            raise ConfigError(
                f"the sandbox ({sandbox.isolation}) shares its processes with this machine, or does not run at all "
                f"({ran.status}: {_shown(ran)[:200]!r}); the hostile suite would attack the machine itself"
            )
    finally:
        sandbox.close()


def _attack(
    start: Start, bait: Bait, known: Family, kind: str, program: HostileProgram, mode: Mode
) -> HostileResult | None:
    """None where the tier of the sandbox does not promise what the program tests."""
    forbidden = ("BREACH", *program.forbids, *bait.secrets)
    marks = bait.marks
    forbidden = tuple(marks.get(word, word) for word in forbidden)
    attack = _Attack(program, mode, program.text(marks), forbidden)
    began = time.monotonic()
    sandbox = start(limits=LIMITS)
    own: Family = frozenset()
    try:
        if program.tiers and sandbox.isolation not in program.tiers:
            return None
        with boundary(InfraError, "contain it"):
            attack.run(sandbox)
    except InfraError as error:
        attack.problems.append(f"{type(error).__name__}: {error}")
    finally:
        own = family() - known
        sandbox.close()
    wall_s = time.monotonic() - began
    attack.problems += _aftermath(start, bait, own)
    return HostileResult(program.name, kind, mode, attack.status, "; ".join(attack.problems), wall_s)


def _aftermath(start: Start, bait: Bait, own: Family) -> Iterator[str]:
    if damage := bait.damage():
        yield damage
    try:
        sandbox = start(limits=LIMITS)
        try:
            ran = sandbox.run_python("print('alive')")
        finally:
            sandbox.close()
    except InfraError as error:
        yield f"no new sandbox afterwards: {error}"
    else:
        if ran.stdout != b"alive\n":
            yield f"a new sandbox does not work afterwards: {ran.status} {_shown(ran)[:200]!r}"
    # Now that the next one has come and gone, whatever had been made ahead for it must be gone as well.
    if left := still_alive(own):
        yield f"{len(left)} processes are left: {sorted(pid for pid, _ in left)}"


def _shown(result: RunResult) -> str:
    return text(result.stdout) + text(result.stderr) + result.value
