"""Hold the bundled repository tasks to what they promise, with pytest in a temporary folder and no sandbox.

Base: the visible tests pass and hidden ones fail. Reference: all pass. Every wrong solution: a required test fails.
Usage: python scripts/check_mini.py [part of a task id ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_envs.envs.swe.tasks.mini import bundled, read_tasks
from agent_envs.verifiers.swe.changes import changed
from agent_envs.verifiers.swe.task import SweTask

from agent_envs.sandboxes.images import Tree

Outcomes = Mapping[str, str]
"""Test id to `passed`, `failed` or `skipped`; a file that cannot be collected counts as a failed test."""

RECORDER = """
import json, os

outcomes = {}

def pytest_collectreport(report):
    if report.failed:
        outcomes[report.nodeid] = "failed"

def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        if outcomes.get(report.nodeid) != "failed":
            outcomes[report.nodeid] = report.outcome

def pytest_sessionfinish(session):
    with open(os.environ["OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(outcomes, file)
"""


def run_tests(tree: Tree, paths: tuple[str, ...]) -> Outcomes:
    """The outcome of every test of a tree."""
    with tempfile.TemporaryDirectory(prefix="check-mini-") as place:
        work, told = Path(place, "work"), Path(place, "outcomes.json")
        for path, file in tree.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(file.content)
        Path(place, "recorder.py").write_text(RECORDER, encoding="utf-8")
        front = os.pathsep.join([*(str(work / path) for path in paths), place])
        env = {**os.environ, "PYTHONPATH": front, "OUTCOMES": str(told), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "recorder", "tests"]
        try:
            done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return {"(the run did not end)": "failed"}
        if not told.is_file():
            return {f"(no report: {done.stdout[-300:]}{done.stderr[-300:]})": "failed"}
        outcomes: dict[str, str] = json.loads(told.read_text(encoding="utf-8"))
        return outcomes


def failing(outcomes: Outcomes) -> list[str]:
    return sorted(test for test, outcome in outcomes.items() if outcome != "passed")


def problems(task: SweTask) -> tuple[list[str], list[str]]:
    """What is wrong with a task, and a report of what its tests say."""
    base, paths = task.recipe.files, task.runner.paths
    found: list[str] = []
    seen = run_tests(base, paths)
    if failing(seen) or not seen:
        found.append(f"visible tests fail at the base: {failing(seen) or 'there are none'}")
    hidden = run_tests({**base, **task.hidden_tests}, paths)
    if not failing(hidden):
        found.append("no hidden test fails at the base")
    fixed = changed(base, task.reference.changes)
    solved = run_tests({**fixed, **task.hidden_tests}, paths)
    if failing(solved) or not solved:
        found.append(f"tests fail with the reference: {failing(solved)}")
    report = [f"  base       {len(solved)} tests, of which fail:", *(f"      {test}" for test in failing(hidden))]
    if len(task.wrong) < 2:
        found.append(f"there are {len(task.wrong)} wrong solutions; expected at least 2")
    for wrong in task.wrong:
        after = run_tests({**changed(base, wrong.changes), **task.hidden_tests}, paths)
        missed = [test for test in solved if after.get(test) != "passed"]
        if not missed:
            found.append(f"a wrong solution passes: {wrong.why}")
        report += [f"  wrong      {wrong.why.partition(':')[0]}: {len(missed)} fail, for instance {missed[:1]}"]
    return found, report


def main(wanted: list[str]) -> int:
    tasks = [task for task in read_tasks(bundled()) if not wanted or any(part in task.id for part in wanted)]
    bad = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for task, (found, report) in zip(tasks, pool.map(problems, tasks), strict=True):
            bad += bool(found)
            sys.stdout.writelines(f"{line}\n" for line in _told(task, found, report))
            sys.stdout.flush()
    sys.stdout.write(f"{len(tasks)} tasks, {bad} with problems\n")
    return 1 if bad or not tasks else 0


def _told(task: SweTask, found: list[str], report: list[str]) -> Iterator[str]:
    yield f"{'FAIL' if found else 'ok  '} {task.id} ({task.difficulty}; {', '.join(task.tags)})"
    yield from report
    yield from (f"  PROBLEM    {problem}" for problem in found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*", help="parts of task ids; all tasks where none is given")
    sys.exit(main(parser.parse_args().wanted))
