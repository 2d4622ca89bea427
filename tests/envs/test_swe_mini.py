"""The bundled repository tasks: complete, honest about what they hide, and readable from the installed package.

Whether their tests tell a right solution from a wrong one is held by `scripts/check_mini.py`.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from agent_envs.envs.swe.tasks.mini import bundled, mini, read_tasks
from agent_envs.verifiers.swe.changes import changed
from agent_envs.verifiers.swe.task import SweTask, from_task

from agent_envs.errors import TaskError
from agent_envs.tasks import TaskSet

REPOSITORIES, TASKS = 8, 29
"""At least as many come with the package."""


@pytest.fixture(scope="module")
def tasks() -> list[SweTask]:
    return list(read_tasks(bundled()))


@pytest.fixture(scope="module")
def known() -> TaskSet:
    return mini()


@pytest.fixture
def one_task(tmp_path: Path) -> Path:
    """A set with one task, to be spoilt."""
    source, home = Path(str(bundled() / "ledger")), tmp_path / "ledger"
    shutil.copytree(source / "repository", home / "repository")
    shutil.copytree(source / "tasks" / "split-cents", home / "tasks" / "split-cents")
    shutil.copy(source / "repository.toml", home)
    return tmp_path


def new_lines(task: SweTask) -> list[str]:
    """Lines of the reference that are long enough to give it away."""
    texts = [change.new or "" for change in task.reference.changes]
    return [line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > 20]


def test_there_are_enough_tasks_of_every_difficulty(tasks: list[SweTask]) -> None:
    assert len(tasks) >= TASKS
    assert len({task.id.partition("/")[0] for task in tasks}) >= REPOSITORIES
    assert {task.difficulty for task in tasks} == {"easy", "medium", "hard"}


def test_ids_are_unique_and_found_in_the_task_set(tasks: list[SweTask], known: TaskSet) -> None:
    assert [task.id for task in known] == [task.id for task in tasks]
    assert len({task.id for task in tasks}) == len(tasks)


def test_a_task_comes_back_from_the_task_set_as_it_was(tasks: list[SweTask], known: TaskSet) -> None:
    for played, task in zip(known, tasks, strict=True):
        assert from_task(played) == task


def test_the_reference_changes_the_code_and_every_task_has_two_wrong_solutions_that_differ(
    tasks: list[SweTask],
) -> None:
    for task in tasks:
        base = task.recipe.files
        ends = [changed(base, solution.changes) for solution in (task.reference, *task.wrong)]
        assert len(ends) >= 3, task.id
        assert all(end != base for end in ends), task.id
        assert all(end != ends[0] for end in ends[1:]), task.id


def test_the_calls_of_the_oracle_lead_to_the_reference(tasks: list[SweTask], known: TaskSet) -> None:
    for played, task in zip(known, tasks, strict=True):
        texts = {path: file.content.decode() for path, file in task.recipe.files.items()}
        *calls, last = played.solution
        for call in calls:
            path = call.arguments.get("path", "")
            if call.name == "edit":
                texts[path] = texts[path].replace(call.arguments["old"], call.arguments["new"])
            elif call.name == "create":
                texts[path] = call.arguments["content"]
            else:
                del texts[call.arguments["command"].removeprefix("rm ").strip("'")]
        assert last.name == "submit"
        expected = changed(task.recipe.files, task.reference.changes)
        assert texts == {path: file.content.decode() for path, file in expected.items()}, task.id


def test_neither_the_statement_nor_the_base_gives_the_reference_away(tasks: list[SweTask]) -> None:
    for task in tasks:
        base = "\n".join(file.content.decode() for file in task.recipe.files.values())
        assert [line for line in new_lines(task) if line in task.statement] == [], task.id
        assert not all(line in base for line in new_lines(task)), task.id


def test_hidden_tests_are_not_in_what_the_agent_gets(tasks: list[SweTask]) -> None:
    for task in tasks:
        hidden = {path for path in task.hidden_tests if path not in task.visible_tests}
        assert hidden, task.id
        assert not hidden & set(task.recipe.files), task.id
        assert all(path.startswith("tests/") for path in task.hidden_tests), task.id


def test_only_sources_are_bundled(tasks: list[SweTask]) -> None:
    kinds = {path.rpartition(".")[2] for task in tasks for path in (*task.recipe.files, *task.hidden_tests)}
    assert kinds <= {"py", "md", "toml", "csv", "ini", "txt"}


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (('difficulty = "easy"', 'difficulty = "trivial"'), "trivial.*difficulty"),
        (('title = "', 'titel = "'), "titel"),
        (('path = "src/ledger/money.py"\nold', 'path = "src/ledger/monney.py"\nold'), "no file 'src/ledger/monney.py'"),
        (("size = abs(self.units)", "size = abs(self.unit)"), "occurs 0 times in src/ledger/money.py"),
        (("[[wrong]]", '[[break]]\npath = "README.md"\n\n[[wrong]]'), r"break\[1\] \(README.md\) must hold"),
        (('old = "        shares[0]', 'old = "        shares[1]'), "wrong 'spread, floor': .*occurs 0 times"),
    ],
)
def test_a_task_that_contradicts_itself_is_named(one_task: Path, spoilt: tuple[str, str], message: str) -> None:
    file = one_task / "ledger" / "tasks" / "split-cents" / "task.toml"
    file.write_text(file.read_text().replace(*spoilt, 1))
    with pytest.raises(TaskError, match=rf"split-cents.task\.toml: .*{message}"):
        list(read_tasks(one_task))


def test_a_certificate_says_which_tests_are_required(one_task: Path) -> None:
    folder = one_task / "certificates"
    folder.mkdir()
    certificate = (
        '{"fail_to_pass": ["tests/a.py::b"], "controls": {"sabotage": ["ledger.money:Money.allocate"]}, "n": 3}'
    )
    (folder / "ledger--split-cents.json").write_text(certificate)
    (task,) = read_tasks(one_task)
    assert getattr(task.expect, "fail_to_pass", None) == ("tests/a.py::b",)
    assert task.controls.sabotage == ("ledger.money:Money.allocate",)


def test_what_an_installation_compiles_is_no_part_of_a_task(one_task: Path) -> None:
    cache = one_task / "ledger" / "repository" / "src" / "ledger" / "__pycache__"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "money.cpython-311.pyc").write_bytes(b"\0")
    (task,) = read_tasks(one_task)
    assert not any("__pycache__" in path for path in task.recipe.files)


def test_every_file_of_the_set_is_text_with_plain_line_ends(checkout: Path) -> None:
    for path in (checkout / "envs" / "swe" / "mini").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert b"\r" not in path.read_bytes(), path


def test_every_repository_says_how_it_may_be_used(checkout: Path) -> None:
    for file in (checkout / "envs" / "swe" / "mini").glob("*/repository.toml"):
        assert tomllib.loads(file.read_text())["license"] == "Apache-2.0"
