"""Admission: a task is believed only once its own solutions have been tried, again and again.

The base must fail, the reference must pass, each wrong solution must fail; what does not repeat is quarantined. The
must-fail controls are chosen here too, by what the reference really fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_envs.verifiers.swe.bare_trials import Bare, bare_of_reference
from agent_envs.verifiers.swe.conditions import pins
from agent_envs.verifiers.swe.history import with_fresh_history
from agent_envs.verifiers.swe.mixture import Planned, plan, sources_of
from agent_envs.verifiers.swe.overlays import PatchedTests
from agent_envs.verifiers.swe.runs import Seen, run_tests, test_files
from agent_envs.verifiers.swe.sabotage import modules_of, targets_of
from agent_envs.verifiers.swe.seal_trials import seals_of_reference
from agent_envs.verifiers.swe.seals import Seals
from agent_envs.verifiers.swe.solutions import work_of_solution
from agent_envs.verifiers.swe.task import Controls, RequiredSet, Solution, SweTask, to_task
from agent_envs.verifiers.swe.twins import changed_lines, twin_of
from agent_envs.verifiers.swe.verifier import SweVerifier
from agent_envs.verifiers.swe.work import Work

from agent_envs.artifact import Artifact, Outcome
from agent_envs.sandboxes.images import Image, ImageEngine

_DRAWS = 2
TWIN_SETS = ("a", "b", "c")
"""A verdict draws one of them, so that no run of the tests is like all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was found out about one task, and everything its verdicts rest on."""

    task: str
    image: str
    """Digest of the image it was tried on."""
    repeats: int
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    flaky: Mapping[str, float] = field(default_factory=dict)
    """Quarantined tests, and how often they passed with the reference."""
    controls: Controls = field(default_factory=Controls)
    wrong: Mapping[str, str] = field(default_factory=dict)
    """Each wrong solution and the first required test that it fails."""
    uncontrolled: tuple[str, ...] = ()
    """Required tests that no control covers: for these a verdict is only as good as its records."""
    loose: tuple[str, ...] = ()
    """Those of `fail_to_pass` that only bound or relate what the work says, so that many answers meet them."""
    problems: tuple[str, ...] = ()
    """Why it cannot be admitted; empty where it is."""

    @property
    def admitted(self) -> bool:
        """Whether verdicts on this task can be believed."""
        return not self.problems

    @property
    def summary(self) -> dict[str, object]:
        """Its figures for a table."""
        return {
            "repair": len(self.fail_to_pass),
            "keep": len(self.pass_to_pass),
            "open": len(self.uncontrolled),
            "loose": len(self.loose),
            "flaky": len(self.flaky),
            "wrong": sum(bool(test) for test in self.wrong.values()),
        }

    def applied_to(self, task: SweTask) -> SweTask:
        """The task with the expectation and the controls that were certified."""
        required = RequiredSet(fail_to_pass=self.fail_to_pass, pass_to_pass=self.pass_to_pass)
        return replace(task, expect=required, controls=self.controls)


def admit(task: SweTask, engine: ImageEngine, *, repeats: int = 3) -> Certificate:
    """Try a task's base, reference and wrong solutions `repeats` times each, and say what its verdicts may rest on."""
    image = engine.build(with_fresh_history(task.recipe))
    # An earlier admission says nothing about this one.
    task = replace(PatchedTests().of(task, engine, image), controls=Controls())
    trial = _Trial(task, engine, image, repeats)
    base = trial.repeated(Work())
    reference = work_of_solution(task, engine, trial.image, task.reference)
    solved = trial.repeated(reference)
    flaky = {test: rate for test, rate in _rates(solved).items() if 0 < rate < 1 or _differs(test, base)}
    passing = [test for test, rate in _rates(solved).items() if rate == 1 and test not in flaky]
    before = {test for test, rate in _rates(base).items() if rate == 1}
    first = tuple(test for test in passing if test not in before)
    second = tuple(test for test in passing if test in before)
    controls = trial.disentangled(
        reference, trial.controls(reference, tuple(passing), known=_rates([*base, *solved])), tuple(passing)
    )
    wrong = {
        f"{n}: {solution.why}": trial.failure(solution, (*first, *second)) for n, solution in enumerate(task.wrong)
    }
    found = Certificate(
        task=task.id,
        image=trial.image.digest,
        repeats=repeats,
        fail_to_pass=first,
        pass_to_pass=second,
        flaky=flaky,
        controls=controls,
        wrong=wrong,
        uncontrolled=tuple(test for test in passing if not _covered(test, controls)),
        loose=tuple(_loose(first, Seals.of(replace(task, controls=controls)))),
        problems=tuple(_problems(first, solved, wrong)),
    )
    return replace(found, problems=(*found.problems, *_rejections(found.applied_to(task), engine, reference)))


