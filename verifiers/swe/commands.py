"""Verdicts from a command's own word: its exit status, its log, or the reward it writes.

The code under test can forge each of them, which is why they are for tasks that come with nothing better, and for
measuring what the sealed verdict is worth.
"""

from __future__ import annotations

import io
import json
import shlex
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from agent_envs.verifiers.swe.logs import LOG_PARSERS, logged
from agent_envs.verifiers.swe.runs import place_of, test_files
from agent_envs.verifiers.swe.task import ExactMap, ExitCode, RequiredSet, RewardFile, SweTask, status_of
from agent_envs.verifiers.swe.work import Work

from agent_envs.artifact import Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import Image, ImageEngine, TreeFile
from agent_envs.sandboxes.protocol import RunResult, Status, text

_SCRIPT = """\
tar -C / -xf - && cd {workspace} || exit 125
{delete}
mkdir -p {folder}
( {command} ) </dev/null >&2
printf '%s\\n' "$?"
cat {folder}/reward.json 2>/dev/null || cat {folder}/reward.txt 2>/dev/null
exit 0
"""


def verdict(task: SweTask, engine: ImageEngine, image: Image, work: Work) -> Verdict:
    """The verdict of the task's own command on this work."""
    result = _run(task, engine, image, work, task.runner.command)
    evidence: JsonObject = {"trust": "command", "isolation": engine.isolation, "image": image.digest}
    evidence["output"] = text(result.stderr)[-2000:]
    if why := _ending(result):
        return Verdict.unresolved(why, **evidence)
    status, _, said = result.stdout.decode("utf-8", "replace").partition("\n")
    evidence["exit_code"] = status
    match task.expect:
        case ExitCode(code=wanted):
            if status == str(wanted):
                return Verdict.resolved(**evidence)
            return Verdict.unresolved(f"the tests ended with status {status}, not {wanted}", **evidence)
        case RewardFile():
            return _rewarded(said, evidence)
        case RequiredSet(fail_to_pass=first, pass_to_pass=second):
            return _logged(task, dict.fromkeys((*first, *second), "passed"), result, evidence)
        case ExactMap(statuses=statuses):
            return _logged(task, statuses, result, evidence)


def pytest_verdict(task: SweTask, engine: ImageEngine, image: Image, work: Work) -> Verdict:
    """The verdict of plain pytest's exit status on everything that the agent left."""
    roots = ":".join(f"{image.workspace}/{path}" for path in task.runner.paths)
    targets = shlex.join(task.test_targets or test_files(task))
    command = f"PYTHONPATH={shlex.quote(roots)} {task.runner.python} -m pytest -q -p no:cacheprovider {targets}"
    by_status = replace(task, expect=ExitCode(), runner=replace(task.runner, framework="command", command=command))
    return verdict(by_status, engine, image, work)


def _run(task: SweTask, engine: ImageEngine, image: Image, work: Work, command: str) -> RunResult:
    folder = task.expect.folder if isinstance(task.expect, RewardFile) else "/tmp"
    script = _SCRIPT.format(
        workspace=shlex.quote(image.workspace),
        delete="\n".join(f"rm -rf -- {shlex.quote(path)}" for path in (*work.delete, *task.deleted_tests)),
        folder=shlex.quote(folder),
        command=command,
    )
    tree = {**work.write, **task.visible_tests, **task.hidden_tests}
    files = {_absolute(image, path): file for path, file in tree.items()}
    return engine.run_once(
        place_of(task, image), ["/bin/sh", "-c", script], stdin=_packed(files), timeout_s=task.runner.timeout_s
    )


def _absolute(image: Image, path: str) -> str:
    """Test files may lie outside of the workspace, at an absolute path."""
    return path if path.startswith("/") else f"{image.workspace}/{path}"


def _packed(files: Mapping[str, TreeFile]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, file in files.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode = len(file.content), 0o755 if file.executable else 0o644
            archive.addfile(entry, io.BytesIO(file.content))
    return packed.getvalue()


def _ending(result: RunResult) -> str:
    if result.status is Status.TIMEOUT:
        return "the tests were not done when their time was up"
    if result.status in (Status.OUT_OF_MEMORY, Status.OUTPUT_LIMIT, Status.KILLED):
        return f"the tests did not come to their end: {result.status}"
    if not result.stdout:
        return f"the tests could not be begun: status {result.exit_code}"
    return ""


def _rewarded(said: str, evidence: JsonObject) -> Verdict:
    """A reward file holds a number, or an object of numbers whose `reward` (or only entry) counts."""
    try:
        found = json.loads(said)
        if isinstance(found, dict):
            found = found["reward"] if "reward" in found else next(iter(found.values()))
        reward = float(found)
    except (ValueError, TypeError, KeyError, StopIteration):
        return Verdict.unresolved("the tests wrote no reward that is a number", reward=said[:200], **evidence)
    if not isfinite(reward) or not 0.0 <= reward <= 1.0:
        return Verdict.unresolved(f"the tests wrote the reward {reward}, which is not in [0, 1]", **evidence)
    if reward == 1.0:
        return Verdict.resolved(**evidence)
    return Verdict.unresolved(f"the tests wrote the reward {reward:g}", score=reward, **evidence)


def _logged(task: SweTask, wanted: Mapping[str, str], result: RunResult, evidence: JsonObject) -> Verdict:
    if task.runner.log_parser not in LOG_PARSERS:
        raise TaskError(
            f"task {task.id!r} names the log parser {task.runner.log_parser!r}; expected one of"
            f" {', '.join(LOG_PARSERS)}, or another expectation"
        )
    statuses = logged(task.runner.log_parser, text(result.stderr + result.stdout))
    wrong = [test for test, status in wanted.items() if status_of(task, test, statuses) != status]
    parts = {"required": 1.0 - len(wrong) / max(1, len(wanted))}
    if not wanted:
        raise TaskError(f"task {task.id!r} requires no test at all; run `agent-envs validate` on it first")
    if not wrong:
        return Verdict(Outcome.RESOLVED, 1.0, parts, (), evidence)
    why = f"{len(wrong)} of {len(wanted)} required tests did not go as they must, first {wrong[0]}"
    return Verdict(Outcome.UNRESOLVED, 0.0, parts, (), {"why": why, **evidence})
