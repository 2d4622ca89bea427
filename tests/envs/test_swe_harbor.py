"""Harbor task directories both ways: what was one comes back as it was, and what was none is judged the same."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from agent_envs.envs.swe.tasks import load_task_set
from agent_envs.envs.swe.tasks._toml import dumps
from agent_envs.envs.swe.tasks.harbor import load_harbor
from agent_envs.envs.swe.tasks.harbor_export import export_harbor
from agent_envs.verifiers.swe.task import (
    Change,
    ExactMap,
    ExitCode,
    RequiredSet,
    RewardFile,
    Runner,
    Solution,
    SweTask,
    from_task,
)
from hypothesis import given
from hypothesis import strategies as st

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Recipe, TreeFile

CONFIG = """\
# A comment that must survive.
schema_version = "1.4"
source = "ours"

[task]
name = "abacus/hello"
keywords = ["files"]

[metadata]
author_name = "Ada"
difficulty = "easy"
added = 2026-01-02

[agent]
timeout_sec = 120.0

[verifier]
timeout_sec = 30.0
env = { MODE = "two words" }

[environment]
cpus = 2
memory_mb = 512
build_timeout_sec = 60.0
network_mode = "public"
unheard_of = true
mcp_servers = []
"""
FILES = {
    "task.toml": CONFIG,
    "instruction.md": "Write `hello` into hello.txt.\r\n\n",
    "README.md": "For people.\n",
    "environment/Dockerfile": "FROM base:1\nWORKDIR /srv\nWORKDIR work\nCOPY data.bin .\n",
    "environment/data.bin": b"\x00\xff",
    "tests/test.sh": "#!/bin/bash\ngrep -qx hello hello.txt && echo 1 > /logs/verifier/reward.txt\n",
    "tests/data/expected.bin": b"\xfe\x00",
    "solution/solve.sh": "#!/bin/bash\necho hello > hello.txt\n",
    "solution/notes/why.md": "Ümläut.\n",
}


@pytest.fixture
def directory(tmp_path: Path) -> Callable[..., Path]:
    """Writes a task directory: the usual files with changes, where None removes one."""

    def write(changes: dict[str, str | bytes | None] | None = None, name: str = "hello") -> Path:
        for path, content in (FILES | (changes or {})).items():
            if content is not None:
                place = tmp_path / "tasks" / name / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.encode() if isinstance(content, str) else content)
        (tmp_path / "tasks" / name / "tests" / "test.sh").chmod(0o755)
        return tmp_path / "tasks" / name

    return write


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o100) for path in paths}


def test_a_directory_becomes_a_task_judged_by_its_own_script(directory: Callable[..., Path]) -> None:
    task = load_harbor(directory())
    assert (task.id, task.statement, task.difficulty, task.tags) == (
        "abacus/hello",
        FILES["instruction.md"],
        "easy",
        ("files",),
    )
    assert (task.recipe.workspace, task.recipe.context["data.bin"].content) == ("/srv/work", b"\x00\xff")
    assert task.expect == RewardFile(folder="/logs/verifier")
    assert task.runner == Runner(
        framework="command",
        command="env MODE='two words' bash /tests/test.sh",
        timeout_s=30,
        memory_mb=512,
        user="root",
    )
    assert sorted(task.hidden_tests) == ["/tests/data/expected.bin", "/tests/test.sh"]
    assert (task.reference.command, task.user) == ("bash /solution/solve.sh", "root")


def test_what_has_no_effect_is_listed(directory: Callable[..., Path]) -> None:
    assert load_harbor(directory()).provenance["harbor"]["ignored"] == [
        "agent.timeout_sec",
        "environment.build_timeout_sec",
        "environment.cpus",
        "environment.network_mode",
        "environment.unheard_of",
    ]


def test_a_directory_comes_back_byte_for_byte_also_through_json(directory: Callable[..., Path], tmp_path: Path) -> None:
    source = directory()
    (task,) = load_task_set("harbor", path=str(source))
    assert tree(export_harbor(from_task(task), tmp_path / "again")) == tree(source)


def test_a_directory_with_an_image_and_without_a_solution_comes_back_too(
    directory: Callable[..., Path], tmp_path: Path
) -> None:
    config = CONFIG.replace("cpus = 2", 'docker_image = "abacus/hello@sha256:00"\nworkdir = "/work"')
    source = directory({"task.toml": config, "solution/solve.sh": None, "solution/notes/why.md": None})
    task = load_harbor(source)
    assert (task.recipe, task.reference) == (Recipe(base="abacus/hello@sha256:00", workspace="/work"), Solution())
    assert tree(export_harbor(task, tmp_path / "again")) == tree(source)


def test_what_was_changed_is_written_and_nothing_else(directory: Callable[..., Path], tmp_path: Path) -> None:
    task = load_harbor(directory())
    changed = replace(task, statement="Other.", difficulty="hard", runner=replace(task.runner, timeout_s=9.5))
    written = export_harbor(changed, tmp_path / "again")
    before = tomllib.loads(CONFIG)
    before["metadata"]["difficulty"], before["verifier"]["timeout_sec"] = "hard", 9.5
    assert tomllib.loads((written / "task.toml").read_text()) == before
    assert load_harbor(written).statement == "Other."


def test_old_keys_and_guesses_are_noted_by_name(directory: Callable[..., Path]) -> None:
    config = 'memory = "2G"\nstorage = "10G"\nallow_internet = false\n[agent]\nuser = "dev"\n'
    config = f'version = "1.0"\n[environment]\n{config}'
    task = load_harbor(directory({"task.toml": config, "environment/Dockerfile": "FROM base:1\n"}))
    assert task.provenance["normalised"] == {
        "old_keys": ["version", "environment.allow_internet", "environment.storage", "environment.memory"],
        "user_mapped": ["dev"],
        "workdir_assumed": ["/app"],
    }
    assert (task.id, task.user, task.runner.memory_mb, task.runner.timeout_s) == ("hello", "agent", 2048, 600.0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[[steps]]\nname = 'one'", "steps cannot be honoured"),
        ("[environment]\ngpus = 1", r"environment\.gpus cannot be honoured: there is no GPU"),
        ("[[environment.mcp_servers]]\nname = 'x'", r"environment\.mcp_servers cannot be honoured"),
        ("[environment.healthcheck]\ncommand = 'x'", r"environment\.healthcheck cannot"),
        ("[environment.env]\nA = 'b'", r"environment\.env cannot be honoured: .* with ENV"),
        ("[verifier.environment]\ncpus = 1", r"verifier\.environment cannot"),
        ("[[verifier.collect]]\ncommand = 'x'", r"verifier\.collect cannot"),
        ("[agent]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['x.org']", r"agent\.network_mode is 'allowlist'"),
        ("[environment]\nos = 'windows'", r"environment\.os is 'windows'"),
        ("[environment]\nworkdir = '/'", r".*set environment\.workdir"),
        ("[environment]\nmemory = 'much'", r"environment\.memory is 'MUCH'; write"),
        ("[environment]\nmemory = '1G'\nmemory_mb = 7", ".* disagree"),
        ("[verifier]\nuser = 'dev'", r"verifier\.user is 'dev'"),
        ("[verifier]\ntimeout_sec = '9'", r"verifier\.timeout_sec is '9'; expected a number"),
        ("[verifier.env]\nKEY = '${KEY}'", r"verifier\.env\.KEY .* variable of the host"),
        ("[verifier]\nenv = ['a']", r"verifier\.env is \['a'\]; expected a table"),
        ("environment = 3", r"\[environment\] is a int; expected a table"),
        ("schema_version = '2.0'", "schema_version is '2.0'; expected 1.x"),
        ("[task]\nname = 3", r"task\.name is a int"),
        ("nonsense", "task.toml is no TOML"),
    ],
)
def test_a_key_that_cannot_be_honoured_is_named(directory: Callable[..., Path], line: str, problem: str) -> None:
    with pytest.raises(TaskError, match=rf"tasks/hello: {problem}"):
        load_harbor(directory({"task.toml": line + "\n"}))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"instruction.md": None}, "there is no instruction.md"),
        ({"tests/test.sh": None}, "there is no tests/test.sh"),
        ({"environment/Dockerfile": None}, r"neither environment/Dockerfile nor environment\.docker_image"),
        ({"environment/docker-compose.yaml": "x"}, "starts several containers"),
        ({"steps/one/instruction.md": "x"}, "several steps"),
        ({"trajectory.json": "{}"}, "in the middle of an episode"),
        ({"solution/solve.sh": None}, "solution/ has no solution/solve.sh"),
        ({"solution/patch.bin": b"\xff"}, "solution/patch.bin is no UTF-8 text"),
        ({"instruction.md": b"\xff"}, "instruction.md is no UTF-8 text"),
    ],
)
def test_a_directory_that_is_no_task_is_refused_with_its_reason(
    directory: Callable[..., Path], changes: dict[str, str | bytes | None], problem: str
) -> None:
    folder = directory(changes | {"tests/test.sh": FILES["tests/test.sh"]})
    if "tests/test.sh" in changes:
        (folder / "tests" / "test.sh").unlink()
    with pytest.raises(TaskError, match=problem):
        load_harbor(folder)


def test_a_link_in_a_directory_is_refused(directory: Callable[..., Path]) -> None:
    folder = directory()
    (folder / "tests" / "link").symlink_to("/etc/passwd")
    with pytest.raises(TaskError, match="tests/link is a link"):
        load_harbor(folder)


def test_a_folder_of_directories_is_a_task_set(directory: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("b", "a"):
        directory({"task.toml": CONFIG.replace("abacus/hello", f"abacus/{name}")} | {"README.md": name}, name)
    tasks = load_task_set("harbor", path=str(tmp_path / "tasks"))
    assert [task.id for task in tasks] == ["abacus/a", "abacus/b"]
    assert [call.name for call in tasks.task("abacus/a").solution][-2:] == ["bash", "submit"]
    with pytest.raises(TaskError, match="is no folder"):
        len(load_task_set("harbor", path=str(tmp_path / "none")))


TESTS = """\
from sums.core import add

