"""The verdict on a repaired repository, from its file tree alone.

    artifact -> work that counts -> fresh sandboxes: tests among wrong twins, and sabotaged work -> verdict

The code under test shares a process with its tests, so no record of a pass proves anything by itself. It is believed
where the same work also fails what must fail: tests that contradict the real ones (`mixture`), and the real ones while
the code raises.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from agent_envs.verifiers.swe import commands
from agent_envs.verifiers.swe.history import with_fresh_history
from agent_envs.verifiers.swe.mixture import REAL, Planned, plan, sources_of, unit_of
from agent_envs.verifiers.swe.overlays import PatchedTests
from agent_envs.verifiers.swe.runs import Seen, run_tests
from agent_envs.verifiers.swe.seals import RAISED, Seals
from agent_envs.verifiers.swe.task import Controls, ExactMap, RequiredSet, SweTask, from_task, status_of
from agent_envs.verifiers.swe.work import Work, everything, work_of

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import ConfigError, TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import Image, ImageEngine
from agent_envs.tasks import Task

TRUST = ("sealed", "report", "exit_code")
"""How far a verdict is secured: with controls, by one record per test, or by the exit status alone."""

CREDIT = ("all", "share")

_SHOWN = 10
"""Failed tests that the evidence names."""


class SweVerifier:
    """Judges the tree an agent left by the task's hidden tests.

    Args:
        engine: Gives the engine that images run on; called for every verdict.
        trust: `sealed`; or, to measure what that is worth, `report` or `exit_code`, which can be forged.
        credit: `all`: only a full pass scores; `share`: else the share of fail-to-pass tests that pass, as long as no
            other required test fails.
        draw: Decides which tests are twins in which run; by default it is drawn anew for every verdict, and noted in
            its evidence.
    """

    def __init__(
        self,
        engine: Callable[[], ImageEngine],
        *,
        trust: str = "sealed",
        credit: str = "all",
        draw: int | None = None,
    ) -> None:
        if trust not in TRUST:
            raise ConfigError(f"trust is {trust!r}; expected one of {', '.join(TRUST)}")
        if credit not in CREDIT:
            raise ConfigError(f"credit is {credit!r}; expected one of {', '.join(CREDIT)}")
        self.engine = engine
        self.trust = trust
        self.credit = credit
        self.draw = draw
        self._patched = PatchedTests()

    def prepared(self, task: SweTask, engine: ImageEngine, image: Image) -> SweTask:
        """The task with all its tests as files; raises `TaskError` where they do not fit the image."""
        return self._patched.of(task, engine, image)

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict on one artifact; only data goes in, so it can be reached again anywhere, from a record."""
        swe = from_task(task)
        engine = self.engine()
        image = engine.build(with_fresh_history(swe.recipe))
        swe = self.prepared(swe, engine, image)
        if "." in artifact.rejected:
            return Verdict.unresolved(f"the workspace could not be carried whole: {artifact.rejected['.']}")
        work = work_of(swe, image.manifest, artifact)
        if swe.runner.framework == "command":
            return commands.verdict(swe, engine, image, work)
        if self.trust == "exit_code":
            return commands.pytest_verdict(swe, engine, image, everything(artifact))
        if not isinstance(swe.expect, RequiredSet | ExactMap):
            raise TaskError(f"task {task.id!r} runs pytest, so it expects a required set or an exact map of tests")
        draw = self.draw if self.draw is not None else secrets.randbits(64)
        if self.trust != "sealed":
            swe = replace(swe, controls=Controls())
        seals = Seals.of(swe)
        changed = bool(work.write or work.delete)
        runs = plan(swe, draw) if changed else [REAL]
        seen = _run_all(swe, engine, image, work, runs, seals)
        evidence = {
            "trust": self.trust,
            "draw": draw,
            "isolation": engine.isolation,
            "image": image.digest,
            "left_out": dict(sorted(work.left_out.items())[:_SHOWN]),
            "runs": {run.name: _summary(shown) for run, shown in zip(runs, seen, strict=True)},
        }
        flags = ("left_out",) if work.left_out else ()
        return _judge(swe, runs, seen, evidence, flags=flags, partial=self.credit == "share")


def _run_all(
    task: SweTask, engine: ImageEngine, image: Image, work: Work, runs: list[Planned], seals: Seals
) -> list[Seen]:
    """All runs at once, each in a sandbox of its own, so that none can leave a word for another."""

    sealed = seals.sources(task)

    def run(planned: Planned) -> Seen:
        sources = sources_of(task, sealed, planned)
        seen = run_tests(task, engine, image, work, sources=sources, sabotage=planned.sabotage)
        return seals.judged(seen, planned.raising)

    if len(runs) == 1:
        return [run(runs[0])]
    with ThreadPoolExecutor(len(runs)) as threads:
        return list(threads.map(run, runs))


