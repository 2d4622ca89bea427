"""The one internal form of a repository task, whatever format it came in, and how it becomes a `Task` and back.

What the agent's side may know goes into `Task.setup`; everything else into `Task.secret`.
"""

from __future__ import annotations

import base64
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import Recipe, Tree, TreeFile
from agent_envs.tasks import Task
from agent_envs.tools import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredSet:
    """The tests that must pass; a missing, skipped or expectedly failing one counts as failed."""

    fail_to_pass: tuple[str, ...] = ()
    """Fail before the reference, pass after it."""
    pass_to_pass: tuple[str, ...] = ()
    """Pass before and after it."""
    prefixes: tuple[str, ...] = ()
    """Which of these ids were cut off in the data: such a one stands for every test whose id begins with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMap:
    """The whole map of test id to status (`passed`, `failed`, `error`, `skipped`, `xfailed`) must come out."""

    statuses: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCode:
    """The command must end with this status. A weak promise: the code under test can end the process itself."""

    code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardFile:
    """The command writes its reward, a number in [0, 1], into a file of this folder (`reward.txt` or `reward.json`)."""

    folder: str = "/logs/verifier"


Expectation = RequiredSet | ExactMap | ExitCode | RewardFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How the tests are run."""

    framework: str = "pytest"
    """`pytest`: in our own runner, one record per test; `command`: `command` is run as it is."""
    command: str = ""
    """A shell command line, for `command`."""
    python: str = "python3"
    """The interpreter of the image that runs pytest."""
    paths: tuple[str, ...] = (".",)
    """Folders of the workspace put in front of `sys.path`, for instance `src`."""
    plugins: tuple[str, ...] = ()
    """pytest plugins to load by module name; all others stay off."""
    log_parser: str = ""
    """For `command` with a RequiredSet or ExactMap: how test statuses are read from its output (`LOG_PARSERS`)."""
    user: str = "agent"
    timeout_s: float = 300.0
    """For one run of all the tests."""
    memory_mb: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One edit of a file: exactly one occurrence of `old` becomes `new`.

    Without `old` the whole file becomes `new`; where `new` is None too, the file is deleted.
    """

    path: str
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A way to end the task: edits, or (where only a patch or a script is known) one command line."""

    changes: tuple[Change, ...] = ()
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts written before the command runs, by absolute path, for instance the patch that it applies."""
    why: str = ""
    """Of a wrong solution: what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Must-fail controls, found and certified at admission: whoever passes one is forging."""

    twins: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    """Sets of wrong twins: name of the set -> path of a test file -> number of a line (from 1) -> that line, wrong."""
    twin_tests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each set, the test ids that contradict the real ones and failed with the reference."""
    seals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Path of a test file -> keys of its sealed expectations (see `sealing`)."""
    seal_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Test id -> the sealed expectations that it comes to."""
    seal_values: Mapping[str, Mapping[str, tuple[tuple[Any, ...], ...]]] = field(default_factory=dict)
    """Test id -> sealed expectation -> what it expects each time that the test comes to it, as the runner tells values
    (see `values`); only of expectations that are not written out as literals."""
    seal_ids: Mapping[str, str] = field(default_factory=dict)
    """Id of a test while it is sealed -> its own id, where a parameter that is part of the id is sealed."""
    bare: Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]] = field(default_factory=dict)
    """Path of a test file -> key of a sealed block that waits for an exception -> id of a test that ends by it without
    that block (see `bare`) -> the sealed expectations that it comes to even so."""
    sabotage: tuple[str, ...] = ()
    """What the tests use of the code, as `module:attribute.path`, each replaced by something that raises."""
    sabotage_tests: tuple[str, ...] = ()
    """The test ids that failed with the reference under sabotage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweTask:
    """A repository, what to do with it, and how it is judged."""

    id: str = ""
    statement: str = ""
    """What the agent is asked to do."""
    recipe: Recipe = field(default_factory=Recipe)
    """The image the agent works in; its workspace is the repository."""
    visible_tests: Tree = field(default_factory=dict)
    """Test files (and their data) that the agent may run, by path in the repository; mounted read-only as well."""
    hidden_tests: Tree = field(default_factory=dict)
    """Test files by path in the repository, or absolute (as `/tests/test.sh`), laid over the agent's work when it is
    judged."""
    test_patch: str = ""
    """Tests as a patch of the repository, where only the image has what it applies to: when the task is prepared, it
    becomes `hidden_tests` and `deleted_tests`."""
    deleted_tests: tuple[str, ...] = ()
    """Paths removed from the agent's work when it is judged."""
    test_targets: tuple[str, ...] = ()
    """What the runner is told to run: paths or test ids; empty means every hidden test file."""
    expect: Expectation = RequiredSet()
    runner: Runner = Runner()
    reference: Solution = Solution()
    wrong: tuple[Solution, ...] = ()
    """Plausible solutions that must fail."""
    controls: Controls = Controls()
    protected: tuple[str, ...] = ()
    """Further paths (globs) that the agent's changes do not reach; those that the reference changes are free."""
    user: str = "agent"
    """Whom the agent works as: `agent` or `root`."""
    hints: str = ""
    """Never shown unless the environment is told to."""
    difficulty: str = ""
    tags: tuple[str, ...] = ()
    provenance: JsonObject = field(default_factory=dict)
    """Where it came from: repository, commit, license, every normaliser that an importer applied (`normalised`), and
    the paths that a reference changes which is no list of changes (`reference_paths`; `*` where nobody knows)."""


