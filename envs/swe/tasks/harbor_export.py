"""Repository tasks as Harbor task directories: those that were one come back as they were, others are written anew."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from shlex import quote

from agent_envs.envs.swe.tasks._harbor_config import Config, changed_data, read_config
from agent_envs.envs.swe.tasks._normalised import Notes
from agent_envs.envs.swe.tasks._toml import dumps
from agent_envs.envs.swe.tasks.harbor import (
    CONFIG,
    DOCKERFILE,
    INSTRUCTION,
    SOLVE,
    TEST,
    Files,
    solutions_home,
    solve_command,
    test_command,
)
from agent_envs.verifiers.swe.runs import test_files
from agent_envs.verifiers.swe.task import ExactMap, ExitCode, RequiredSet, RewardFile, SweTask, tree_from_json

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import STANDARD_BASE, TreeFile

_PUBLIC_BASE = "python:3.12-slim"
_REWARDS = "/logs/verifier"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_HEAD = "#!/bin/bash\n"
_PREPARE = """\
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir pytest
"""
_AGENT = "RUN id agent >/dev/null 2>&1 || useradd --create-home --uid 1000 agent\n"
_TEST_HEAD = """\
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
workspace=${{WORKSPACE:-{workspace}}} rewards=${{REWARDS:-{rewards}}}
mkdir -p "$rewards"
echo 0 >"$rewards/reward.txt"
cd "$workspace" || exit 1
"""
_EDIT = """\
import json, os, sys
for edit in json.load(open(sys.argv[1], encoding="utf-8")):
    path, old, new = edit["path"], edit["old"], edit["new"]
    if old is None and new is None:
        os.remove(path)
        continue
    if old is not None:
        text = open(path, encoding="utf-8", newline="").read()
        assert text.count(old) == 1, path
        new = text.replace(old, new or "")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w", encoding="utf-8", newline="").write(new)
"""


def export_harbor(task: SweTask, folder: str | Path, *, base: str = "") -> Path:
    """Write the task as a new Harbor task directory.

    Args:
        task: What is written; of a task that is no Harbor task, must-fail controls and wrong solutions are left out,
            since the format has no place for them.
        folder: The directory; it must not exist yet, or be empty.
        base: An image with Python, pytest and git that stands for the standard base; without it, the directory's
            Dockerfile makes one when it is built.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TaskError(f"{folder} exists already; name a new directory")
    files = _as_it_was(task) if "harbor" in task.provenance else _anew(task, base)
    for path, file in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o755 if file.executable else 0o644)
    return folder


def _as_it_was(task: SweTask) -> Files:
    kept = task.provenance["harbor"]
    text = str(kept["task_toml"])
    config = read_config(text, task.recipe.dockerfile, Notes())
    now = _replaced(task, config)
    data = tomllib.loads(text)
    changed = changed_data(data, config, now)
    files: Files = dict(tree_from_json(kept["files"]))
    files[CONFIG] = _file(text if changed == data else dumps(changed))
    files[INSTRUCTION] = _file(task.statement)
    if task.recipe.dockerfile:
        files[DOCKERFILE] = _file(task.recipe.dockerfile)
        files |= {f"environment/{path}": file for path, file in task.recipe.context.items()}
    files |= {path.removeprefix("/"): file for path, file in task.hidden_tests.items()}
    home = solutions_home(config)
    files |= {path.removeprefix(home): _file(script) for path, script in task.reference.files.items()}
    executable = set(kept["executable"])
    return {path: TreeFile(file.content, file.executable or path in executable) for path, file in files.items()}


def _replaced(task: SweTask, config: Config) -> Config:
    """The settings as the task now has them."""
    recipe, runner = task.recipe, task.runner
    home = solutions_home(config)
    strange = [path for path in task.hidden_tests if not path.startswith("/tests/")]
    strange += [path for path in task.reference.files if not path.startswith(f"{home}solution/")]
    same = runner.command == test_command(config) and task.reference.command in ("", solve_command(config))
    if recipe.files or recipe.commands or strange or not same or not isinstance(task.expect, RewardFile):
        raise TaskError(
            f"task {task.id!r} is no longer what a Harbor directory can hold; change its Dockerfile and its scripts, or"
            " remove 'harbor' from its provenance to write it anew"
        )
    return replace(
        config,
        name=task.id if config.name else "",
        difficulty=task.difficulty,
        tags=task.tags,
        docker_image="" if recipe.dockerfile else recipe.base,
        workspace=recipe.workspace,
        user=task.user,
        timeout_s=runner.timeout_s,
        memory_mb=runner.memory_mb,
    )


def _anew(task: SweTask, base: str) -> Files:
    files = {f"environment/{path}": file for path, file in task.recipe.context.items()}
    workspace = {**task.recipe.files, **task.visible_tests}
    files |= {f"environment/workspace/{path}": file for path, file in workspace.items()}
    files |= {CONFIG: _file(dumps(_config(task))), INSTRUCTION: _file(task.statement)}
    files[DOCKERFILE] = _file(_dockerfile(task, base))
    return files | _tests(task) | _solution(task)


def _config(task: SweTask) -> JsonObject:
    name = task.id if _NAME.fullmatch(task.id) and ".." not in task.id else f"agent-envs/{_slug(task.id)}"
    return {
        "schema_version": "1.4",
        "task": {"name": name, "keywords": list(task.tags)},
        "metadata": {"difficulty": task.difficulty, "tags": list(task.tags)},
        "agent": {"user": task.user},
        "verifier": {"timeout_sec": task.runner.timeout_s, "user": "root"},
        "environment": {
            "workdir": task.recipe.workspace,
            "memory_mb": task.runner.memory_mb,
            "network_mode": "no-network",
        },
    }