def _judge(
    task: SweTask,
    runs: list[Planned],
    seen: list[Seen],
    evidence: JsonObject,
    *,
    flags: tuple[str, ...],
    partial: bool,
) -> Verdict:
    wanted = _wanted(task)
    if not wanted:
        raise TaskError(f"task {task.id!r} requires no test at all; run `agent-envs validate` on it first")
    shown = list(zip(runs, seen, strict=True))
    found = {test: _status(task, test, status, shown) for test, status in wanted.items()}
    wrong = {test: found[test] for test, status in wanted.items() if found[test] != status}
    parts = {"required": 1.0 - len(wrong) / len(wanted)}
    share = _share(task, wrong) if partial else 0.0
    for forged in _contradictions(wanted, wrong, shown):
        return Verdict(Outcome.TAMPERED, 0.0, parts, flags, {"why": forged, **evidence})
    ending = next((one.ending for run, one in shown if one.ending and not run.sabotage), "")
    if ending or (wrong and not share):
        why = ending or _first_wrong(wanted, wrong)
        return Verdict(Outcome.UNRESOLVED, 0.0, parts, flags, {"why": why, **evidence})
    for run, one in shown:
        if silent := _silence(run, one):
            return Verdict(Outcome.TAMPERED, 0.0, parts, flags, {"why": silent, **evidence})
    for _, one in shown:
        if unplanted := _unplanted(one):
            return Verdict(Outcome.UNRESOLVED, 0.0, parts, flags, {"why": unplanted, **evidence})
    if wrong:
        return Verdict(Outcome.UNRESOLVED, share, parts, flags, {"why": _first_wrong(wanted, wrong), **evidence})
    return Verdict(Outcome.RESOLVED, 1.0, parts, flags, evidence)


def _status(task: SweTask, test: str, wanted: str, shown: list[tuple[Planned, Seen]]) -> str:
    """What became of a required test in the runs in which it is real: the first status that is not the wanted one."""
    statuses = [status_of(task, test, seen.statuses) for run, seen in shown if run.is_real(test)]
    ends = [seen.statuses.get(test) for run, seen in shown if test in run.raising]
    statuses += ["not right without a block that waits for its exception" for end in ends if end != RAISED]
    return next((status for status in statuses if status != wanted), wanted)


def _share(task: SweTask, wrong: Collection[str]) -> float:
    """The share of the fail-to-pass tests that pass, as long as nothing is broken that worked before."""
    if not isinstance(task.expect, RequiredSet) or not set(wrong) <= set(task.expect.fail_to_pass):
        return 0.0
    return 1.0 - len(wrong) / len(task.expect.fail_to_pass)


def _first_wrong(wanted: Mapping[str, str], wrong: Mapping[str, str]) -> str:
    test, status = next(iter(wrong.items()))
    return f"{len(wrong)} of {len(wanted)} required tests are not {wanted[test]}: {test} is {status}"


def _wanted(task: SweTask) -> dict[str, str]:
    match task.expect:
        case RequiredSet(fail_to_pass=first, pass_to_pass=second):
            return dict.fromkeys((*first, *second), "passed")
        case ExactMap(statuses=statuses):
            return dict(statuses)
    return {}


def _contradictions(
    wanted: Collection[str], wrong: Collection[str], shown: list[tuple[Planned, Seen]]
) -> Iterator[str]:
    """Passes that exclude each other, or that nobody can honestly have; wrong work that guessed a twin has none."""
    right = {unit_of(test) for test in wanted} - {unit_of(test) for test in wrong}
    for run, seen in shown:
        said = seen.claims if run.sabotage else seen.statuses
        if run.sabotage and _unplanted(seen):
            continue
        passed = [test for test in run.must_fail if said.get(test) == "passed"]
        if run.sabotage and passed:
            yield f"{len(passed)} tests passed while all that they call raises, first {passed[0]}"
        both = [test for test in passed if unit_of(test) in right]
        if both and not run.sabotage:
            yield f"{len(both)} tests passed that contradict other tests which passed too, first {both[0]}"


def _silence(run: Planned, seen: Seen) -> str:
    """What is missing in a run of work that passed its real tests; empty where nothing is."""
    silent = [test for test in run.must_fail if seen.statuses.get(test) not in ("failed", "error")]
    if silent and not run.sabotage:
        return f"the wrong twin {silent[0]} was not even run by work that ran the real tests"
    return ""


def _unplanted(seen: Seen) -> str:
    """What of the work could not be made to raise; empty where nothing is of that kind."""
    missing = [module for module, path in seen.planted.items() if not path]
    where = "which is no source file of the work, and could not be loaded by itself to make what is in it raise"
    return f"the tests import {missing[0]}, {where}" if missing else ""


def _summary(shown: Seen) -> JsonObject:
    counts: dict[str, int] = {}
    for status in shown.statuses.values():
        counts[status] = counts.get(status, 0) + 1
    failed = [test for test, status in shown.statuses.items() if status != "passed"][:_SHOWN]
    return {
        "counts": counts,
        "ending": shown.ending,
        "seconds": round(shown.result.wall_s, 3),
        "failures": {test: shown.why.get(test, "")[-500:] for test in failed},
        "broken": {where: why[-500:] for where, why in shown.why.items() if where not in shown.statuses},
    }