def _rejections(task: SweTask, engine: ImageEngine, reference: Work) -> Iterator[str]:
    """Verdicts on the reference itself that are wrong, over as many ways to mix its tests with their twins."""
    state = {
        "deleted": list(reference.delete),
        "executable": [path for path, file in reference.write.items() if file.executable],
    }
    artifact = Artifact(files={path: file.content for path, file in reference.write.items()}, state=state)
    for draw in range(_DRAWS, _DRAWS + 1 if task.expect != RequiredSet() else 0):
        verdict = SweVerifier(lambda: engine, draw=draw).verify(to_task(task), artifact)
        if verdict.outcome is not Outcome.RESOLVED:
            yield f"the reference is judged {verdict.outcome} with the draw {draw}: {verdict.evidence['why']}"


@dataclass(frozen=True, slots=True)
class _Trial:
    task: SweTask
    engine: ImageEngine
    image: Image
    repeats: int

    def repeated(self, work: Work) -> list[Seen]:
        return [run_tests(self.task, self.engine, self.image, work) for _ in range(self.repeats)]

    def controls(self, reference: Work, required: tuple[str, ...], known: Collection[str]) -> Controls:
        """The controls that the reference really fails, as often as it is asked, and the seals that it really fits.

        A twin may have an id of its own, where the id is made from a parameter that is wrong in it.
        """
        sealing = seals_of_reference(
            self._tests(),
            required,
            lambda sources: run_tests(self.task, self.engine, self.image, reference, sources=sources),
        )
        seals = Seals.of(replace(self.task, controls=sealing))
        twins, twin_tests = {}, {}
        for seed, name in enumerate(TWIN_SETS, start=1):
            lines, runs = self._failing_twins(reference, seed, seals)
            failing = tuple(
                test
                for test in runs[0].statuses
                if all(run.statuses.get(test) == "failed" for run in runs) and (test in required or test not in known)
            )
            if failing and all(run.ended for run in runs):
                twins[name], twin_tests[name] = lines, failing

        def run_bare(run: Planned, bare: Bare) -> list[Seen]:
            laid_out = replace(sealing, bare=bare)
            return [self._run(reference, seals, run, laid_out) for _ in range(min(2, self.repeats))]

        targets = self._targets(reference)
        broken = self._run(reference, seals, Planned("sabotage", sabotage=targets)) if targets else Seen()
        sabotaged = tuple(test for test in required if targets and broken.claims.get(test) != "passed")
        return replace(
            sealing,
            twins=twins,
            twin_tests=twin_tests,
            bare=bare_of_reference(seals.sources(self.task), required, run_bare),
            sabotage=targets if sabotaged else (),
            sabotage_tests=sabotaged,
        )

    def disentangled(self, reference: Work, controls: Controls, required: tuple[str, ...]) -> Controls:
        """The controls without those of files whose tests do not stand alone: one that fails breaks another."""
        while True:
            task = replace(self.task, controls=controls)
            seals = Seals.of(task)
            broken: set[str] = set()
            for run in (one for draw in range(_DRAWS) for one in plan(task, draw)):
                if run.mutated:
                    statuses = self._run(reference, seals, run, controls).statuses
                    failed = [test for test in required if run.is_real(test) and statuses.get(test) != "passed"]
                    broken |= {test.partition("::")[0] for test in failed}
            changed_files = {path for files in (*controls.twins.values(), controls.bare) for path in files}
            if not broken:
                return controls
            # Where the culprit is in another file, there is no telling which one it is.
            controls = _without_controls(controls, broken if broken & changed_files else changed_files)

    def _run(self, work: Work, seals: Seals, run: Planned, controls: Controls | None = None) -> Seen:
        task = replace(self.task, controls=controls or Controls())
        sources = sources_of(task, seals.sources(task), run)
        seen = run_tests(task, self.engine, self.image, work, sources=sources, sabotage=run.sabotage)
        return seals.judged(seen, run.raising)

    def _failing_twins(self, reference: Work, seed: int, seals: Seals) -> tuple[dict[str, dict[str, str]], list[Seen]]:
        """Twins of the test files, but for files that cannot be loaded with a wrong value, and two runs of them."""
        lines = self._twins(seed, seals)
        while True:
            runs = [self._run(reference, seals, Planned("twins", lines)) for _ in range(min(2, self.repeats))]
            broken = {path for path in lines if path in runs[0].why}
            if not broken:
                return lines, runs
            lines = {path: wrong for path, wrong in lines.items() if path not in broken}

    def _twins(self, seed: int, seals: Seals) -> dict[str, dict[str, str]]:
        """Wrong lines for every expectation that has no seal, or one that is only a relation; see `twin_of`."""
        sources = {**self._tests(), **seals.sources(self.task)}
        equal = {path: [key for key, site in sites.items() if site.is_equality] for path, sites in seals.sites.items()}
        found = {
            path: changed_lines(source, twin_of(source, seed=seed, equal=equal.get(path, ())))
            for path, source in sources.items()
        }
        return {path: lines for path, lines in found.items() if lines}

    def _targets(self, reference: Work) -> tuple[str, ...]:
        paths = (*self.image.manifest, *reference.write)
        tests = self._tests()
        modules = modules_of((path for path in paths if path not in tests), self.task.runner.paths)
        return targets_of(tests.values(), modules)

    def _tests(self) -> dict[str, str]:
        files = {**self.task.visible_tests, **self.task.hidden_tests}
        return {path: files[path].content.decode("utf-8") for path in test_files(self.task)}

    def failure(self, solution: Solution, required: tuple[str, ...]) -> str:
        """The first required test that a wrong solution fails; empty where it passes them all."""
        work = work_of_solution(self.task, self.engine, self.image, solution)
        statuses = run_tests(self.task, self.engine, self.image, work).statuses
        return next((test for test in required if statuses.get(test) != "passed"), "")


