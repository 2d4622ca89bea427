"""Checks made of checks: any of several, all of several, not this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_envs.verifiers.web._check import Check, End, Finding, Stage

from agent_envs.json_lines import JsonObject


class Several(Check, frozen=True):
    """What `any` and `all` share."""

    of: tuple[Check, ...]

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """None of its own but having no parts; those of the parts, numbered."""
        if not self.of:
            yield "`of` is empty; name at least one check"
        for number, part in enumerate(self.of, start=1):
            yield from (f"`of` {number}: {problem}" for problem in part.contradictions(stage))


class AnyOf(Several, frozen=True, tag="any"):
    """At least one of these holds."""

    def demands(self, stage: Stage) -> bool:
        """Whether every way to pass asks for something."""
        return all(part.demands(stage) for part in self.of)

    def judge(self, end: End) -> Finding:
        """The first that holds, or what each of them found."""
        found = []
        for number, part in enumerate(self.of, start=1):
            found.append(part.judge(end))
            if found[-1].passed:
                return Finding(True, evidence={"of": number} | found[-1].evidence)
        return Finding(False, "none of the alternatives holds", {"of": [shown(one) for one in found]})


class AllOf(Several, frozen=True, tag="all"):
    """All of these hold: one alternative made of several checks."""

    def demands(self, stage: Stage) -> bool:
        """Whether one of them asks for something."""
        return any(part.demands(stage) for part in self.of)

    def judge(self, end: End) -> Finding:
        """The first that fails."""
        for number, part in enumerate(self.of, start=1):
            found = part.judge(end)
            if not found.passed:
                return Finding(False, found.why, {"of": number} | found.evidence)
        return Finding(True)


class Not(Check, frozen=True, tag="not"):
    """This does not hold."""

    of: Check

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Those of what must not hold."""
        yield from (f"`of`: {problem}" for problem in self.of.contradictions(stage))

    def demands(self, stage: Stage) -> bool:
        """An agent that does nothing passes."""
        return False

    def judge(self, end: End) -> Finding:
        """Whether it fails."""
        found = self.of.judge(end)
        return Finding(not found.passed, "what must not hold holds" if found.passed else "", found.evidence)


def parts_of(check: Check) -> Iterator[Check]:
    """The check and everything it is made of."""
    yield check
    inner: tuple[Any, ...] = check.of if isinstance(check, Several) else (check.of,) if isinstance(check, Not) else ()
    for part in inner:
        yield from parts_of(part)


def shown(finding: Finding) -> JsonObject:
    """A finding as a reader of a verdict sees it."""
    return ({} if finding.passed else {"why": finding.why}) | finding.evidence
