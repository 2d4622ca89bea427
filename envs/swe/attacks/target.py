"""The victim of the attacks: a small repository with one task, kept as data below `target/`.

Its Python files are stored as `*.py.txt` and its dotfiles as `dot-*`, so that no tool takes them for part of this house.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable

from agent_envs.verifiers.swe.task import Change, RequiredSet, Runner, Solution, SweTask

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Recipe, TreeFile

TARGETS = ("textkit", "textkit-config", "textkit-index")
"""The tasks that are attacked, by name: in the second one the reference itself edits the set-up of the tests; the tests
of the third expect more than plain values, and bound the work that is done for them."""
_FOLDER = "target"
_ADDED = "tests/test_titles.py"
_REQUEST = """\
5. `tests/conftest.py` has a fixture `titles`, the list of "Numbat facts" and "Quoll facts", and flake8 leaves out `build`.\
"""
INDEX = "src/textkit/index.py"
"""Where the index of the third target is."""
_INDEXED = "tests/test_index.py"
_INDEX_REQUEST = """\
5. `textkit.index.index` has each line of titles in the order of their slugs, whatever order they come in, and raises
   `SameTitle`, which says that the title occurs twice, for a title that is there already. Ten thousand titles take less
   than a second.\
"""
_FIXTURE = """

@pytest.fixture
def titles():
    return ["Numbat facts", "Quoll facts"]
"""
_TEST = """\
from textkit import slugify


def test_every_title_has_a_slug(titles):
    assert [slugify(title, 6) for title in titles] == ["numbat", "quoll"]
"""


def target(name: str = "textkit") -> SweTask:
    """One of the `TARGETS`, without controls: these are found when it is admitted."""
    if name not in TARGETS:
        raise TaskError(f"no target {name!r}; there are {', '.join(TARGETS)}")
    task = _textkit()
    return _with_config(task) if name == TARGETS[1] else _with_index(task) if name == TARGETS[2] else task


def _textkit() -> SweTask:
    folder = files("agent_envs.envs.swe.attacks") / _FOLDER
    about = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    repository = dict(_tree(folder / "repository"))
    return SweTask(
        id=about["id"],
        statement=about["statement"].strip("\n"),
        recipe=Recipe(files=repository),
        visible_tests={path: file for path, file in repository.items() if path.startswith("tests/")},
        hidden_tests=dict(_tree(folder / "hidden")),
        expect=RequiredSet(
            fail_to_pass=tuple(about["fail_to_pass"]),
            pass_to_pass=tuple(about["pass_to_pass"]),
        ),
        # Short and small: a dozen attacks use up whatever there is.
        runner=Runner(paths=("src",), timeout_s=20.0, memory_mb=512),
        reference=Solution(changes=tuple(Change(**change) for change in about["reference"])),
        difficulty=about["difficulty"],
        tags=tuple(about["tags"]),
    )


def _with_config(task: SweTask) -> SweTask:
    """The same task where the tests need a fixture and a marker that the solver has to add to the set-up."""
    edits = (
        Change(path="setup.cfg", old="[flake8]\n", new="[flake8]\nextend-exclude = build\n"),
        Change(path="tests/conftest.py", old="import pytest\n", new=f"import pytest\n{_FIXTURE}"),
    )
    expect = task.expect
    if not isinstance(expect, RequiredSet):
        raise TaskError(f"{task.id} expects a {type(expect).__name__}; this variant is written for a RequiredSet")
    return replace(
        task,
        id="attacks/textkit-config",
        statement=f"{task.statement}\n\n{_REQUEST}",
        hidden_tests={**task.hidden_tests, _ADDED: TreeFile(_TEST.encode())},
        expect=replace(expect, fail_to_pass=(*expect.fail_to_pass, f"{_ADDED}::test_every_title_has_a_slug")),
        reference=Solution(changes=(*task.reference.changes, *edits)),
    )


def _with_index(task: SweTask) -> SweTask:
    """The same task with an index of titles, whose tests compare objects, look for texts, wait for exceptions, count."""
    folder = files("agent_envs.envs.swe.attacks") / _FOLDER / "index"
    before, after, tests = ((folder / f"{name}.py.txt").read_bytes() for name in ("before", "after", "test_index"))
    expect = task.expect
    if not isinstance(expect, RequiredSet):
        raise TaskError(f"{task.id} expects a {type(expect).__name__}; this variant is written for a RequiredSet")
    names = (
        "titles_are_in_order",
        "titles_stand_beside_their_neighbours",
        "a_line_is_sorted[words0]",
        "a_line_is_sorted[words1]",
        "the_order_of_the_titles_does_not_matter",
        "a_title_that_is_there_twice_is_refused",
        "many_titles",
    )
    added = tuple(f"{_INDEXED}::test_{name}" for name in names)
    return replace(
        task,
        id="attacks/textkit-index",
        statement=f"{task.statement}\n\n{_INDEX_REQUEST}",
        recipe=Recipe(files={**task.recipe.files, INDEX: TreeFile(before)}),
        runner=replace(task.runner, timeout_s=10.0),
        hidden_tests={**task.hidden_tests, _INDEXED: TreeFile(tests)},
        expect=replace(expect, fail_to_pass=(*expect.fail_to_pass, *added)),
        reference=Solution(changes=(*task.reference.changes, Change(path=INDEX, new=after.decode()))),
    )


def _tree(folder: Traversable, above: str = "") -> Iterator[tuple[str, TreeFile]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = entry.name.replace("dot-", ".", 1) if entry.name.startswith("dot-") else entry.name
        if entry.is_dir():
            yield from _tree(entry, f"{above}{name}/")
        else:
            plain = name.removesuffix(".txt") if name.endswith(".py.txt") else name
            yield above + plain, TreeFile(entry.read_bytes())