def _without_controls(controls: Controls, files: Collection[str]) -> Controls:
    twins = {
        name: {path: lines for path, lines in found.items() if path not in files}
        for name, found in controls.twins.items()
    }
    tests = {
        name: tuple(test for test in found if test.partition("::")[0] not in files)
        for name, found in controls.twin_tests.items()
    }
    bare = {path: blocks for path, blocks in controls.bare.items() if path not in files}
    return replace(controls, twins=twins, twin_tests=tests, bare=bare)


def _covered(test: str, controls: Controls) -> bool:
    """Whether some control covers the function of this test."""
    twins = (twin for twins in controls.twin_tests.values() for twin in twins)
    tests = (*controls.sabotage_tests, *controls.seal_keys, *twins)
    return test.partition("[")[0] in {covered.partition("[")[0] for covered in tests}


def _loose(tests: Sequence[str], seals: Seals) -> Iterator[str]:
    """Those of these tests of which no sealed expectation is met by one answer only."""
    for test in tests:
        sites = seals.sites.get(test.partition("::")[0], {})
        if not any(pins(sites[key].condition) for key in seals.keys.get(test, ())):
            yield test


def _rates(runs: list[Seen]) -> dict[str, float]:
    """How often each test passed."""
    tests = dict.fromkeys(test for run in runs for test in run.statuses)
    return {test: sum(run.statuses.get(test) == "passed" for run in runs) / len(runs) for test in tests}


def _differs(test: str, runs: list[Seen]) -> bool:
    return len({run.statuses.get(test) == "passed" for run in runs}) > 1


def _problems(first: tuple[str, ...], solved: list[Seen], wrong: Mapping[str, str]) -> list[str]:
    problems = [f"with the reference, {run.ending}" for run in solved[:1] if run.ending]
    failing = sorted(
        test for test, rate in _rates(solved).items() if rate == 0 and solved[0].statuses[test] != "skipped"
    )
    if failing:
        problems.append(f"with the reference, {len(failing)} tests fail, first {failing[0]}")
    broken = [f"{where}: {why[-300:]}" for where, why in solved[0].why.items() if where not in solved[0].statuses]
    problems += [f"with the reference, tests cannot be collected: {what}" for what in broken]
    if not first:
        problems.append("no test fails before the reference and passes after it")
    problems += [f"the wrong solution {name!r} passes every required test" for name, test in wrong.items() if not test]
    return problems
