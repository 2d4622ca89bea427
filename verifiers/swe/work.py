"""What of an agent's work reaches the tests: its changes, less what could only steer the tests themselves.

Nothing here runs or opens anything; paths are only words. Protection is derived for each task from its reference: what
the reference changes is free for the agent too.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from agent_envs.verifiers.swe.task import SweTask

from agent_envs.artifact import Artifact
from agent_envs.sandboxes.images import Manifest, TreeFile

_STEERING = frozenset(
    {
        ".coveragerc",
        ".pytest.ini",
        ".pytest.toml",
        "conftest.py",
        "pyproject.toml",
        "pytest.ini",
        "pytest.toml",
        "setup.cfg",
        "sitecustomize.py",
        "tox.ini",
        "usercustomize.py",
    }
)
"""Files that decide how tests are found, loaded and judged."""
_COMPILED = (".pyc", ".pyo", ".so", ".pyd", ".pth", ".egg-link", ".dll", ".dylib")
_METADATA = (".dist-info", ".egg-info")
_RUNNERS_OWN = frozenset(
    {"_pytest", "attr", "attrs", "coverage", "exceptiongroup", "iniconfig", "packaging", "pluggy", "py", "pygments"}
    | {"pytest", "tomli", "unittest"}
)
_NEEDED = _RUNNERS_OWN | sys.stdlib_module_names
_LONGEST_PATH = 1024


@dataclass(frozen=True, slots=True)
class Work:
    """The changes to lay over the image's workspace, and what was left out of them."""

    write: dict[str, TreeFile] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Path -> why the agent's change of it does not count."""


def work_of(task: SweTask, base: Manifest, artifact: Artifact) -> Work:
    """The part of the artifact that counts; see `why_left_out`."""
    guard = _Guard(task, base)
    left_out = {path: why for path, why in artifact.rejected.items() if path not in base}
    replaced = [path for path in artifact.rejected if path in base]  # by a link, a device, something enormous
    executable = set(_texts(artifact.state.get("executable")))
    write: dict[str, TreeFile] = {}
    for path, content in artifact.files.items():
        if why := guard.why_left_out(path):
            left_out[path] = why
        else:
            write[path] = TreeFile(content, path in executable)
    delete = []
    for path in (*_texts(artifact.state.get("deleted")), *replaced):
        if path in write:
            continue
        if why := guard.why_left_out(path):
            left_out[path] = f"{why}, and was deleted or replaced"
        else:
            delete.append(path)
    return Work(write, tuple(sorted(set(delete))), left_out)


def everything(artifact: Artifact) -> Work:
    """All that the agent left, unfiltered: what a naive grader takes."""
    deleted = tuple(_texts(artifact.state.get("deleted")))
    return Work({path: TreeFile(content) for path, content in artifact.files.items()}, deleted)


class _Guard:
    """Which paths an agent's change does not reach, for one task."""

    def __init__(self, task: SweTask, base: Manifest) -> None:
        self._base = base
        self._free = {change.path for change in task.reference.changes}
        self._free |= set(_texts(task.provenance.get("reference_paths")))
        self._globs = task.protected
        self._test_folders = {folder for path in (*task.hidden_tests, *task.visible_tests) if (folder := _folder(path))}
        self._tests = {*task.hidden_tests, *task.visible_tests, *task.deleted_tests}
        self._roots = tuple("" if root in (".", "") else root.rstrip("/") + "/" for root in task.runner.paths)

    def why_left_out(self, path: str) -> str:
        """Why a change of this path does not count; empty where it does."""
        parts = path.split("/")
        if problem := _unfit(path, parts):
            return problem
        if path in self._free or "*" in self._free:
            return ""
        name = parts[-1]
        if "__pycache__" in parts or name.endswith(_COMPILED):
            return "is compiled, or extends the interpreter"
        if any(part.endswith(_METADATA) for part in parts):
            return "is metadata of an installed package"
        if name in _STEERING:
            return "configures the tests"
        if any(fnmatchcase(path, glob) for glob in self._globs):
            return "is protected by the task"
        if path in self._tests or any(path.startswith(f"{folder}/") for folder in self._test_folders):
            return "is among the tests"
        if path not in self._base and self._shadows(path):
            return "would take the place of a module that the test runner needs"
        return ""

    def _shadows(self, path: str) -> bool:
        for root in {"", *self._roots}:
            if path.endswith(".py") and path.startswith(root):
                top = path.removeprefix(root).split("/")[0].removesuffix(".py")
                if top in _NEEDED and not self._has_package(root + top):
                    return True
        return False

    def _has_package(self, folder: str) -> bool:
        """Whether the repository itself has this folder: then adding to it takes nobody's place."""
        return any(path.startswith(folder + "/") for path in self._base)


def _folder(path: str) -> str:
    """The folder of tests that a test file lies in; empty where it stands among the sources."""
    parts = path.split("/")[:-1]
    last = max((position for position, part in enumerate(parts) if part in ("test", "tests")), default=-1)
    return "/".join(parts[: last + 1])


def _unfit(path: str, parts: Collection[str]) -> str:
    if not path or len(path) > _LONGEST_PATH or "\0" in path:
        return "is no usable path"
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "does not lie in the workspace"
    if ".git" in parts:
        return "belongs to git"
    return ""


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        yield from (item for item in value if isinstance(item, str))
