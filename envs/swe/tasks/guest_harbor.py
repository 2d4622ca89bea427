"""The judge in an exported Harbor task: lays the tests over the work, runs them, and writes the reward.

It has the job (`job.json`), the test files (`files/`) and the program that runs them (`run.py`) beside it, and it never
imports what it judges: the tests run in another process.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Write 1 into the file named on the command line if every expected test came out as it must, else 0."""
    workspace, reward = sys.argv[1:3]
    with open(os.path.join(HERE, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    job["workspace"], job["write"] = workspace, written(os.path.join(HERE, "files"))
    expected, prefixes = job.pop("expected"), job.pop("prefixes")
    program = [sys.executable, "-I", os.path.join(HERE, "run.py")]
    done = subprocess.run(program, input=json.dumps(job).encode(), stdout=subprocess.PIPE, check=False)
    statuses, ended = seen(done.stdout)
    found = {test: status_of(test, statuses, prefixes) for test in expected}
    wrong = [test for test in expected if found[test] != expected[test]]
    sys.stderr.write("".join(f"{test}: {found[test]}\n" for test in wrong))
    with open(reward, "w", encoding="utf-8") as file:
        file.write("1\n" if ended and not wrong else "0\n")


def written(folder: str) -> dict[str, list[object]]:
    """The test files by their path in the repository."""
    found: dict[str, list[object]] = {}
    for place, _, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in names):
            with open(path, "rb") as file:
                content = base64.b64encode(file.read()).decode()
            found[os.path.relpath(path, folder)] = [content, os.access(path, os.X_OK)]
    return found


def seen(output: bytes) -> tuple[dict[str, str], bool]:
    """What became of every test, and whether the run came to its own end."""
    phases: dict[str, list[tuple[str, str]]] = {}
    ended = False
    for line in output.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "when" in record:
            phases.setdefault(record["test"], []).append((record["when"], record["outcome"]))
        ended |= isinstance(record, dict) and "end" in record
    return {test: status(said) for test, said in phases.items()}, ended


def status(said: list[tuple[str, str]]) -> str:
    """The first of the three phases that did not pass decides."""
    for when, outcome in said:
        if outcome != "passed":
            return "error" if outcome == "failed" and when != "call" else outcome
    return "passed" if [when for when, _ in said] == ["setup", "call", "teardown"] else "error"


def status_of(test: str, statuses: dict[str, str], prefixes: list[str]) -> str:
    """What became of an expected test, of which the data may know only the beginning."""
    if test in statuses or test not in prefixes:
        return statuses.get(test, "missing")
    found = [status for name, status in statuses.items() if name.startswith(test)]
    return next((status for status in found if status != "passed"), found[0] if found else "missing")


if __name__ == "__main__":
    main()
