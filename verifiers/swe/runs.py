"""One run of a task's tests: the job that goes into a fresh sandbox, and what is seen of it from outside."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from agent_envs.verifiers.swe.sabotage import planting
from agent_envs.verifiers.swe.sealing import Report, read_report
from agent_envs.verifiers.swe.task import SweTask
from agent_envs.verifiers.swe.work import Work

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Image, ImageEngine, Place, TreeFile
from agent_envs.sandboxes.protocol import Limits, RunResult, Status, text

_RECORD_BYTES = 32 << 20
_LINE_BYTES, _LINE_MARKS, _ALL_MARKS = 4 << 20, 600_000, 2_000_000
"""How much of what a run records is read: bytes of one record, and commas and brackets of one and of all of them. What
these make up in the memory of this process, and the time that it takes, is many times the bytes of it."""
_RECORD_MARKS = 10
_LINE = re.compile(rb"[^\n]+")
_MORE = ("wanted", "said")
_WORST_FIRST = ("error", "failed", "skipped", "xfailed", "passed")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run showed."""

    statuses: Mapping[str, str] = field(default_factory=dict)
    """Test id -> `passed`, `failed`, `error`, `skipped` or `xfailed`; the worst of what was said of it."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """The same as pytest tells it, whatever sealed tests have reported."""
    why: Mapping[str, str] = field(default_factory=dict)
    """Test id -> the end of its failure's text."""
    raised: Mapping[str, Report] = field(default_factory=dict)
    """Test id -> the exception by which it ended."""
    reports: Mapping[str, list[Report]] = field(default_factory=dict)
    """Test id -> what it got where only the host knows what it expects."""
    planted: Mapping[str, str] = field(default_factory=dict)
    """Module -> the file that its sabotage was planted in; empty where there was none."""
    ended: bool = False
    """Whether the run came to its own end."""
    result: RunResult = field(default_factory=lambda: RunResult(status=Status.OK))

    @property
    def ending(self) -> str:
        """How it went, where it did not come to its end."""
        if self.ended:
            return ""
        reasons = {
            Status.TIMEOUT: "its time was up",
            Status.OUT_OF_MEMORY: "it ran out of memory",
            Status.OUTPUT_LIMIT: "it printed too much",
            Status.KILLED: f"signal {self.result.signal} ended it",
        }
        how = reasons.get(self.result.status, f"it left with status {self.result.exit_code}")
        return f"the test run did not come to its end: {how}"


def place_of(task: SweTask, image: Image) -> Place:
    """The clean place in which one run happens."""
    limits = Limits(
        memory_mb=task.runner.memory_mb, processes=256, file_mb=256, disk_mb=512, output_bytes=_RECORD_BYTES
    )
    return Place(image=image, user=task.runner.user, limits=limits, env=_ENV)


_ENV = {"HOME": "/tmp", "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run_tests(
    task: SweTask,
    engine: ImageEngine,
    image: Image,
    work: Work,
    *,
    sources: Mapping[str, str] | None = None,
    sabotage: Sequence[str] = (),
) -> Seen:
    """Run the task's tests on this work, in a sandbox of their own.

    `sources` take the place of test files (sealed ones, twins); `sabotage` names what is to raise when it is used.
    """
    if task.runner.framework != "pytest":
        raise TaskError(f"task {task.id!r} runs its tests by {task.runner.framework!r}; expected 'pytest'")
    job = _job(task, image, work, sources or {}, sabotage)
    result = engine.run_once(
        place_of(task, image),
        [*shlex.split(task.runner.python), "-I", "-c", _program()],
        stdin=json.dumps(job).encode("ascii"),
        timeout_s=task.runner.timeout_s,
        cwd=image.workspace,
    )
    return seen(result)


def _job(
    task: SweTask, image: Image, work: Work, sources: Mapping[str, str], sabotage: Sequence[str]
) -> dict[str, Any]:
    instead = {path: TreeFile(source.encode("utf-8")) for path, source in sources.items()}
    written = {**work.write, **task.visible_tests, **task.hidden_tests, **instead}
    return {
        "workspace": image.workspace,
        "delete": [*work.delete, *task.deleted_tests],
        "write": {path: [_base64(file.content), file.executable] for path, file in written.items()},
        "append": planting(sabotage),
        "resumed": sorted(
            {
                test.partition("[")[0]
                for blocks in task.controls.bare.values()
                for found in blocks.values()
                for test in found
            }
        ),
        "env": _ENV,
        "paths": list(task.runner.paths),
        "plugins": list(task.runner.plugins),
        "targets": list(task.test_targets or test_files(task)),
    }


def test_files(task: SweTask) -> list[str]:
    """The files of the task's overlay that hold tests by pytest's own naming."""
    names = sorted({*task.visible_tests, *task.hidden_tests} - set(task.deleted_tests))
    return [path for path in names if _is_test(path.rsplit("/", 1)[-1])]


def _is_test(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


@cache
def _program() -> str:
    return files("agent_envs.verifiers.swe").joinpath("guest_pytest.py").read_text("utf-8")


def seen(result: RunResult) -> Seen:
    """Read the records of a run. Whatever is no record is noise of the code under test, and skipped."""
    phases: dict[str, list[str]] = {}
    why: dict[str, str] = {}
    planted: dict[str, str] = {}
    reports: dict[str, list[Report]] = {}
    raised: dict[str, Report] = {}
    ended = False
    for record in _records(result.stdout):
        match record:
            case {"test": str(test), "when": str(when), "outcome": str(outcome)}:
                phases.setdefault(test, []).append("error" if outcome == "failed" and when != "call" else outcome)
                phases[test].append(f"after {when}")
                if isinstance(words := record.get("why"), str) and words:
                    why[test] = _clean(words)
            case {"sealed": str(key), "test": str(test), "told": list(told)}:
                wanted, said = ([*found] if isinstance(found := record.get(name), list) else [] for name in _MORE)
                reports.setdefault(test, []).append(read_report(key, told, wanted, said))
            case {"raised": list(told), "test": str(test)}:
                raised[test] = read_report("", told)
            case {"planted": str(module), "at": str(path)}:
                planted[module] = path
            case {"broken": str(where), "why": str(problem)}:
                why[where] = problem
            case {"end": int()}:
                ended = True
    statuses = {test: _status(said) for test, said in phases.items()}
    return Seen(statuses, statuses, why, raised, reports, planted, ended and result.ok, result)


def _records(output: bytes) -> Iterator[dict[str, Any]]:
    """The records, as far as they are of a size that tests have; what is cut off here has not passed."""
    left = _ALL_MARKS
    for match in _LINE.finditer(output):
        line = match.group()
        marks = _RECORD_MARKS + sum(map(line.count, (b",", b"[", b"{")))
        if len(line) > _LINE_BYTES or marks > _LINE_MARKS:
            continue
        left -= marks
        if left < 0:
            return
        try:
            record = json.loads(line)
        except (ValueError, RecursionError, MemoryError):
            continue
        if isinstance(record, dict):
            yield record


def _clean(words: str) -> str:
    return text(words.encode("utf-8", "replace"))


def _status(said: list[str]) -> str:
    """The worst of what was said; passed only with all three phases, each of them once."""
    worst = next(status for status in (*_WORST_FIRST, *said) if status in said)
    whole = [word for word in said if word.startswith("after ")] == ["after setup", "after call", "after teardown"]
    return worst if worst != "passed" or whole else "error"
