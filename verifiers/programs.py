"""Judges a program by its output on hidden inputs: each input in a sandbox of its own, each comparison on the host."""

from __future__ import annotations

import math
import re
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial as bound

from agent_envs.verifiers.submission import Evidence, StartSandbox, Submission, any_sandbox, clipped, stated, submission

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import TaskError
from agent_envs.sandboxes.protocol import Limits, RunResult, Status, text
from agent_envs.tasks import Task

PATIENCE = 3.0
"""A program that used little processor time before its time was up gets this many times as much on a second try."""

_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NAMES = {Status.TIMEOUT: "timeout", Status.OUT_OF_MEMORY: "oom", Status.OUTPUT_LIMIT: "output_limit"}


class ProgramVerifier:
    """Judges a program by what it prints for each hidden input.

    The secret holds `cases`, a list of `{"stdin": ..., "stdout": ...}`, and optionally `checker` (`exact`, `tokens` or
    `floats` with `tolerance`), `time_s`, `memory_mb` and `file`, the artifact's file to judge. White space at line ends
    and empty lines at the end never count. The score is 1 where every case passes, else 0; `partial` makes it the
    share of cases that pass. Cases after the first failure run only with `every_case` or `partial`.
    """

    def __init__(
        self, start: StartSandbox = any_sandbox, *, time_s: float = 5.0, every_case: bool = False, partial: bool = False
    ) -> None:
        self.start = start
        self.time_s = time_s
        self.every_case = every_case or partial
        self.partial = partial

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict of the hidden cases on the submitted program."""
        cases, judge = _cases(task), self._judge(task)
        program = submission(task, artifact)
        if program.missing:
            return program.missing
        passed, failures = 0, []
        for number, case in enumerate(cases):
            failure = judge.failure(program, case)
            if not failure:
                passed += 1
                continue
            failures.append({"case": number, **failure})
            if not self.every_case:
                break
        verdict = self._verdict(passed, len(cases), failures)
        return replace(verdict, flags=program.flags)

    def _judge(self, task: Task) -> _Judge:
        memory_mb = stated(task, "memory_mb", int, Limits().memory_mb)
        tolerance = stated(task, "tolerance", float, 1e-6)
        checker = stated(task, "checker", str, "exact")
        if checker not in ("exact", "tokens", "floats"):
            raise TaskError(f"task {task.id!r} has the checker {checker!r}; checkers: exact, floats, tokens")
        return _Judge(
            start=bound(self.start, limits=Limits(memory_mb=memory_mb)) if "memory_mb" in task.secret else self.start,
            checker=checker,
            tolerance=tolerance,
            time_s=stated(task, "time_s", float, self.time_s),
            memory_mb=memory_mb,
        )

    def _verdict(self, passed: int, total: int, failures: list[Evidence]) -> Verdict:
        counts = {"cases": total, "cases_passed": passed}
        share = passed / total
        if passed == total:
            verdict = Verdict.resolved(**counts)
        else:
            why = f"case {failures[0]['case']}: {failures[0]['status']}"
            score = share if self.partial else 0.0
            verdict = Verdict.unresolved(why, score=score, **counts, failures=failures[:10])
        return replace(verdict, parts={"cases_passed": share})


@dataclass(frozen=True, slots=True)
class _Case:
    stdin: str
    stdout: str


def _cases(task: Task) -> list[_Case]:
    rows = stated(task, "cases", list)
    cases = [_Case(row.get("stdin", ""), row.get("stdout", "")) for row in rows if isinstance(row, dict)]
    if len(cases) != len(rows) or not all(
        isinstance(part, str) for case in cases for part in (case.stdin, case.stdout)
    ):
        raise TaskError(f'the cases of task {task.id!r} are not all {{"stdin": text, "stdout": text}}')
    if not any(case.stdout.strip() for case in cases):
        raise TaskError(f"task {task.id!r} expects no output of any case, which an empty program would match")
    return cases


@dataclass(frozen=True, slots=True)
class _Judge:
    """Runs one case and says what is wrong with it."""

    start: StartSandbox
    checker: str
    tolerance: float
    time_s: float
    memory_mb: int

    def failure(self, program: Submission, case: _Case) -> Evidence:
        """What went wrong, or nothing."""
        result = self._run(program, case, self.time_s)
        if result.status is Status.TIMEOUT and result.cpu_s < 0.8 * self.time_s:
            result = self._run(program, case, self.time_s * PATIENCE)  # it slept, or this machine was busy
        status, printed = self._status(result), text(result.stdout)
        if status == "ok" and self._same(printed, case.stdout):
            return {}
        return {
            "status": "wrong" if status == "ok" else status,
            "stdin": clipped(case.stdin),
            "expected": clipped(case.stdout),
            "printed": clipped(printed),
            "first_difference": _first_difference(printed, case.stdout),
            "stderr": clipped(text(result.stderr[-2000:])),
            "exit_code": result.exit_code,
            "signal": result.signal,
        }

    def _run(self, program: Submission, case: _Case, wall_s: float) -> RunResult:
        # A sandbox for each case, because a program could leave the answers of one case to the next in a file.
        with closing(self.start()) as sandbox:
            program.place(sandbox)
            return sandbox.run_python(
                program.source, stdin=case.stdin.encode("utf-8", "surrogatepass"), timeout_s=wall_s
            )

    def _status(self, result: RunResult) -> str:
        if result.status is Status.OK and result.cpu_s > self.time_s:
            return "timeout"
        if result.status is Status.OK and result.max_rss_mb > self.memory_mb:
            return "oom"
        return "ok" if result.ok else _NAMES.get(result.status, "crash")

    def _same(self, printed: str, expected: str) -> bool:
        if self.checker == "exact":
            return _lines(printed) == _lines(expected)
        tokens, wanted = printed.split(), expected.split()
        if self.checker == "tokens" or len(tokens) != len(wanted):
            return tokens == wanted
        return all(self._close(token, want) for token, want in zip(tokens, wanted, strict=True))

    def _close(self, token: str, want: str) -> bool:
        if token == want:
            return True
        if not (_FLOAT.fullmatch(token) and _FLOAT.fullmatch(want)) or max(len(token), len(want)) > 400:
            return False
        if _INTEGER.fullmatch(token) and _INTEGER.fullmatch(want):
            return int(token) == int(want)
        number, gold = float(token), float(want)
        return math.isfinite(number) and abs(number - gold) <= self.tolerance * max(1.0, abs(gold))


def _lines(output: str) -> list[str]:
    return [line.rstrip() for line in output.rstrip().split("\n")]


def _first_difference(printed: str, expected: str) -> str:
    got, want = _lines(printed), _lines(expected)
    for number, (a, b) in enumerate(zip(got, want, strict=False), 1):
        if a != b:
            return f"line {number}: expected {clipped(b, 200)!r}, printed {clipped(a, 200)!r}"
    return "" if len(got) == len(want) else f"expected {len(want)} lines, printed {len(got)}"
