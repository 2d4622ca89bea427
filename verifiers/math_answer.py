"""Judges a mathematical expression by equivalence, in a sandbox with a clock, because algebra may never end."""

from __future__ import annotations

import time
from contextlib import closing

from agent_envs.verifiers.answers import expected, unwrapped
from agent_envs.verifiers.dialogue import Dialogue, Silence, require
from agent_envs.verifiers.submission import Evidence, StartSandbox, any_sandbox, clipped

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

MAX_CHARACTERS = 5000
"""Longer text is no answer, and parsing it takes long."""


class MathAnswer:
    """Judges an expression (LaTeX or plain) by mathematical equivalence; needs the extra `math`.

    The secret holds `answer`, or `answers` of which any one will do. An answer whose meaning is not found within
    `time_s` is wrong; an expected answer that cannot be read is a `TaskError`.
    """

    def __init__(self, start: StartSandbox = any_sandbox, *, time_s: float = 5.0) -> None:
        self.start = start
        self.time_s = time_s

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """Whether the submitted expression equals an expected one."""
        golds = [unwrapped(str(gold)) for gold in expected(task)]
        if not all(golds):
            raise TaskError(f"task {task.id!r} expects an empty expression")
        if not artifact.submitted:
            return Verdict.unresolved("nothing was submitted")
        answer = unwrapped(artifact.answer)
        seen: Evidence = {"answer": clipped(answer), "expected": [clipped(gold) for gold in golds[:10]]}
        if not answer or len(answer) > MAX_CHARACTERS or "__" in answer:
            return Verdict.unresolved("the answer is no expression", **{**seen, "characters": len(answer)})
        require("math_verify", "math-verify", extra="math")
        with closing(self.start(packages=("math-verify",))) as sandbox:
            talk = Dialogue(sandbox, "guest_math")
            self._read_golds(talk, task, golds)
            begun = time.monotonic()
            try:
                said = talk.ask(answer, timeout_s=self.time_s)
            except Silence as silence:
                why = "took too long" if time.monotonic() - begun >= self.time_s else "could not be evaluated"
                return Verdict.unresolved(f"the answer {why}", **{**seen, "process": clipped(str(silence))})
        if said["equal"]:
            return Verdict.resolved(**seen)
        return Verdict.unresolved("the expression differs" if said["read"] else "the answer is no expression", **seen)

    def _read_golds(self, talk: Dialogue, task: Task, golds: list[str]) -> None:
        try:
            read = talk.ask(golds, timeout_s=2 * self.time_s)
        except Silence as silence:
            raise TaskError(f"what task {task.id!r} expects could not be evaluated: {silence}") from None
        if not all(read):
            raise TaskError(f"what task {task.id!r} expects is no expression: {golds[read.index(False)][:200]!r}")
