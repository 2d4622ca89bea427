"""Rows of SWE-bench and its relatives as tasks; the rows are ours, in the shapes in which such rows are published."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from agent_envs.envs.swe.hygiene import telling_lines
from agent_envs.envs.swe.tasks import NORMALISERS, load_task_set, normalised
from agent_envs.envs.swe.tasks._solutions import calls_of
from agent_envs.envs.swe.tasks.swebench import FAMILIES, REFERENCE, import_row, read_row, to_row
from agent_envs.verifiers.swe.logs import LOG_PARSERS
from agent_envs.verifiers.swe.overlays import with_test_patch
from agent_envs.verifiers.swe.patches import base_paths, parse
from agent_envs.verifiers.swe.task import RequiredSet, Solution, from_task, status_of
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_envs.errors import ConfigError, TaskError
from agent_envs.sandboxes.images import TreeFile

PATCH = "diff --git a/src/sum.py b/src/sum.py\n--- a/src/sum.py\n+++ b/src/sum.py\n@@ -1 +1 @@\n-a - b\n+a + b\n"
TEST_PATCH = (
    "diff --git a/tests/test_sum.py b/tests/test_sum.py\n--- a/tests/test_sum.py\n+++ b/tests/test_sum.py\n"
    "@@ -1,2 +1,3 @@\n one\n+new\n two\ndiff --git a/tests/test_old.py b/tests/test_old.py\ndeleted file mode 100644\n"
    "--- a/tests/test_old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
)
FAIL, KEEP = "tests/test_sum.py::test_new", "tests/test_sum.py::TestSum::test_one[1-2]"
CLASSIC: dict[str, Any] = {
    "repo": "Abacus/sums",
    "instance_id": "Abacus__sums-12",
    "base_commit": "0f" * 20,
    "patch": PATCH,
    "test_patch": TEST_PATCH,
    "problem_statement": "The sum is a difference.\r\n",
    "hints_text": "Look at the sign.",
    "created_at": "2024-01-02T03:04:05Z",
    "version": "1.2",
    "FAIL_TO_PASS": json.dumps([FAIL]),
    "PASS_TO_PASS": json.dumps([KEEP]),
    "environment_setup_commit": "1e" * 20,
}
LOG_ROW: dict[str, Any] = CLASSIC | {
    "FAIL_TO_PASS": ["docs/sums.txt"],
    "PASS_TO_PASS": [],
    "image": "sums/env@sha256:" + "ab" * 32,
    "eval_script": "cd /testbed\ngit checkout "
    + "0f" * 20
    + " docs\ngit apply -v - <<'EOF'\n...\nEOF\npytest -rA docs",
    "log_parser": "parse_log_pytest",
    "eval_type": "pass_and_fail",
}
SMITH = {
    "instance_id": "abacus__sums.0f0f0f.lm_rewrite__ab12",
    "repo": "swesmith/abacus__sums.0f0f0f",
    "patch": PATCH,
    "FAIL_TO_PASS": [FAIL],
    "PASS_TO_PASS": [KEEP],
    "image_name": "smith/abacus.sums",
    "problem_statement": "The sum is a difference.",
}


def notes(row: dict[str, Any], family: str = "swebench") -> dict[str, list[str]]:
    noted: dict[str, list[str]] = read_row(row, family=FAMILIES[family]).provenance["normalised"]
    return noted


def test_a_classic_row_becomes_a_task_whose_image_follows_the_convention() -> None:
    task = read_row(CLASSIC)
    assert task.recipe.base == "swebench/sweb.eval.x86_64.abacus_1776_sums-12:latest"
    assert (task.recipe.workspace, task.hints, task.statement) == (
        "/testbed",
        "Look at the sign.",
        CLASSIC["problem_statement"],
    )
    assert task.expect == RequiredSet(fail_to_pass=(FAIL,), pass_to_pass=(KEEP,))
    assert (task.runner.framework, task.test_targets) == ("pytest", ("tests/test_sum.py",))
    assert (task.reference.files[REFERENCE], task.provenance["reference_paths"]) == (PATCH, ["src/sum.py"])


def test_the_agents_side_of_a_task_holds_neither_patch_nor_tests() -> None:
    task = import_row(CLASSIC)
    assert not any(word in json.dumps(task.setup) for word in ("a + b", "test_new", "test_sum"))
    assert from_task(task) == read_row(CLASSIC)
    assert [call.name for call in task.solution] == ["bash", "bash", "submit"]


@settings(max_examples=25, deadline=None)
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.just("a\nEND_OF_FILE\n"))
def test_the_calls_of_a_solution_write_its_files_exactly(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("written") / "a folder" / "it's"
    write, run, submit = calls_of(Solution(command="true", files={str(path): text}))
    subprocess.run(["bash", "-c", write.arguments["command"]], check=True)
    assert path.read_bytes().decode("utf-8") == text
    assert (run.arguments, submit.name) == ({"command": "true"}, "submit")


def test_every_change_to_a_row_is_noted_by_name() -> None:
    cut = "tests/test_sum.py::test_log[log(a"
    row = CLASSIC | {"FAIL_TO_PASS": json.dumps([FAIL, cut, "[100%]", FAIL]), "patch": PATCH.rstrip("\n")}
    assert notes(row | {"created_at": datetime(2024, 1, 2, 3, 4)}) == {
        "dates_as_text": ["created_at"],
        "duplicate_ids": [FAIL],
        "final_newline": ["patch"],
        "image_name_mangled": ["swebench/sweb.eval.x86_64.abacus_1776_sums-12:latest"],
        "json_string_lists": ["FAIL_TO_PASS", "PASS_TO_PASS"],
        "phantom_ids": ["[100%]"],
        "truncated_ids": [cut],
    }


def test_a_row_that_needs_no_change_has_no_notes() -> None:
    assert notes(LOG_ROW | {"FAIL_TO_PASS": [FAIL]}) == {}


def test_a_truncated_id_stands_for_the_tests_that_begin_with_it() -> None:
    cut = "tests/test_sum.py::test_log[log(a"
    task = read_row(CLASSIC | {"FAIL_TO_PASS": [cut]})
    assert status_of(task, cut, {f"{cut} b)]": "passed", f"{cut} c)]": "failed"}) == "failed"
    assert status_of(task, cut, {f"{cut} b)]": "passed", FAIL: "failed"}) == "passed"
    assert status_of(task, KEEP, {f"{KEEP}x": "passed"}) == status_of(task, cut, {}) == "missing"


def test_test_ids_that_are_not_pytests_are_read_from_a_log_and_trusted_less() -> None:
    task = read_row(LOG_ROW)
    assert task.recipe.base == LOG_ROW["image"]
    assert (task.runner.framework, task.runner.command, task.runner.log_parser) == (
        "command",
        "bash /tests/eval.sh",
        "pytest",
    )
    assert b"git checkout HEAD docs" in task.hidden_tests["/tests/eval.sh"].content
    assert task.provenance["normalised"] == {"commit_as_head": [LOG_ROW["base_commit"]]}
    assert (task.provenance["trust"], read_row(CLASSIC).provenance["trust"]) == ("log", "records")


@pytest.mark.parametrize(
    ("test", "parser", "read_as"),
    [("test_add (sums.Tests)", "parse_log_django", "unittest"), ("test_add", "parse_log_sympy", "sympy")],
)
def test_rows_of_projects_with_runners_of_their_own_are_read_from_their_logs(
    test: str, parser: str, read_as: str
) -> None:
    task = read_row(LOG_ROW | {"FAIL_TO_PASS": [test], "log_parser": parser})
    assert (task.runner.log_parser, read_as in LOG_PARSERS) == (read_as, True)


def test_a_bug_patch_is_reversed_only_where_the_caller_says_so() -> None:
    with pytest.raises(TaskError, match=r"base_commit is missing; .* read them as 'swe-smith'"):
        read_row(SMITH)
    task = read_row(SMITH, family=FAMILIES["swe-smith"])
    (reference,) = parse(task.reference.files[REFERENCE])
    assert (reference.hunks[0].old, reference.hunks[0].new) == ((b"a + b\n",), (b"a - b\n",))
    assert (task.recipe.base, task.protected) == ("smith/abacus.sums", ("tests/test_sum.py",))
    assert notes(SMITH, "swe-smith") == {"reversed_patch": ["patch"]}


def test_the_lines_that_only_the_patch_of_a_row_adds_are_looked_for_on_its_image() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n the same line as then\n-an old, wrong line\n+a new and better line\n"
    assert telling_lines(read_row(CLASSIC | {"patch": patch}), ()) == ["a new and better line"]


def test_the_test_patch_becomes_files_when_the_image_has_told_what_it_applies_to() -> None:
    task = read_row(CLASSIC)
    assert base_paths(task.test_patch) == ("tests/test_sum.py", "tests/test_old.py")
    base = {"tests/test_sum.py": TreeFile(b"one\ntwo\n"), "tests/test_old.py": TreeFile(b"old\n")}
    ready = with_test_patch(task, base)
    assert ready.hidden_tests == {"tests/test_sum.py": TreeFile(b"one\nnew\ntwo\n")}
    assert (ready.deleted_tests, ready.test_patch) == (("tests/test_old.py",), "")


@pytest.mark.parametrize(
    ("row", "family"),
    [
        (CLASSIC, "swebench"),
        (LOG_ROW, "swebench"),
        (SMITH, "swe-smith"),
        (CLASSIC | {"FAIL_TO_PASS": [FAIL]}, "swe-gym"),
    ],
)
def test_a_task_is_written_back_as_the_row_it_came_from(row: dict[str, Any], family: str) -> None:
    back = to_row(from_task(import_row(row, family=FAMILIES[family])))
    assert {name: value for name, value in back.items() if value != ""} == row


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"repo": None}, "repo is empty"),
        ({"problem_statement": "  "}, "problem_statement is empty"),
        ({"patch": 5}, "patch is int; expected text"),
        ({"patch": "no diff"}, "patch: the patch changes no file"),
        ({"test_patch": TEST_PATCH.replace(" one", "?one")}, "test_patch: line 5"),
        ({"test_patch": PATCH}, "patch and test_patch both change src/sum.py"),
        ({"FAIL_TO_PASS": "[]"}, "FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": ["[ 50%]"]}, "FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": FAIL}, "FAIL_TO_PASS is text that is not JSON"),
        ({"FAIL_TO_PASS": [FAIL, 3]}, "FAIL_TO_PASS is no list of test ids"),
        ({"FAIL_TO_PASS": {FAIL: "pass"}}, "FAIL_TO_PASS is no list of test ids"),
        ({"PASS_TO_PASS": None}, "PASS_TO_PASS is missing"),
        ({"PASS_TO_PASS": [FAIL]}, "both hold 'tests/test_sum.py::test_new'"),
        ({"FAIL_TO_PASS": ["test_new (sums.Tests)"]}, "none of pytest's, and eval_script is missing"),
        ({"FAIL_TO_PASS": ["x (y)"], "eval_script": "x", "log_parser": "parse_log_go"}, "log_parser is 'parse_log_go'"),
        ({"eval_type": "fail_only"}, "eval_type is 'fail_only'"),
        ({"image_assets": '{"test_patch": [{"path": "a.png"}]}'}, "image_assets names binary files"),
        ({"image_assets": 7}, "image_assets is int"),
    ],
)
def test_what_cannot_be_read_is_named_by_instance_and_field(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(TaskError, match=rf"instance 'Abacus__sums-12': .*{problem}"):
        read_row(CLASSIC | change)


def test_rows_load_from_jsonl_from_parquet_and_from_a_dataset_folder(tmp_path: Path) -> None:
    lines, table, folder = tmp_path / "rows.jsonl", tmp_path / "rows.parquet", tmp_path / "sums"
    lines.write_text(json.dumps(CLASSIC) + "\n", encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([CLASSIC | {"FAIL_TO_PASS": [FAIL]}]), table)
    (folder / "data").mkdir(parents=True)
    table.rename(folder / "data" / "test-00000-of-00001.parquet")
    sets = [load_task_set("swebench", path=str(path)) for path in (lines, folder)]
    assert [from_task(part.task("Abacus__sums-12")).expect for part in sets] == [read_row(CLASSIC).expect] * 2
    assert normalised(sets[0])["json_string_lists"] == {"Abacus__sums-12": ["FAIL_TO_PASS", "PASS_TO_PASS"]}


def test_an_error_in_a_file_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(CLASSIC) + "\n" + json.dumps(SMITH) + "\n", encoding="utf-8")
    with pytest.raises(TaskError, match=r"rows.jsonl, line 2: instance 'abacus__sums.*': base_commit is missing"):
        len(load_task_set("swebench", path=str(path)))


@pytest.mark.parametrize(
    ("name", "path", "problem"),
    [
        ("swebensh", "x", "did you mean 'swebench'"),
        ("swebench", "", "pass path="),
        ("swebench", "a\0b", "two texts"),
        ("mini", "x", "takes no path"),
    ],
)
def test_a_task_set_that_does_not_exist_is_an_error_that_says_what_does(name: str, path: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_task_set(name, path=path)


def test_the_documentation_lists_every_normaliser(checkout: Path) -> None:
    page = (checkout / "docs" / "swe-tasks.md").read_text(encoding="utf-8")
    assert [name for name in NORMALISERS if f"`{name}`" not in page] == []
