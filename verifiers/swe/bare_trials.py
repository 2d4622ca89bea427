"""Which blocks of a task's tests can be taken away: found out with its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent_envs.verifiers.swe.bare import blocks_of
from agent_envs.verifiers.swe.mixture import REAL, Planned, unit_of
from agent_envs.verifiers.swe.runs import Seen
from agent_envs.verifiers.swe.seals import RAISED

Bare = dict[str, dict[str, dict[str, tuple[str, ...]]]]
"""Path of a test file -> key of a block -> each test that ends by its exception without it -> what that reports."""


def bare_of_reference(
    sources: Mapping[str, str], required: Sequence[str], run: Callable[[Planned, Bare], Sequence[Seen]]
) -> Bare:
    """The blocks without which the reference ends the test by the same exception, in files that bear a new layout.

    `sources` are the sealed test files; `run` runs the reference, more than once, with these files laid out anew.
    """
    blocks = {path: names for path, source in sources.items() if (names := blocks_of(source))}
    if not blocks:
        return {}
    waiting = {
        test: blocks[path][name] for test in required for path, name in [unit_of(test)] if name in blocks.get(path, {})
    }
    tried: Bare = {path: {} for path in blocks}
    for test, keys in waiting.items():
        for key in keys:
            tried[unit_of(test)[0]].setdefault(key, {})[test] = ()
    laid_out = run(REAL, tried)
    failed = {unit_of(test)[0] for test in required if any(seen.statuses.get(test) != "passed" for seen in laid_out)}
    found: Bare = {path: {} for path in blocks if path not in failed}
    # One block of each function at a time, because the test ends there.
    for turn in range(max(map(len, waiting.values()), default=0)):
        raising = {test: keys[turn] for test, keys in waiting.items() if turn < len(keys) and unit_of(test)[0] in found}
        bare = {path: tuple({key for test, key in raising.items() if unit_of(test)[0] == path}) for path in found}
        ends = run(Planned("bare", bare=bare, raising=raising), tried)
        for test, key in raising.items():
            if all(seen.statuses.get(test) == RAISED for seen in ends):
                told = [{report.key for report in seen.reports.get(test, ())} for seen in ends]
                of_block = found[unit_of(test)[0]].setdefault(key, {})
                of_block[test] = tuple(sorted(set.intersection(*told)))
    return found
