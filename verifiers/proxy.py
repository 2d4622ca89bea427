"""Proxy grading: a dataset's asserts run in one sandbox, the submitted program in another, and only values cross.

The program sees inputs, one call at a time, and answers with typed literals; whether it passed is said by the checker
alone, on a channel that the program's process never had.
"""

from __future__ import annotations

import math
import secrets
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from signal import SIGXCPU

from agent_envs.verifiers.guest_candidate import TOKEN_BYTES
from agent_envs.verifiers.guests import open_guest
from agent_envs.verifiers.literals import LiteralMalformed, LiteralRefused, decode, encode
from agent_envs.verifiers.submission import Evidence, StartSandbox, any_sandbox, clipped, stated, submission

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import TaskError, VerifierFailed
from agent_envs.sandboxes.protocol import Channel, ChannelClosed, Status, text
from agent_envs.tasks import Task

WALL_PER_CPU = 3.0
"""Limits count processor seconds; on a busy machine, or asleep, a guest gets this many times as much wall time."""

_ENDINGS = {Status.OUT_OF_MEMORY: "ran out of memory", Status.OUTPUT_LIMIT: "printed too much"}


class ProxyVerifier:
    """Judges a program by a dataset's own asserts, without the program ever sharing a process with them.

    The secret holds `entry_point` (or `entry_points`) and either `test`, source that defines `check(candidate)` or
    functions `test_...`, or `asserts`, a list of statements. Optional: `prelude`, trusted source that the asserts use;
    `reference`, a reference solution to which the entry points resolve inside `test`; `preamble`, source that runs
    before the program; `file`, the artifact's file to judge; `materialise`, how many items of a returned iterator to
    take; `time_s`, processor seconds per call; `total_s`, for everything.
    """

    def __init__(self, start: StartSandbox = any_sandbox, *, call_s: float = 5.0, total_s: float = 30.0) -> None:
        self.start = start
        self.call_s = call_s
        self.total_s = total_s

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict of the task's asserts on the submitted program."""
        call_s = stated(task, "time_s", float, self.call_s)
        total_s = stated(task, "total_s", float, self.total_s)
        job = _checks(task, cpu_s=math.ceil(total_s))
        program = submission(task, artifact)
        if program.missing:
            return program.missing
        candidate = {
            "preamble": stated(task, "preamble", str, ""),
            "source": program.source,
            "call_s": call_s,
            "materialise": stated(task, "materialise", int, 0),
        }
        with ExitStack() as stack:
            checker = open_guest(stack.enter_context(closing(self.start())), "literals", "guest_checker")
            sandbox = stack.enter_context(closing(self.start()))  # while the checker's guest wakes up
            program.place(sandbox)
            relay = _Relay(
                open_guest(sandbox, "literals", "guest_candidate"),
                checker,
                call_wall_s=call_s * WALL_PER_CPU,
                deadline=time.monotonic() + total_s * WALL_PER_CPU,
            )
            verdict = relay.judge(encode(job), encode(candidate))
        return replace(verdict, flags=(*verdict.flags, *program.flags))


def _checks(task: Task, *, cpu_s: int) -> dict[str, object]:
    """What the checker's guest needs; raises `TaskError` where nothing could ever fail."""
    names = stated(task, "entry_points", list, [stated(task, "entry_point", str, "")])
    job: dict[str, object] = {name: stated(task, name, str, "") for name in ("prelude", "reference", "test")}
    job |= {"asserts": stated(task, "asserts", list, []), "entry_points": names, "cpu_s": cpu_s}
    if not names or not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise TaskError(f"the secret of task {task.id!r} names no entry point; add 'entry_point': the function's name")
    if not all(isinstance(check, str) for check in stated(task, "asserts", list, [])):
        raise TaskError(f"the 'asserts' of task {task.id!r} are not all source text")
    if bool(job["test"]) == bool(job["asserts"]):
        raise TaskError(f"the secret of task {task.id!r} needs either 'test' or a non-empty 'asserts'")
    try:
        encode(job)
    except LiteralRefused as refusal:
        raise TaskError(f"the checks of task {task.id!r} cannot be sent: {refusal}") from None
    return job


