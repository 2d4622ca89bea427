"""What an episode of AgentRL/SWE-v0 costs beside its commands: `reset`, and from `submit` to the verdict."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

from agent_envs.verifiers.swe import verifier
from agent_envs.verifiers.swe.verifier import SweVerifier
from measure import Once, Report, Stopwatch, interleave
from swe_raw import Raw
from swe_task import Player, lent_engine, solved_recipe

from agent_envs.sandboxes.docker import DockerEngine, _container, _once
from agent_envs.sandboxes.docker._container import Container
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.images import ImageEngine
from agent_envs.sandboxes.roots import NamespaceEngine
from agent_envs.sandboxes.roots.sandbox import RootSandbox

_RAW = "create + start by the raw API"
_COLD = "ours: reset, cold, Docker"
_WARM = "ours: reset, with a warm pool (ready=2), Docker"
_BARE = "ours: reset, namespaces"
_CROWDED = "ours: reset, namespaces, right after another's"
"""When the process that was made ahead has just been taken."""
_AND_COMMAND = ", and the first command"
_TESTS = "its tests, once, as a container's own command by the raw API"
_TESTS_ALONE = "- the same, its network left alone by the engine, as ours are"
_EMPTY = "a container that runs `true`, by the raw API"
_EMPTIES = "three of those at once"
_SUBMIT = "ours: submit to verdict, Docker"
_SUBMIT_BARE = "ours: submit to verdict, namespaces"


def measure_resets(report: Report, players: dict[str, Player], raw: Raw | None, *, rounds: int) -> None:
    """From nothing to an observation, the image being there; the second line includes one trivial command."""
    report.section("reset: from nothing to the first observation, and to the end of the first command")
    contenders: dict[str, Once] = {}
    with ExitStack() as open_ones:
        if raw is not None:
            pool = open_ones.enter_context(lent_engine("docker", ready=2))
            warm = open_ones.enter_context(closing(Player("docker", *players["docker"].inner.tasks, ready=2)))
            contenders |= {_RAW: _created(raw, raw.start), _RAW + _AND_COMMAND: _created(raw, raw.first_command)}
            contenders |= _resets(_COLD, players["docker"])
            contenders |= _resets(_WARM, warm, after=lambda: _wait(pool))
            warm.reset()
            warm.drop()
            _wait(pool)
        if "namespaces" in players:
            other = open_ones.enter_context(closing(Player("namespaces", *players["namespaces"].inner.tasks)))
            contenders |= _resets(_BARE, players["namespaces"])
            contenders |= _resets(_CROWDED, players["namespaces"], before=other.reset)
        spreads = interleave(contenders, rounds=rounds)
    bounds = {_WARM: 30, _BARE: 40, _CROWDED: 40}
    for name, spread in spreads.items():
        report.add(name, spread.median * 1e3, "ms", at_most=bounds.get(name), note=f"p95 {spread.p95 * 1e3:.1f}")
    for more in ("", _AND_COMMAND) if raw is not None else ():
        ratio = spreads[_COLD + more].median / spreads[_RAW + more].median
        report.add(f"cold / {_RAW}{more}", ratio, "x", at_most=None if more else 1.3)


def _nothing() -> None:
    return


def _resets(
    name: str, player: Player, *, before: Callable[[], None] = _nothing, after: Callable[[], None] = _nothing
) -> dict[str, Once]:
    def timed(also: Callable[[], None]) -> Once:
        def once() -> float:
            before()
            began = time.perf_counter()
            player.reset()
            also()
            took = time.perf_counter() - began
            player.drop()
            after()
            return took

        return once

    return {name: timed(_nothing), name + _AND_COMMAND: timed(player.command)}


def _wait(engine: ImageEngine) -> None:
    assert isinstance(engine, DockerEngine)
    assert engine.wait_until_ready(60)


def _created(raw: Raw, start: Callable[[], str]) -> Once:
    def once() -> float:
        began = time.perf_counter()
        number = start()
        took = time.perf_counter() - began
        raw.remove(number)
        return took

    return once


def measure_verdicts(report: Report, players: dict[str, Player], raw: Raw | None, *, rounds: int) -> None:
    """Freeze, destroy, and judge in three fresh sandboxes: two runs of tests among twins, and the sabotaged work."""
    report.section("from submit to the verdict: freeze, destroy, verify; 5 tests, both kinds of control")
    contenders: dict[str, Once] = {}
    if raw is not None:
        with lent_engine("docker") as engine:
            image = engine.build(solved_recipe())
        contenders |= {
            _TESTS: lambda: raw.run_tests(image.name, image.workspace),
            _TESTS_ALONE: lambda: raw.run_tests(image.name, image.workspace, network_disabled=True),
            _EMPTY: raw.run_nothing,
            _EMPTIES: lambda: _at_once(raw.run_nothing),
        }
    contenders |= {
        {"docker": _SUBMIT, "namespaces": _SUBMIT_BARE}[kind]: _submitted(player) for kind, player in players.items()
    }
    watches = {kind: Stopwatch() for kind in players}
    spreads = interleave(contenders, rounds=rounds)
    for kind, watch in watches.items():
        with watch.on(*_STAGES[kind]):
            for _ in range(max(3, rounds // 2)):
                _submitted(players[kind])()
    for name, spread in spreads.items():
        report.add(name, spread.median * 1e3, "ms", note=f"p95 {spread.p95 * 1e3:.1f}")
    if raw is not None:
        report.add("Docker / its tests, once", spreads[_SUBMIT].median / spreads[_TESTS].median, "x", at_most=2)
        ratio = spreads[_SUBMIT].median / spreads[_TESTS_ALONE].median
        report.add("Docker / the same, its network left alone", ratio, "x")
    for kind, watch in watches.items():
        _stages(report, kind, watch)


def _at_once(once: Callable[[], None], count: int = 3) -> None:
    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(once) for _ in range(count)]:
            done.result()


def _submitted(player: Player) -> Once:
    def once() -> float:
        player.repair()
        began = time.perf_counter()
        player.submit()
        return time.perf_counter() - began

    return once


_NOTHING_S = 1e-4
_RUNS = "verify: all runs, at once"
_STAGES: dict[str, tuple[tuple[str, object, str], ...]] = {
    "docker": (
        ("freeze", DockerSandbox, "freeze_changes"),
        ("- of which: end everything in it", Container, "kill"),
        ("destroy", DockerSandbox, "close"),
        ("verify", SweVerifier, "verify"),
        (_RUNS, verifier, "_run_all"),
        ("- one run", DockerEngine, "run_once"),
        ("-   create its container", _container, "create"),
        ("-   start it, run the tests, read them", _once, "run_to_end"),
        ("-   remove a container", Container, "remove"),
    ),
    "namespaces": (
        ("freeze", RootSandbox, "freeze_changes"),
        ("destroy", RootSandbox, "close"),
        ("verify", SweVerifier, "verify"),
        (_RUNS, verifier, "_run_all"),
        ("- one run", NamespaceEngine, "run_once"),
    ),
}


def _stages(report: Report, kind: str, watch: Stopwatch) -> None:
    report.section(f"where that goes, {kind} (timers inside)")
    for name, taken in watch.seconds.items():
        # The loop closes a session twice, and the second time there is nothing to do.
        worked = [seconds for seconds in taken if seconds > _NOTHING_S]
        report.add(name, statistics.median(worked) * 1e3, "ms")
