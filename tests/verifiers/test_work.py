"""Which of an agent's changes reach the tests."""

from __future__ import annotations

import pytest
from agent_envs.verifiers.swe.task import Change, Runner, Solution, SweTask
from agent_envs.verifiers.swe.work import work_of

from agent_envs.artifact import Artifact
from agent_envs.sandboxes.images import Entry, TreeFile

FILE = TreeFile(b"")
BASE = {
    path: Entry.of(FILE)
    for path in ("src/pkg/__init__.py", "src/pkg/core.py", "tests/conftest.py", "tests/test_a.py", "setup.cfg")
}
TASK = SweTask(
    visible_tests={"tests/test_a.py": FILE},
    hidden_tests={"tests/test_b.py": FILE},
    runner=Runner(paths=("src",)),
    protected=("data/*",),
)


def left_out(path: str, task: SweTask = TASK) -> str:
    """Why a change of this path does not count."""
    return dict(work_of(task, BASE, Artifact(files={path: b"x"})).left_out).get(path, "")


@pytest.mark.parametrize(
    "path",
    [
        "src/pkg/core.py",
        "src/pkg/new.py",
        "src/pkg/random.py",
        "src/pkg/json/types.py",
        "src/other/__init__.py",
        "docs/test.md",
        "docs/tests/readme.md",
        "README.md",
        "src/pkg/ünï.py",
        "src/pkg/data.bin",
    ],
)
def test_ordinary_work_counts(path: str) -> None:
    work = work_of(TASK, BASE, Artifact(files={path: b"\xff\r\n"}, state={"executable": [path]}))
    assert (work.write, work.left_out) == ({path: TreeFile(b"\xff\r\n", executable=True)}, {})


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "src/pkg/conftest.py",
        "pytest.ini",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "src/sitecustomize.py",
        "src/usercustomize.py",
        "src/evil.pth",
        "src/evil.dist-info/entry_points.txt",
        "src/pkg/__pycache__/core.cpython-311.pyc",
        "src/pkg/core.so",
        "src/random.py",
        "json/__init__.py",
        "src/pytest.py",
        "_pytest/runner.py",
        "unittest/__init__.py",
        "tests/test_b.py",
        "tests/helper.py",
        "tests/conftest.py",
        "data/answers.txt",
        ".git/hooks/pre-commit",
        "vendor/.git/config",
        "../outside",
        "/etc/passwd",
        "a//b",
        "./a",
        "",
        "x" * 2000,
    ],
)
def test_what_could_only_steer_the_tests_does_not_count(path: str) -> None:
    assert left_out(path)


def test_what_the_reference_changes_is_free_for_the_agent_too() -> None:
    reference = Solution(changes=(Change(path="tests/conftest.py", new=""), Change(path="setup.cfg", new="")))
    task = SweTask(hidden_tests=TASK.hidden_tests, reference=reference)
    assert [left_out(path, task) for path in ("tests/conftest.py", "setup.cfg")] == ["", ""]
    assert left_out("pytest.ini", task)


def test_a_test_beside_its_source_protects_nothing_but_itself() -> None:
    task = SweTask(hidden_tests={"src/pkg/test_core.py": FILE})
    assert left_out("src/pkg/core.py", task) == ""
    assert left_out("src/pkg/test_core.py", task)


def test_deleting_counts_but_not_of_what_is_protected() -> None:
    state = {"deleted": ["src/pkg/core.py", "tests/test_a.py", "setup.cfg"]}
    work = work_of(TASK, BASE, Artifact(state=state))
    assert work.delete == ("src/pkg/core.py",)
    assert sorted(work.left_out) == ["setup.cfg", "tests/test_a.py"]


def test_a_file_that_became_a_link_counts_as_deleted() -> None:
    work = work_of(TASK, BASE, Artifact(rejected={"src/pkg/core.py": "a symbolic link", "new": "a fifo"}))
    assert (work.delete, work.left_out) == (("src/pkg/core.py",), {"new": "a fifo"})


@pytest.mark.parametrize("state", [{"deleted": 3}, {"deleted": "x"}, {"executable": [3, None]}, {"deleted": {}}])
def test_a_state_that_is_no_list_of_paths_is_ignored(state: dict[str, object]) -> None:
    assert work_of(TASK, BASE, Artifact(files={"src/pkg/core.py": b""}, state=state)).delete == ()