T = TypeVar("T")

_EXPECTATIONS: dict[str, type[Expectation]] = {
    "required": RequiredSet,
    "exact": ExactMap,
    "exit_code": ExitCode,
    "reward_file": RewardFile,
}
_TREES = ("visible_tests", "hidden_tests")
_RECIPE_TREES = ("files", "context")
_AGENTS_SIDE = ("recipe", "visible_tests", "user", "hints")


def to_task(task: SweTask, *, solution: Sequence[ToolCall] = (), wrong: Sequence[Sequence[ToolCall]] = ()) -> Task:
    """The same as a `Task` of kind `swe`; `solution` and `wrong` are the calls that play the reference and the rest."""
    rows = _plain(task)
    for name in ("id", "statement", "difficulty", "tags"):
        rows.pop(name)
    rows["expect"] = {"kind": _name_of(task.expect), **_plain(task.expect)}
    rows["recipe"] |= {name: tree_to_json(getattr(task.recipe, name)) for name in _RECIPE_TREES}
    rows |= {name: tree_to_json(getattr(task, name)) for name in _TREES}
    setup = {name: rows.pop(name) for name in _AGENTS_SIDE}
    return Task(
        id=task.id,
        prompt=task.statement,
        kind="swe",
        setup=setup,
        secret=rows,
        solution=tuple(solution),
        wrong=tuple(tuple(calls) for calls in wrong),
        difficulty=task.difficulty,
        tags=task.tags,
    )


def from_task(task: Task) -> SweTask:
    """The `SweTask` in a `Task` made by `to_task`; raises `TaskError` naming what is wrong with it."""
    rows: dict[str, Any] = {**task.setup, **task.secret}
    try:
        expect = dict(rows.pop("expect", {"kind": "required"}))
        kind = _EXPECTATIONS[expect.pop("kind")]
        return replace(
            _built(SweTask, rows, _TREES, {"recipe", "expect"}),
            id=task.id,
            statement=task.prompt,
            difficulty=task.difficulty,
            tags=task.tags,
            expect=_built(kind, expect),
            recipe=_built(Recipe, rows.get("recipe", {}), _RECIPE_TREES),
        )
    except (KeyError, TypeError, ValueError, msgspec.ValidationError) as cause:
        raise TaskError(f"task {task.id!r} is no task of a repository: {cause}") from cause


def status_of(task: SweTask, required: str, statuses: Mapping[str, str]) -> str:
    """What became of a required test, of which the data may know only the beginning: then all that begin so count."""
    if required in statuses or not isinstance(task.expect, RequiredSet) or required not in task.expect.prefixes:
        return statuses.get(required, "missing")
    found = [status for test, status in statuses.items() if test.startswith(required)]
    return next((status for status in found if status != "passed"), found[0] if found else "missing")


def tree_to_json(tree: Tree) -> JsonObject:
    """A tree as JSON data: a plain text stands for a file that is UTF-8 and not executable."""
    return {path: _file_to_json(file) for path, file in tree.items()}


def tree_from_json(data: Mapping[str, Any]) -> dict[str, TreeFile]:
    """The tree of `tree_to_json`."""
    return {path: _file_from_json(file) for path, file in data.items()}


def _file_to_json(file: TreeFile) -> str | JsonObject:
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(file.content).decode(), "executable": file.executable}
    return {"text": text, "executable": True} if file.executable else text


def _file_from_json(data: str | JsonObject) -> TreeFile:
    if isinstance(data, str):
        return TreeFile(data.encode("utf-8"))
    content = base64.b64decode(data["base64"]) if "base64" in data else data["text"].encode("utf-8")
    return TreeFile(content, executable=bool(data.get("executable")))


def _name_of(expect: Expectation) -> str:
    return next(name for name, kind in _EXPECTATIONS.items() if type(expect) is kind)


def _plain(value: object) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return plain


def _built(kind: type[T], rows: Mapping[str, Any], trees: Sequence[str] = (), later: Collection[str] = ()) -> T:
    """An object of this type; an unknown field is a mistake, not a detail."""
    types = typing.get_type_hints(kind)
    unknown = [name for name in rows if name not in types]
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; it has {', '.join(types)}")
    values = {name: msgspec.convert(value, types[name]) for name, value in rows.items() if name not in (*trees, *later)}
    return kind(**values, **{name: tree_from_json(rows[name]) for name in trees if name in rows})
