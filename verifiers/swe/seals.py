"""The seals of a task: its test files without their answers, and what the reports of a run amount to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_envs.verifiers.swe.runs import Seen
from agent_envs.verifiers.swe.sealing import Report, Site, sealed, sites_of
from agent_envs.verifiers.swe.task import SweTask
from agent_envs.verifiers.swe.values import shown

from agent_envs.errors import TaskError

RAISED = "raised"
"""The status of a test that ended by the exception that it should end by."""


@dataclass(frozen=True, slots=True)
class Seals:
    """The sealed expectations of a task's tests."""

    sites: Mapping[str, Mapping[str, Site]] = field(default_factory=dict)
    """Path of a test file -> key -> the expectation."""
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Test id -> what it must report."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Id while sealed -> own id."""
    bare: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = field(default_factory=dict)
    """Path -> key of a block -> test id -> what it must report without that block."""
    values: Mapping[str, Mapping[str, Sequence[Sequence[Any]]]] = field(default_factory=dict)
    """Test id -> key -> what is expected, each time; where it was recorded."""

    @classmethod
    def of(cls, task: SweTask) -> Seals:
        """The seals that were certified for a task."""
        controls = task.controls
        sites = {}
        for path, keys in controls.seals.items():
            known = {site.key: site for site in sites_of(_source(task, path), asked=keys)}
            if not known.keys() >= set(keys):
                raise TaskError(
                    f"task {task.id!r}: {path} has no expectation {min(set(keys) - known.keys())!r}, which its"
                    " certificate seals; run `agent-envs validate` again, because the tests have changed since"
                )
            sites[path] = {key: known[key] for key in keys}
        return cls(sites, controls.seal_keys, controls.seal_ids, controls.bare, controls.seal_values)

    def sources(self, task: SweTask) -> dict[str, str]:
        """The test files without what is sealed, by their paths."""
        return {path: sealed(_source(task, path), list(sites.values())) for path, sites in self.sites.items() if sites}

    def judged(self, seen: Seen, raising: Mapping[str, str] | None = None) -> Seen:
        """The run under its tests' own ids, in which a test that reports a wrong value, or too little, has failed.

        Where a test is to end by the exception that a block of it would have waited for (`raising`, see `Planned`), it
        has `RAISED` that.
        """
        statuses, why = {}, dict(seen.why)
        reports = {self.ids.get(test, test): told for test, told in seen.reports.items()}
        for test, status in seen.statuses.items():
            own = self.ids.get(test, test)
            if raising and own in raising:
                right = self._ends(own, raising[own], seen.raised.get(test), reports.get(own, []))
                statuses[own] = RAISED if status == "failed" and right else status
                continue
            problem = self._problem(own, reports.get(own, [])) if status == "passed" else ""
            statuses[own] = "failed" if problem else status
            why |= {own: problem} if problem else {}
        claims = {self.ids.get(test, test): status for test, status in seen.statuses.items()}
        return replace(seen, statuses=statuses, claims=claims, why=why, reports=reports)

    def _ends(self, test: str, key: str, raised: Report | None, reports: Sequence[Report]) -> bool:
        """Whether a test has ended by the exception it should end by, and reports what it should even so."""
        path = test.partition("::")[0]
        recorded = self.values.get(test, {}).get(key, ((),))[0]
        if raised is None or not self.sites[path][key].accepts(raised, recorded) or any(self.unfit(test, reports)):
            return False
        return {report.key for report in reports} >= set(self.bare.get(path, {}).get(key, {}).get(test, ()))

    def unfit(self, test: str, reports: Sequence[Report]) -> Iterator[Report]:
        """The reports of a test, by its own id, that are not what is expected."""
        sites = self.sites.get(test.partition("::")[0], {})
        times: dict[str, int] = {}
        for report in reports:
            site = sites.get(report.key)
            time = times[report.key] = times.get(report.key, 0) + 1
            recorded = self.values.get(test, {}).get(report.key, ())[time - 1 : time]
            if site is None or not site.accepts(report, recorded[0] if recorded else ()):
                yield report

    def _problem(self, test: str, reports: Sequence[Report]) -> str:
        """Why the reports of a test are not those of a pass; empty where they are."""
        for report in self.unfit(test, reports):
            return f"it got {', '.join(map(shown, report.values))}, which is not what is expected"
        got = Counter(report.key for report in reports)
        fewer = [key for key in self.keys.get(test, ()) if not got[key]]
        fewer += [key for key, values in self.values.get(test, {}).items() if got[key] != len(values)]
        return f"{len(set(fewer))} of its expectations were never reached, or not as often as they are" if fewer else ""


def _source(task: SweTask, path: str) -> str:
    return {**task.visible_tests, **task.hidden_tests}[path].content.decode("utf-8")
