"""`fix`: small functions and programs with a bug to repair; each is one TOML file in the folder `repairs`.

A file holds the buggy source and its repairs as replacements in it, so that what is wrong can be read at a glance.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable

from agent_envs.envs.python_sandbox.tasks._calls import submit
from agent_envs.envs.python_sandbox.tasks._cases import Row

from agent_envs.errors import TaskError
from agent_envs.tasks import Task, TaskSet

FILE = "solution.py"
"""Where the agent finds the buggy source in its working directory."""


def load() -> TaskSet:
    """The repair tasks, ids `fix/<name of the file>`, all in the split `test`."""
    return TaskSet.lazy("fix", _load, split="test")


def _load() -> list[Task]:
    folder = files("agent_envs.envs.python_sandbox.tasks") / "repairs"
    sources = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [_read(file) for file in sources]


def _read(file: Traversable) -> Task:
    name = file.name.removesuffix(".toml")
    try:
        return repair_task(name, tomllib.loads(file.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as cause:
        raise TaskError(f"{file}: {type(cause).__name__}: {cause}; compare it with the other files") from cause


def repair_task(name: str, row: Row) -> Task:
    """The task described by one file.

    `task` says what the source should do; `source` is what it is; `repair` and `half` are lists of [old, new];
    `asserts` with `entry_point` (and an optional `prelude`), or `cases` of stdin and stdout, are hidden.
    """
    source = str(row["source"])
    what = f"function `{row['entry_point']}`" if "entry_point" in row else "program"
    return Task(
        id=f"fix/{name}",
        prompt=(
            f"The Python {what} below has a bug. {row['task'].strip()}\n\n```python\n{source}```\n\n"
            f"The source is also in the file {FILE}. Repair it without changing names or parameters, and submit the"
            " complete corrected source, as text or by its path."
        ),
        kind="function" if "entry_point" in row else "program",
        setup={"files": {FILE: source}},
        secret={key: row[key] for key in ("entry_point", "asserts", "prelude", "cases") if key in row},
        solution=(submit(_replaced(name, source, row["repair"])),),
        wrong=((submit(source),), (submit(_replaced(name, source, row["half"])),)),
        difficulty=str(row["difficulty"]),
        tags=("repair", *row["tags"]),
    )


def _replaced(name: str, source: str, changes: list[list[str]]) -> str:
    for old, new in changes:
        if source.count(old) != 1:
            raise TaskError(f"fix/{name}: {old!r} stands {source.count(old)} times in the source; expected once")
        source = source.replace(old, new)
    return source
