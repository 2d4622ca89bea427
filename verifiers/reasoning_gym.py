"""Judges answers to reasoning-gym problems by the package's own scorers, in a sandbox: some of them run the answer."""

from __future__ import annotations

import builtins
import math
import re
from contextlib import closing
from dataclasses import replace

from agent_envs.verifiers.dialogue import Dialogue, Silence, require
from agent_envs.verifiers.submission import Evidence, StartSandbox, any_sandbox, clipped, stated

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

MAX_CHARACTERS = 50_000
"""Longer text is no answer to any of these problems."""

# Their scorers hand the answer to sympy, which evaluates it as Python with every builtin function at hand.
_FORMULAS = frozenset(
    {"countdown", "intermediate_integration", "polynomial_multiplication", "puzzle24", "simple_integration"}
)
_FUNCTIONS = frozenset(
    {"Abs", "Integral", "abs", "acos", "asin", "atan", "cos", "cosh", "cot", "csc", "erf", "exp"}
    | {"log", "ln", "pi", "sec", "sin", "sinh", "sqrt", "tan", "tanh"}
)
_WORD = re.compile(r"[^\W\d]\w*")
_NO_FORMULA = re.compile(r"""[^\W\d]\w*\s*\.|[)\]]\s*\.|["';:@={}\\`]""")


class ReasoningGymAnswer:
    """Judges an answer by the scorer of the reasoning-gym dataset that made the problem; needs the extra `tasks`.

    The secret holds `dataset`, `entry` (question, answer and metadata) and optionally `config`. Only a score of 1 is a
    pass, because many scorers give part of it for repeating the right answer among others; the raw score is in the
    verdict's parts, and is the score where `partial` is set.
    """

    def __init__(self, start: StartSandbox = any_sandbox, *, partial: bool = False, time_s: float = 10.0) -> None:
        self.start = start
        self.partial = partial
        self.time_s = time_s

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict of the dataset's own scorer."""
        dataset, entry = stated(task, "dataset", str), stated(task, "entry", dict)
        config = stated(task, "config", dict, {})
        if "answer" not in entry or "metadata" not in entry:
            raise TaskError(f"the entry of task {task.id!r} needs 'answer' and 'metadata'")
        if not artifact.submitted:
            return Verdict.unresolved("nothing was submitted")
        answer = artifact.answer.strip()
        seen: Evidence = {
            "dataset": dataset,
            "answer": clipped(answer),
            "expected": clipped(str(entry["answer"])),
        }
        if len(answer) > MAX_CHARACTERS or (dataset in _FORMULAS and not _is_formula(answer)):
            return Verdict.unresolved("the answer is not of the kind that was asked for", **seen)
        require("reasoning_gym", "reasoning-gym", extra="tasks")
        with closing(self.start(packages=("reasoning-gym",))) as sandbox:
            talk = Dialogue(sandbox, "guest_reasoning_gym")
            try:
                talk.ask((dataset, config), timeout_s=self.time_s)
            except Silence as silence:
                raise TaskError(f"task {task.id!r} names no dataset that can be made: {silence}") from None
            try:
                raw = talk.ask((entry, answer), timeout_s=self.time_s)
            except Silence as silence:
                seen["process"] = clipped(str(silence))
                return Verdict.unresolved("the answer could not be scored", **seen)
        return self._verdict(raw, seen)

    def _verdict(self, raw: float, seen: Evidence) -> Verdict:
        raw = min(1.0, max(0.0, raw)) if math.isfinite(raw) else 0.0
        parts = {"raw_score": raw}
        if raw == 1.0:
            return replace(Verdict.resolved(**seen), parts=parts)
        score = raw if self.partial else 0.0
        return Verdict(Outcome.UNRESOLVED, score, parts, evidence={"why": f"the scorer gave {raw:g}", **seen})


def _is_formula(answer: str) -> bool:
    """Whether evaluating the text can only calculate: known functions, short names, no strings, no attributes."""
    if _NO_FORMULA.search(answer) or not answer.isascii():
        return False
    words = _WORD.findall(answer)
    return all(word in _FUNCTIONS or (len(word) <= 2 and not hasattr(builtins, word)) for word in words)