def test_add():
    assert add(1, 2) == 3

def test_zero():
    assert add(0, 0) == 0
"""
WRONG = TreeFile(b"def add(a, b):\n    return a - b\n")
OURS = SweTask(
    id="sums/add",
    statement="The sum is a difference: mend it.\n",
    recipe=Recipe(
        files={
            "src/sums/core.py": TreeFile(b"def add(a, b):\n    return a - b\n"),
            "src/sums/__init__.py": TreeFile(b""),
        }
    ),
    visible_tests={"tests/test_seen.py": TreeFile(b"def test_seen():\n    pass\n")},
    hidden_tests={"tests/test_sums.py": TreeFile(TESTS.encode())},
    expect=RequiredSet(fail_to_pass=("tests/test_sums.py::test_add",), pass_to_pass=("tests/test_sums.py::test_zero",)),
    # An interpreter that has pytest wherever this test runs.
    runner=Runner(paths=("src",), python=sys.executable, timeout_s=60),
    reference=Solution(changes=(Change(path="src/sums/core.py", old="a - b", new="a + b"),)),
    difficulty="easy",
    tags=("arithmetic",),
)


def reward(exported: Path, work: Path, *, solved: bool) -> str:
    """What the exported scripts say of a copy of the repository, run as Harbor runs them but for the folders."""
    for path, (content, _) in tree(exported / "environment" / "workspace").items():
        (work / "w" / path).parent.mkdir(parents=True, exist_ok=True)
        (work / "w" / path).write_bytes(content)
    env = {"WORKSPACE": str(work / "w"), "REWARDS": str(work / "r"), "PATH": "/usr/bin:/bin"}
    for script in ["solution/solve.sh"] * solved + ["tests/test.sh"]:
        subprocess.run(["bash", str(exported / script)], env=env, check=True, capture_output=True, cwd="/")
    return (work / "r" / "reward.txt").read_text().strip()


def test_an_exported_task_pays_its_reference_and_nothing_else(tmp_path: Path) -> None:
    exported = export_harbor(OURS, tmp_path / "task")
    assert reward(exported, tmp_path / "base", solved=False) == "0"
    assert reward(exported, tmp_path / "solved", solved=True) == "1"


@pytest.mark.parametrize(
    "forgery", ["import os; os._exit(0)", "import atexit, os; atexit.register(os._exit, 0)\ndef add(a, b): pass"]
)
def test_an_exported_task_does_not_believe_an_exit_status(tmp_path: Path, forgery: str) -> None:
    exported = export_harbor(OURS, tmp_path / "task")
    (exported / "environment" / "workspace" / "src" / "sums" / "core.py").write_text(forgery)
    assert reward(exported, tmp_path / "work", solved=False) == "0"


def test_an_exported_task_is_read_back_as_the_same_question(tmp_path: Path) -> None:
    back = load_harbor(export_harbor(OURS, tmp_path / "task", base="base:1"))
    same = ("id", "statement", "difficulty", "tags", "user")
    assert [getattr(back, name) for name in same] == [getattr(OURS, name) for name in same]
    assert (back.recipe.workspace, back.runner.timeout_s) == (OURS.recipe.workspace, 60)
    assert back.recipe.context["workspace/src/sums/core.py"] == OURS.recipe.files["src/sums/core.py"]
    assert back.hidden_tests["/tests/files/tests/test_sums.py"].content.decode() == TESTS
    assert back.recipe.dockerfile.startswith("FROM base:1\n")
    assert not any("test_sums" in path for path in back.recipe.context)


def test_every_bundled_task_can_be_exported(tmp_path: Path) -> None:
    for number, task in enumerate(load_task_set("mini")):
        swe = from_task(task)
        if swe.expect != RequiredSet():
            assert load_harbor(export_harbor(swe, tmp_path / str(number))).statement == swe.statement


def test_a_command_is_exported_with_the_status_or_the_reward_that_it_expects(tmp_path: Path) -> None:
    runner = Runner(framework="command", command="grep -q 'a + b' src/sums/core.py")
    by_status = export_harbor(replace(OURS, runner=runner, expect=ExitCode()), tmp_path / "status")
    assert reward(by_status, tmp_path / "base", solved=False) == "0"
    assert reward(by_status, tmp_path / "solved", solved=True) == "1"
    runner = replace(runner, command='echo 0.5 > "$rewards/reward.txt"')
    by_file = export_harbor(replace(OURS, runner=runner, expect=RewardFile()), tmp_path / "file")
    assert reward(by_file, tmp_path / "half", solved=False) == "0.5"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"expect": RequiredSet()}, "requires no test at all"),
        ({"expect": ExitCode()}, "expects a required set or an exact map"),
        ({"runner": Runner(framework="command", command="x", log_parser="pytest")}, "reads its tests from a log"),
        ({"hidden_tests": {"/opt/x": TreeFile(b"")}}, "lays a test at /opt/x"),
    ],
)
def test_a_task_that_the_format_cannot_hold_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(TaskError, match=problem):
        export_harbor(replace(OURS, **changes), tmp_path / "task")


def test_an_exact_map_is_exported_as_one(tmp_path: Path) -> None:
    expect = ExactMap(statuses={"tests/test_sums.py::test_add": "failed", "tests/test_sums.py::test_zero": "passed"})
    exported = export_harbor(replace(OURS, expect=expect), tmp_path / "task")
    assert reward(exported, tmp_path / "base", solved=False) == "1"


def test_a_directory_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TaskError, match="exists already"):
        export_harbor(OURS, tmp_path)


def test_a_harbor_task_that_has_become_something_else_says_so(directory: Callable[..., Path], tmp_path: Path) -> None:
    task = replace(load_harbor(directory()), expect=ExitCode())
    with pytest.raises(TaskError, match="no longer what a Harbor directory can hold"):
        export_harbor(task, tmp_path / "again")


SCALARS = st.one_of(
    st.text(), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(allow_nan=False), st.dates(date(1, 1, 1))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=12
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_toml_is_written_so_that_it_is_read_as_the_same(data: dict[str, Any]) -> None:
    assert tomllib.loads(dumps(data)) == data


def test_toml_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        dumps({"a": None})