class _Decided(Exception):
    """The verdict is known before the checker's own word."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.evidence.get("why"))
        self.verdict = verdict


@dataclass
class _Relay:
    """Carries calls from the checker to the candidate and values back; looks inside neither."""

    candidate: Channel
    checker: Channel
    call_wall_s: float
    deadline: float
    calls: int = 0
    last_call: str = ""
    last_answer: str = ""

    def judge(self, job: bytes, program: bytes) -> Verdict:
        try:
            self._tell_checker(job)
            self._ask(program, doing="loading")
            return self._farewell(self._follow())
        except _Decided as decided:
            return decided.verdict

    def _follow(self) -> Verdict:
        while True:
            frame = self._hear_checker()
            if frame[:1] == b"V":
                return self._verdict(frame)
            if frame[:1] != b"C":
                raise VerifierFailed(f"the checker sent a frame of kind {frame[:1]!r}")
            self.calls += 1
            self.last_call, self.last_answer = _seen(frame), ""
            answer = self._ask(frame[1:], doing=f"call {self.calls}")
            self.last_answer = _seen(answer)
            self._tell_checker(answer)

    def _ask(self, request: bytes, *, doing: str) -> bytes:
        """The candidate's answer to one request; every way not to answer decides the verdict."""
        token = secrets.token_bytes(TOKEN_BYTES)
        wall_s = max(0.0, min(self.call_wall_s, self.deadline - time.monotonic()))
        begun = time.monotonic()
        try:
            self.candidate.send(token + request, timeout_s=wall_s)
            frame = self.candidate.receive(timeout_s=wall_s)
        except ChannelClosed as closed:
            late = time.monotonic() - begun >= wall_s
            raise _Decided(self._gone(doing, closed, late=late)) from None
        answer = frame[TOKEN_BYTES:]
        if frame[:TOKEN_BYTES] != token:
            raise _Decided(self._unasked(frame, doing))
        if answer[:1] == b"X":
            raise _Decided(self._unresolved(f"the program {_reason(answer)}", doing=doing))
        if answer[:1] not in (b"R", b"E", b"Q"):
            raise _Decided(self._unresolved("the program's process sent a malformed answer", doing=doing))
        return answer

    def _farewell(self, verdict: Verdict) -> Verdict:
        """The same verdict, unless the candidate had sent more answers than it was asked for."""
        self.call_wall_s = min(self.call_wall_s, 1.0)
        try:
            self._ask(b"", doing="the end")
        except _Decided as decided:
            if "forged" in decided.verdict.evidence:
                return decided.verdict
        return verdict

    def _unasked(self, frame: bytes, doing: str) -> Verdict:
        if any(_is_literal(frame[start:]) for start in (1, TOKEN_BYTES + 1)):
            why = "the program's process sent an answer that it was not asked for"
            return Verdict.tampered(why, doing=doing, forged=clipped(repr(frame[:200])), **self._seen())
        return self._unresolved("the program's process sent a malformed answer", doing=doing)

    def _gone(self, doing: str, closed: ChannelClosed, *, late: bool) -> Verdict:
        result = self.candidate.result()
        late = late or result.signal == SIGXCPU or result.status is Status.TIMEOUT
        how = "took too long" if late else _ENDINGS.get(result.status, "died")
        return self._unresolved(
            f"the program {how} in {doing}",
            status=result.status.value,
            signal=result.signal,
            exit_code=result.exit_code,
            cpu_s=round(result.cpu_s, 3),
            channel=clipped(str(closed)),
            stderr=clipped(text(result.stderr[-2000:])),
        )

    def _verdict(self, frame: bytes) -> Verdict:
        try:
            said = decode(frame[1:])
        except LiteralMalformed as flaw:
            raise VerifierFailed(f"the checker's verdict is malformed: {flaw}") from None
        counts = {name: said[name] for name in ("calls", "checks", "checks_passed")}
        if said["outcome"] == "passed" and counts["calls"] == self.calls > 0:
            return replace(Verdict.resolved(**counts), parts={"checks_passed": 1.0})
        if said["outcome"] == "fault":
            raise TaskError(f"{said['why']} {said['where']}".strip())
        verdict = self._unresolved(said["why"], failed=said["where"], **counts)
        return replace(verdict, parts={"checks_passed": counts["checks_passed"] / max(1, counts["checks"])})

    def _tell_checker(self, message: bytes) -> None:
        try:
            self.checker.send(message, timeout_s=max(0.0, self.deadline - time.monotonic()))
        except ChannelClosed as closed:
            raise self._checker_gone(closed) from None

    def _hear_checker(self) -> bytes:
        try:
            return self.checker.receive(timeout_s=max(0.0, self.deadline - time.monotonic()))
        except ChannelClosed as closed:
            raise self._checker_gone(closed) from None

    def _checker_gone(self, closed: ChannelClosed) -> Exception:
        """Only values of the program can exhaust a checker that has already worked; before that, the fault is ours."""
        if not self.last_answer:
            return VerifierFailed(f"the checker ended before the first answer: {closed}")
        result = self.checker.result()
        why = "the checks did not end on the program's answer"
        stderr = clipped(text(result.stderr[-2000:]))
        return _Decided(self._unresolved(why, status=result.status.value, signal=result.signal, stderr=stderr))

    def _unresolved(self, why: str, **evidence: object) -> Verdict:
        return Verdict.unresolved(clipped(why), **{**self._seen(), **evidence})

    def _seen(self) -> Evidence:
        return {"calls": self.calls, "last_call": self.last_call, "last_answer": self.last_answer}


def _reason(answer: bytes) -> str:
    try:
        return clipped(str(decode(answer[1:2000])))
    except LiteralMalformed:
        return "gave no readable reason for not answering"


def _is_literal(encoded: bytes) -> bool:
    try:
        decode(encoded)
    except LiteralMalformed:
        return False
    return True


def _seen(frame: bytes) -> str:
    """A call or an answer as a reader can see it; large ones only by size."""
    if len(frame) > 2000 or not _is_literal(frame[1:]):
        return f"{len(frame)} bytes"
    return clipped(repr(decode(frame[1:])))
