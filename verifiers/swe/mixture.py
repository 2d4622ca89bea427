"""Which tests are real in which run of a verdict: no run is the real one, so that none can be told from the others.

Every test function is real in one of the runs, drawn at random, and a wrong twin in all others, or a test that does
not show that it waits for an exception. Whoever knows some
right answers, from the task's own words or by solving a part of it, finds them contradicted in every run alike, and
learns nothing about the tests that are left. What is not known can only be guessed, function by function.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from agent_envs.verifiers.swe.bare import bared
from agent_envs.verifiers.swe.contradictions import tests_in
from agent_envs.verifiers.swe.task import Controls, SweTask
from agent_envs.verifiers.swe.twins import with_lines

Unit = tuple[str, str]
"""A test file and the name of a test function in it: what is twinned or not as a whole."""

Twins = Mapping[str, Mapping[str, str]]
"""Wrong lines by the path of their test file and by their number."""

RUNS = 2
"""Runs of one verdict, besides sabotage. Guessing right for n unknown functions succeeds with RUNS ** -n."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One run of a verdict."""

    name: str
    twins: Twins = field(default_factory=dict)
    """Wrong lines by the path of their file and by their number."""
    mutated: Collection[Unit] = ()
    """The functions that are twins in this run."""
    must_fail: tuple[str, ...] = ()
    """The ids of tests that honest work fails in this run."""
    bare: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The keys of the blocks that are taken away in this run, by the path of their file."""
    raising: Mapping[str, str] = field(default_factory=dict)
    """Id of a test that ends by an exception in this run -> the key of the block that would have waited for it."""
    sabotage: tuple[str, ...] = ()

    def is_real(self, test: str) -> bool:
        """Whether this run says something about a required test."""
        return not self.sabotage and unit_of(test) not in self.mutated


REAL = Planned("tests")
"""The tests as they are: all that is run where nothing is to be secured."""


def plan(task: SweTask, draw: int) -> list[Planned]:
    """The runs of a sealed verdict; the draw decides which tests are real in which of them.

    Functions of which every expectation is sealed have no twin and are real in every run.
    """
    controls = task.controls
    rng = random.Random(draw)
    units = _units(task, controls)
    runs = [REAL]
    if units:
        shuffled = rng.sample(sorted(units), len(units))
        homes = {unit: position % RUNS for position, unit in enumerate(shuffled)}
        variants = {unit: _drawn(units[unit], rng) for unit in homes}
        runs = [_mixed(units, homes, variants, number) for number in range(RUNS)]
    if controls.sabotage_tests:
        runs.append(Planned("sabotage", must_fail=controls.sabotage_tests, sabotage=controls.sabotage))
    return runs


def sources_of(task: SweTask, sealed: Mapping[str, str], run: Planned) -> dict[str, str]:
    """The sources that take the place of test files in this run: sealed, with the wrong lines of its twins."""
    files = {**task.visible_tests, **task.hidden_tests}
    sources = dict(sealed)
    for path, lines in run.twins.items():
        sources[path] = with_lines(sources.get(path) or files[path].content.decode("utf-8"), lines)
    for path in task.controls.bare:
        sources[path] = bared(sources[path], run.bare.get(path, ()))
    return sources


def unit_of(test: str) -> Unit:
    """The unit of a test id."""
    path, _, names = test.partition("::")
    return path, names.partition("[")[0].rpartition("::")[2]


@dataclass(slots=True)
class _Variant:
    """One twin of a unit, or one block that is taken away."""

    lines: dict[str, str] = field(default_factory=dict)
    must_fail: list[str] = field(default_factory=list)
    bare: str = ""
    raising: list[str] = field(default_factory=list)


_Units = Mapping[Unit, Mapping[str, _Variant]]


def _mixed(units: _Units, homes: Mapping[Unit, int], variants: Mapping[Unit, str], number: int) -> Planned:
    mutated = [unit for unit, home in homes.items() if home != number]
    chosen = [(unit[0], units[unit][variants[unit]]) for unit in mutated]
    twins: dict[str, dict[str, str]] = {}
    bare: dict[str, tuple[str, ...]] = {}
    for path, variant in chosen:
        if variant.bare:
            bare[path] = (*bare.get(path, ()), variant.bare)
        else:
            twins.setdefault(path, {}).update(variant.lines)
    return Planned(
        f"tests {number + 1}",
        twins,
        frozenset(mutated),
        must_fail=tuple(test for _, variant in chosen for test in variant.must_fail),
        bare=bare,
        raising={test: variant.bare for _, variant in chosen for test in variant.raising},
    )


def _drawn(variants: Mapping[str, _Variant], rng: random.Random) -> str:
    """One of the variants of a unit: as often one without a block, where there is any, as a twin."""
    kinds = ([name for name in variants if variants[name].bare], [name for name in variants if not variants[name].bare])
    return rng.choice(sorted(rng.choice([names for names in kinds if names])))


def _units(task: SweTask, controls: Controls) -> _Units:
    """The units that have a twin that fails with the reference, or end by an exception without a block that waits for
    it: unit -> name of the set, or key of the block -> its part of that."""
    files = {**task.visible_tests, **task.hidden_tests}
    found: dict[Unit, dict[str, _Variant]] = {}
    for name, twins in controls.twins.items():
        for path, lines in twins.items():
            spans = functions_of(files[path].content)
            for number, line in lines.items():
                if (function := spans.get(int(number))) is not None:
                    found.setdefault((path, function), {}).setdefault(name, _Variant()).lines[number] = line
        for test in controls.twin_tests.get(name, ()):
            if name in found.get(unit_of(test), {}):
                found[unit_of(test)][name].must_fail.append(test)
    for path, blocks in controls.bare.items():
        for key, tests in blocks.items():
            for test in tests:
                block = found.setdefault(unit_of(test), {}).setdefault(f"{path} {key}", _Variant(bare=key))
                block.raising.append(test)
    sure = {
        unit: {name: one for name, one in sets.items() if one.must_fail or one.raising} for unit, sets in found.items()
    }
    return {unit: sets for unit, sets in sure.items() if sets}


def functions_of(source: bytes) -> dict[int, str]:
    """The test function that each line of a file belongs to, decorators included."""
    spans: dict[int, str] = {}
    for node in tests_in(ast.parse(source)):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        spans |= dict.fromkeys(range(first, (node.end_lineno or first) + 1), node.name)
    return spans
