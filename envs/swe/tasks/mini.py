"""`mini`: tasks over small repositories that come with the package.

A task is told as what was broken: exact edits lead from the correct repository to the one that the agent sees, so the
reference is their inverse unless the task gives its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal, TypeVar

import msgspec
from agent_envs.envs.swe.tasks._solutions import calls_of
from agent_envs.verifiers.swe.changes import changed, inverse
from agent_envs.verifiers.swe.task import Change, Controls, RequiredSet, Runner, Solution, SweTask, to_task

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Recipe, Tree, TreeFile
from agent_envs.tasks import Task, TaskSet

_RUN_S = 60.0
"""For one run of all the tests of a task, forty times what the longest needs; docs/swe.md says what rests on it."""
TESTS = "tests/"
"""Where every repository of the set keeps its tests."""


def mini() -> TaskSet:
    """The tasks of every bundled repository, ids `<repository>/<task>`, all in the split `test`."""
    return TaskSet.lazy("mini", lambda: [_playable(task) for task in read_tasks(bundled())], split="test")


def bundled() -> Traversable:
    """The folder that holds the repositories and their tasks."""
    return files("agent_envs.envs.swe") / "mini"


def read_tasks(folder: Traversable) -> Iterator[SweTask]:
    """The tasks of all repositories below a folder; raises `TaskError` naming the file that contradicts itself."""
    for home in _folders(folder):
        if not (home / "repository.toml").is_file():
            continue
        about = _read(home / "repository.toml", _Repository)
        clean = _tree(home / "repository")
        for place in _folders(home / "tasks"):
            told = _read(place / "task.toml", _Description)
            certificate = folder / "certificates" / f"{home.name}--{place.name}.json"
            known = _read(certificate, _Certificate) if certificate.is_file() else _Certificate()
            try:
                task = _task(told, about, clean, _hidden(place))
            except TaskError as cause:
                raise TaskError(f"{place / 'task.toml'}: {cause}") from cause
            expect = RequiredSet(fail_to_pass=known.fail_to_pass, pass_to_pass=known.pass_to_pass)
            yield replace(task, id=f"{home.name}/{place.name}", expect=expect, controls=known.controls)


class _Edit(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    path: str
    old: str | None = None
    new: str | None = None
    delete: bool = False

    def change(self, where: str) -> Change:
        if self.delete == (self.new is not None) or (self.delete and self.old is not None):
            raise TaskError(
                f"{where} ({self.path}) must hold `old` and `new`, `new` alone (the whole file), or `delete = true`"
            )
        return Change(path=self.path, old=self.old, new=self.new)


class _Wrong(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    why: str
    edits: list[_Edit]


class _Description(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    title: str
    difficulty: Literal["easy", "medium", "hard"]
    tags: tuple[str, ...]
    statement: str
    breaks: list[_Edit] = msgspec.field(name="break")
    reference: list[_Edit] = []
    wrong: list[_Wrong]


class _Repository(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    description: str
    paths: tuple[str, ...]
    license: str


class _Certificate(msgspec.Struct, kw_only=True):
    """What an admission run found; it may say more than is read here."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    controls: Controls = Controls()


T = TypeVar("T", bound=msgspec.Struct)


def _task(told: _Description, about: _Repository, clean: Tree, hidden: Tree) -> SweTask:
    breaks = _changes(told.breaks, "break")
    base = changed(clean, breaks)
    reference = _changes(told.reference, "reference") or _undone(clean, breaks)
    changed(base, reference)
    visible = {path: file for path, file in base.items() if path.startswith(TESTS)}
    return SweTask(
        statement=f"{told.title}\n\n{told.statement.strip()}\n",
        recipe=Recipe(files=base),
        visible_tests=visible,
        hidden_tests={**visible, **hidden},
        runner=Runner(paths=about.paths, timeout_s=_RUN_S),
        reference=Solution(changes=reference),
        wrong=tuple(_wrong(base, one) for one in told.wrong),
        difficulty=told.difficulty,
        tags=told.tags,
        provenance={"set": "mini", "repository": about.name, "license": about.license, "normalisers": []},
    )


def _hidden(place: Traversable) -> dict[str, TreeFile]:
    hidden = _tree(place / "hidden")
    astray = [path for path in hidden if not path.startswith(TESTS)]
    if astray or not hidden:
        raise TaskError(f"{place / 'hidden'} holds {astray or 'no files'}; expected test files below {TESTS}")
    return hidden


def _undone(clean: Tree, breaks: tuple[Change, ...]) -> tuple[Change, ...]:
    """The inverse of the breaks, without those that keep the tests from telling."""
    reference = inverse(clean, [change for change in breaks if not change.path.startswith(TESTS)])
    if not reference:
        raise TaskError("no [[break]] changes a file outside the tests; expected at least one, or a [[reference]]")
    return reference


def _wrong(base: Tree, told: _Wrong) -> Solution:
    changes = _changes(told.edits, f"wrong {told.name!r}")
    try:
        changed(base, changes)
    except TaskError as cause:
        raise TaskError(f"wrong {told.name!r}: {cause}") from cause
    return Solution(changes=changes, why=f"{told.name}: {told.why}")


def _changes(edits: list[_Edit], field: str) -> tuple[Change, ...]:
    return tuple(edit.change(f"{field}[{number}]") for number, edit in enumerate(edits))


def _playable(task: SweTask) -> Task:
    """The task with the calls that an agent makes to apply each of its solutions."""
    return to_task(task, solution=calls_of(task.reference), wrong=[calls_of(solution) for solution in task.wrong])


def _read(file: Traversable, kind: type[T]) -> T:
    """A TOML or JSON file as this structure."""
    try:
        text = file.read_text("utf-8")
        rows = msgspec.json.decode(text) if file.name.endswith(".json") else tomllib.loads(text)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, msgspec.DecodeError) as cause:
        raise TaskError(f"{file} cannot be read: {cause}; compare it with those of the other tasks") from cause
    try:
        return msgspec.convert(rows, kind)
    except msgspec.ValidationError as cause:
        raise TaskError(f"{file}: {cause}; compare it with those of the other tasks") from cause


def _folders(folder: Traversable) -> list[Traversable]:
    if not folder.is_dir():
        raise TaskError(f"{folder} is no folder; expected the repositories and tasks that come with the package")
    return sorted((entry for entry in folder.iterdir() if entry.is_dir()), key=lambda entry: entry.name)


def _tree(folder: Traversable, below: str = "") -> dict[str, TreeFile]:
    """Every file below a folder. Installing a wheel compiles the modules in it, so what Python made is left out."""
    tree: dict[str, TreeFile] = {}
    if not folder.is_dir():
        return tree
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name not in {"__pycache__", ".pytest_cache"}:
            tree |= _tree(entry, f"{below}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            tree[f"{below}{entry.name}"] = TreeFile(entry.read_bytes())
    return tree
