"""Which expectations of a task can be sealed, and what they expect: found out with its reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_envs.verifiers.swe.mixture import unit_of
from agent_envs.verifiers.swe.runs import Seen
from agent_envs.verifiers.swe.sealing import Site, in_sight, recording, sealed, sites_of
from agent_envs.verifiers.swe.seals import Seals
from agent_envs.verifiers.swe.task import Controls
from agent_envs.verifiers.swe.values import is_readable, read

_LONGEST = 20_000
"""Characters of what one expectation of a test expects that are worth keeping."""


def seals_of_reference(
    tests: Mapping[str, str], required: Collection[str], run: Callable[[Mapping[str, str]], Seen]
) -> Controls:
    """The expectations that the reference comes to, and of which it reports what they expect, whenever it is asked.

    `tests` are the sources of the test files; `run` runs the reference with other sources in their place.
    """
    sites = {path: {site.key: site for site in sites_of(source)} for path, source in tests.items()}
    sources = {path: recording(tests[path], list(found.values())) for path, found in sites.items() if found}
    values = recorded_values([run(sources), run(sources)])
    asked = False
    while True:
        sites = {path: found for path, found in sites.items() if found}
        seals = Seals(sites, values=_of_sites(values, sites))
        sources = {path: sealed(tests[path], list(found.values())) for path, found in sites.items()}
        runs = [run(sources), run(sources)]
        seals = replace(seals, ids=own_ids(runs[0], required))
        fitting = fitting_sites(seals, runs, required)
        if not asked:
            # From here on every round only takes away, so there is a last one.
            asked = True
            fitting = {path: _with_questions(source, fitting.get(path, {})) for path, source in tests.items()}
        fitting = {path: kept for path, found in fitting.items() if (kept := _secret(tests[path], found))}
        if fitting == sites:
            return _controls_of(seals, runs[0], required)
        sites = fitting


def own_ids(run: Seen, required: Collection[str]) -> dict[str, str]:
    """The own ids of the tests in a sealed run: of each function, the tests keep their order."""
    own: dict[str, list[str]] = {}
    for test in required:
        own.setdefault(test.partition("[")[0], []).append(test)
    found: dict[str, list[str]] = {}
    for test in run.statuses:
        found.setdefault(test.partition("[")[0], []).append(test)
    return {
        test: plain
        for function, tests in found.items()
        if len(tests) == len(own.get(function, ()))
        for test, plain in zip(tests, own[function], strict=True)
    }


def recorded_values(runs: Sequence[Seen]) -> dict[str, dict[str, tuple[tuple[Any, ...], ...]]]:
    """What the expectations of each test expect, where that is the same in every run; test id -> key -> each time."""
    told = []
    for run in runs:
        values: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
        for test, reports in run.reports.items():
            for report in reports:
                if report.recorded:
                    values.setdefault((test, report.key), []).append(report.recorded)
        told.append(values)
    found: dict[str, dict[str, tuple[tuple[Any, ...], ...]]] = {}
    for (test, key), each in told[0].items():
        if all(values.get((test, key)) == each for values in told) and _is_kept(each):
            found.setdefault(test, {})[key] = tuple(each)
    return found


def _is_kept(values: Sequence[Sequence[Any]]) -> bool:
    return len(str(values)) <= _LONGEST and all(is_readable(read(value)) for each in values for value in each)


def fitting_sites(seals: Seals, runs: Sequence[Seen], required: Collection[str]) -> dict[str, dict[str, Site]]:
    """The sites that the reference comes to and fits in every run, of functions whose tests all pass and are known."""
    passed = {own for test, own in seals.ids.items() if all(run.statuses.get(test) == "passed" for run in runs)}
    lost = {unit_of(test) for test in required if test not in passed}
    wrong, reached = set(), set()
    for run in runs:
        for test, own in seals.ids.items():
            path, reports = own.partition("::")[0], run.reports.get(test, [])
            reached |= {(path, report.key) for report in reports}
            wrong |= {(path, report.key) for report in seals.unfit(own, reports)}
            wrong |= {
                (path, key)
                for key, values in seals.values.get(own, {}).items()
                if sum(report.key == key for report in reports) != len(values)
            }
    return {
        path: {
            key: site
            for key, site in found.items()
            if (path, key) in reached - wrong and (path, site.function) not in lost
        }
        for path, found in seals.sites.items()
    }


def _with_questions(source: str, sites: Mapping[str, Site]) -> dict[str, Site]:
    """With questions, where there are any, in the place of the expectations that do not fit."""
    keys = [f"{number}?" for number in range(source.count("\n") + 1) if str(number) not in sites]
    return {**sites, **{site.key: site for site in sites_of(source, asked=keys) if "?" in site.key}}


def _secret(source: str, sites: Mapping[str, Site]) -> dict[str, Site]:
    """Without the sites of which anybody could see what they expect."""
    open_keys = in_sight(source, list(sites.values()))
    return {key: site for key, site in sites.items() if key not in open_keys}


_Values = Mapping[str, Mapping[str, tuple[tuple[Any, ...], ...]]]


def _of_sites(values: _Values, sites: Mapping[str, Mapping[str, Site]]) -> _Values:
    kept = {
        test: {key: each for key, each in found.items() if key in sites.get(test.partition("::")[0], {})}
        for test, found in values.items()
    }
    return {test: found for test, found in kept.items() if found}


def _controls_of(seals: Seals, run: Seen, required: Collection[str]) -> Controls:
    keys = {
        seals.ids.get(test, test): tuple(sorted({report.key for report in reports}))
        for test, reports in run.reports.items()
    }
    return Controls(
        seals={path: tuple(found) for path, found in seals.sites.items()},
        seal_keys={test: found for test, found in keys.items() if test in required},
        seal_values={
            test: {key: tuple(map(tuple, each)) for key, each in found.items()}
            for test, found in seals.values.items()
            if test in required
        },
        seal_ids={test: own for test, own in seals.ids.items() if test != own},
    )
