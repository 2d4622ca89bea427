"""Verifiers of a written answer: a text or a number. What is equal is decided by stated rules, never guessed."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction

from agent_envs.verifiers.numerals import NotANumber, exact, last_mentioned
from agent_envs.verifiers.submission import Evidence, clipped, stated

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

_QUOTES = {'"': '"', "'": "'", "`": "`", "$": "$", "\u201c": "\u201d", "\u2018": "\u2019"}
_FENCE = re.compile(r"```[\w+-]*\n(.*)\n```", re.DOTALL)
_BOXED = re.compile(r"\\boxed\s*\{(.*)\}", re.DOTALL)


class TextAnswer:
    """Judges a text by equality after normalisation.

    The secret holds `answer`, or `answers` of which any one will do. Blanks are collapsed, Unicode is composed, and
    quotes, backticks, `$` and `\\boxed{}` around the whole text are taken off; with `ignore_case` (in the secret, or
    here as the default) letters compare without case.
    """

    def __init__(self, *, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """Whether the submitted text is one of the expected ones."""
        ignore_case = stated(task, "ignore_case", bool, self.ignore_case)
        golds = [self._normal(_gold_text(task, gold), ignore_case) for gold in expected(task)]
        if not all(golds):
            raise TaskError(f"task {task.id!r} expects an empty answer, which everything unanswered would match")
        if not artifact.submitted:
            return Verdict.unresolved("nothing was submitted")
        answer = self._normal(artifact.answer, ignore_case)
        seen: Evidence = {"answer": clipped(answer), "expected": [clipped(gold) for gold in golds[:10]]}
        return Verdict.resolved(**seen) if answer in golds else Verdict.unresolved("the answer differs", **seen)

    @staticmethod
    def _normal(text: str, ignore_case: bool) -> str:
        plain = " ".join(unwrapped(unicodedata.normalize("NFC", text)).split())
        return plain.casefold() if ignore_case else plain


class NumberAnswer:
    """Judges a number by exact arithmetic and a stated tolerance.

    The secret holds `answer` (or `answers`, of which any one will do) as a number or its text, and optionally
    `relative`, `absolute` and `extract: "last"`, which reads the last number of a sentence. An expected integer
    admits no tolerance unless the secret states one. `50%` is 0.5; text that is more than one number is wrong.
    """

    def __init__(self, *, relative: float = 1e-6, absolute: float = 0.0) -> None:
        self.relative = relative
        self.absolute = absolute

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """Whether the submitted number is within the tolerance of an expected one."""
        golds = [_gold_number(task, gold) for gold in expected(task)]
        read = last_mentioned if _extracts(task) else exact
        if not artifact.submitted:
            return Verdict.unresolved("nothing was submitted")
        seen: Evidence = {
            "answer": clipped(artifact.answer),
            "expected": [_shown(gold) for gold in expected(task)[:10]],
        }
        try:
            answer = read(unwrapped(artifact.answer))
        except NotANumber as reason:
            return Verdict.unresolved(str(reason), **seen)
        if any(abs(answer - gold) <= self._tolerance(task, gold) for gold in golds):
            return Verdict.resolved(**seen)
        return Verdict.unresolved("the number differs", **seen)

    def _tolerance(self, task: Task, gold: Fraction) -> Fraction:
        stated = "relative" in task.secret or "absolute" in task.secret
        if gold.denominator == 1 and not stated:
            return Fraction(0)
        relative = _allowance(task, "relative", 0.0 if stated else self.relative)
        return max(_allowance(task, "absolute", 0.0 if stated else self.absolute), relative * abs(gold))


def expected(task: Task) -> list[object]:
    """The answers of which any one will do; raises `TaskError` where there is none."""
    if "answer" in task.secret and "answers" in task.secret:
        raise TaskError(f"the secret of task {task.id!r} holds both 'answer' and 'answers'; keep one")
    golds = stated(task, "answers", list) if "answers" in task.secret else [task.secret.get("answer")]
    if not golds or None in golds:
        raise TaskError(f"the secret of task {task.id!r} holds no expected answer; add 'answer' or 'answers'")
    return golds


def unwrapped(text: str) -> str:
    """The text without the quotes, backticks, `$` or `\\boxed{}` that enclose the whole of it."""
    for _ in range(8):
        inner = _once_unwrapped(text.strip())
        if inner == text:
            break
        text = inner
    return text


def _once_unwrapped(text: str) -> str:
    if match := _FENCE.fullmatch(text):
        return match[1]
    if (match := _BOXED.fullmatch(text)) and _balanced(match[1]):
        return match[1]
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1] and text[-1] not in text[1:-1]:
        return text[1:-1]
    if text.startswith("$$") and text.endswith("$$") and len(text) >= 4:
        return text[2:-2]
    return text


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _gold_text(task: Task, gold: object) -> str:
    if isinstance(gold, str):
        return gold
    raise TaskError(f"task {task.id!r} expects {type(gold).__name__}, not text; write the answer as a string")


def _gold_number(task: Task, gold: object) -> Fraction:
    if isinstance(gold, int) and not isinstance(gold, bool):
        return Fraction(gold)
    if isinstance(gold, float) and math.isfinite(gold):
        return Fraction(repr(gold))  # the decimal that the author wrote, not its nearest binary neighbour
    if isinstance(gold, str):
        try:
            return exact(unwrapped(gold))
        except NotANumber as reason:
            raise TaskError(f"task {task.id!r} expects {gold[:80]!r}: {reason}") from None
    raise TaskError(f"task {task.id!r} expects {_shown(gold)}, which is not a finite number")


def _shown(gold: object) -> str:
    if isinstance(gold, int) and gold.bit_length() > 4000:
        return f"an integer of {gold.bit_length()} bits"  # `str` refuses to write out the largest ones
    return clipped(str(gold))


def _allowance(task: Task, name: str, default: float) -> Fraction:
    value = stated(task, name, float, default)
    if not (math.isfinite(value) and value >= 0):
        raise TaskError(f"the secret of task {task.id!r} needs {name!r} as a finite number >= 0, not {value}")
    return Fraction(repr(value))


def _extracts(task: Task) -> bool:
    wish = task.setup.get("extract", task.secret.get("extract", ""))
    if wish not in ("", "last"):
        raise TaskError(f"task {task.id!r} has extract={wish!r}; the only extraction is 'last'")
    return bool(wish)