def _dockerfile(task: SweTask, base: str) -> str:
    recipe = task.recipe
    if recipe.dockerfile:
        head = recipe.dockerfile.rstrip("\n") + "\nUSER root\n"
    elif recipe.base != STANDARD_BASE or base:
        head = f"FROM {base if recipe.base == STANDARD_BASE else recipe.base}\n"
    else:
        head = f"FROM {_PUBLIC_BASE}\n{_PREPARE}"
    copied = f"COPY workspace/ {recipe.workspace}/\n" if recipe.files or task.visible_tests else ""
    # As a list, so that no shell but the one that is named reads the command.
    commands = "".join(f"RUN {json.dumps(['/bin/sh', '-c', command])}\n" for command in recipe.commands)
    owned = f"RUN chown -R agent {quote(recipe.workspace)}\n"
    return f"{head}{_AGENT}WORKDIR {recipe.workspace}\n{copied}{commands}{owned}"


def _tests(task: SweTask) -> Files:
    """`tests/`: the script, the files that it lays over the work, and what it needs to judge them."""
    files: Files = {}
    for path, file in {**task.visible_tests, **task.hidden_tests}.items():
        if path.startswith("/") and not path.startswith("/tests/"):
            raise TaskError(f"task {task.id!r} lays a test at {path}; Harbor lays its tests below /tests only")
        files[path.removeprefix("/") if path.startswith("/") else f"tests/files/{path}"] = file
    script = _HEAD + _TEST_HEAD.format(workspace=quote(task.recipe.workspace), rewards=_REWARDS)
    if task.test_patch:
        files["tests/test.patch"] = _file(task.test_patch)
        script += 'git apply --whitespace=nowarn "$here/test.patch" || exit 1\n'
    if task.runner.framework == "pytest":
        files |= {"tests/judge.py": _program("envs.swe.tasks", "guest_harbor.py")}
        files |= {"tests/run.py": _program("verifiers.swe", "guest_pytest.py"), "tests/job.json": _file(_job(task))}
        script += f'{task.runner.python} -I "$here/judge.py" "$workspace" "$rewards/reward.txt"\n'
    else:
        script += _command(task)
    return {**files, TEST: _file(script, executable=True)}


def _job(task: SweTask) -> str:
    """What `guest_harbor.py` hands to the program that runs the tests, and what it expects of them."""
    match task.expect:
        case RequiredSet(fail_to_pass=first, pass_to_pass=second, prefixes=prefixes):
            expected = dict.fromkeys((*first, *second), "passed")
        case ExactMap(statuses=statuses):
            expected, prefixes = dict(statuses), ()
        case _:
            raise TaskError(f"task {task.id!r} runs pytest, so it expects a required set or an exact map of tests")
    if not expected:
        raise TaskError(f"task {task.id!r} requires no test at all; run `agent-envs validate` on it first")
    job = {
        "delete": list(task.deleted_tests),
        "append": {},
        "resumed": [],
        "env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        "paths": list(task.runner.paths),
        "plugins": list(task.runner.plugins),
        "targets": list(task.test_targets or test_files(task)),
        "expected": expected,
        "prefixes": list(prefixes),
    }
    return json.dumps(job, indent=2) + "\n"


def _command(task: SweTask) -> str:
    deleted = "".join(f"rm -rf -- {quote(path)}\n" for path in task.deleted_tests)
    laid = 'if [ -d "$here/files" ]; then cp -R "$here/files/." "$workspace/"; fi\n'
    run = f"{deleted}{laid}( {task.runner.command} )\n"
    match task.expect:
        case ExitCode(code=code):
            return f'{run}[ $? = {code} ] && echo 1 >"$rewards/reward.txt"\nexit 0\n'
        case RewardFile(folder=folder):
            moved = f'cp {quote(folder)}/reward.* "$rewards/"\n' if folder != _REWARDS else ""
            return f'rm "$rewards/reward.txt"\n{run}{moved}exit 0\n'
    raise TaskError(f"task {task.id!r} reads its tests from a log, for which a Harbor directory has no place")


def _solution(task: SweTask) -> Files:
    reference = task.reference
    if not reference.changes and not reference.command:
        return {}
    script = f'{_HEAD}set -e\nhere=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)\n'
    script += f"cd ${{WORKSPACE:-{quote(task.recipe.workspace)}}}\n"
    files: Files = {}
    if reference.changes:
        edits = [{"path": edit.path, "old": edit.old, "new": edit.new} for edit in reference.changes]
        files["solution/edits.json"] = _file(json.dumps(edits, indent=2, ensure_ascii=False) + "\n")
        files["solution/edit.py"] = _file(_EDIT)
        script += f'{task.runner.python} "$here/edit.py" "$here/edits.json"\n'
    for number, (path, text) in enumerate(reference.files.items()):
        files[f"solution/files/{number}"] = _file(text)
        script += f'mkdir -p "$(dirname {quote(path)})"\ncp "$here/files/{number}" {quote(path)}\n'
    script += reference.command + "\n" if reference.command else ""
    return {**files, SOLVE: _file(script, executable=True)}


def _program(package: str, name: str) -> TreeFile:
    return TreeFile(package_files(f"agent_envs.{package}").joinpath(name).read_bytes())


def _file(text: str, *, executable: bool = False) -> TreeFile:
    return TreeFile(text.encode("utf-8"), executable)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+|\.\.+", "-", name).strip("-._") or "task"
