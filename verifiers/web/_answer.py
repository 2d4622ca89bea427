"""What the agent answered, read as a value of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._check import Check, Contradiction, End, Finding, Stage
from agent_envs.verifiers.web._json import Schema
from agent_envs.verifiers.web._kind import Unreadable
from agent_envs.verifiers.web._lists import List, Single

from agent_envs.json_lines import JsonObject

AnyKind = Single | List | Schema


class Answer(Check, frozen=True, tag="answer"):
    """The answer is the expected value. Never a part of a text: an answer that says several things says none."""

    kind: AnyKind
    expected: Any

    @classmethod
    def of(cls, item: JsonObject) -> Answer:
        """The check written as `{"check": "answer", "type": ..., "expected": ..., options of the type}`."""
        options = {name: value for name, value in item.items() if name not in {"check", "expected"}}
        if "expected" not in item:
            raise Contradiction("it lacks `expected`: the right answer")
        return cls(kind=msgspec.convert(options, AnyKind), expected=item["expected"])

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Those of the kind, and an expectation that is not of it."""
        problems = list(self.kind.contradictions())
        yield from problems
        if not problems:
            try:
                self.kind.gold(self.expected)
            except Unreadable as cause:
                yield f"`expected` can never be answered: {cause}"

    def judge(self, end: End) -> Finding:
        """Whether the submitted text spells the expected value."""
        seen = {"answer": clipped(end.answer), "expected": self.expected}
        if not end.submitted:
            return Finding(False, "nothing was submitted", {"expected": self.expected})
        try:
            value = self.kind.read(end.answer)
        except Unreadable as cause:
            return Finding(False, str(cause), seen)
        if self.kind.same(value, self.kind.gold(self.expected)):
            return Finding(True, evidence=seen)
        return Finding(False, "the answer differs", seen | {"read": clipped(_shown(value))})


class Infeasible(Check, frozen=True, tag="infeasible"):
    """The task cannot be done, and the agent said so instead of answering."""

    def judge(self, end: End) -> Finding:
        """Whether it was reported, and nothing was answered."""
        reported = end.state.infeasible
        if not reported:
            return Finding(False, "the task cannot be done, and the agent did not report that")
        if end.answer:
            return Finding(False, "the task cannot be done, and the agent answered", {"answer": clipped(end.answer)})
        return Finding(True, evidence={"reported": clipped(reported)})


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value[:20])
    try:
        return str(value)
    except ValueError:
        # Python writes no integers of that size.
        return "a number of thousands of digits"
