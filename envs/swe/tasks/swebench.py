"""Rows of SWE-bench and its relatives as tasks, and back. Nothing is executed, and nothing is changed without a note.

What a row cannot tell without its image stays a patch: the reference is applied by a command in the image, the tests
(`test_patch`) when the task is prepared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from agent_envs.envs.swe.tasks._normalised import Notes
from agent_envs.envs.swe.tasks._row_fields import Fields, Row
from agent_envs.envs.swe.tasks._solutions import calls_of
from agent_envs.verifiers.swe.patches import FilePatch, render, reverse
from agent_envs.verifiers.swe.task import RequiredSet, Runner, Solution, SweTask, to_task

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import Recipe, TreeFile
from agent_envs.tasks import Importer, Task

REFERENCE = "/tmp/reference.patch"
"""Where the reference is written before it is applied."""
LISTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_BUG = ".agent-envs-bug.patch"
_EVAL = "/tests/eval.sh"
_PYTESTS = ("pytest", "parse_log_pytest", "parse_log_pytest_options", "parse_log_pytest_v2")
_LOG_PARSERS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_PYTESTS, "pytest") | {"parse_log_django": "unittest", "parse_log_sympy": "sympy"}
)
_IMAGE_FIELDS = ("image", "docker_image", "image_name")
_CARRIED = frozenset({"instance_id", "problem_statement", "hints_text", "patch", "test_patch", *LISTS})
"""Fields that the task holds elsewhere than in its provenance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What the rows of one data set do not say of themselves."""

    image: str = "swebench/sweb.eval.x86_64.{id}:latest"
    """The name of the image of a row that has none."""
    dunder: str = "_1776_"
    """What stands for `__` in the name of that image."""
    reversed_patch: bool = False
    """Whether `patch` makes the bug, as in SWE-smith; then the tests are in the image, and there is no `test_patch`."""
    workspace: str = "/testbed"
    python: str = "/opt/miniconda3/envs/testbed/bin/python"


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "swebench": Family(),
        "swe-gym": Family(image="xingyaoww/sweb.eval.x86_64.{id}:latest", dunder="_s_"),
        "swe-smith": Family(reversed_patch=True),
    }
)
"""The data sets whose conventions are known."""


def importer(family: Family = FAMILIES["swebench"]) -> Importer:
    """The function that makes tasks of the rows of this family."""
    return partial(import_row, family=family)


def import_row(row: Row, *, family: Family = FAMILIES["swebench"]) -> Task:
    """The task of one row, with the calls that play its reference; raises `TaskError` naming the instance and field."""
    task = read_row(row, family=family)
    return to_task(task, solution=calls_of(task.reference))


def read_row(row: Row, *, family: Family = FAMILIES["swebench"]) -> SweTask:
    """One row as a `SweTask`; raises `TaskError` naming the instance, the field and the remedy."""
    notes = Notes()
    fields = Fields(row, notes)
    name = fields.required("instance_id")
    try:
        return _task(name, fields, family, notes)
    except TaskError as cause:
        raise TaskError(f"instance {name!r}: {cause}") from cause


def to_row(task: SweTask) -> JsonObject:
    """The row that `read_row` reads as this task; raises `TaskError` where the task is no instance of a commit."""
    kept = task.provenance.get("row")
    if not isinstance(kept, dict) or not isinstance(task.expect, RequiredSet):
        raise TaskError(
            f"task {task.id!r} came from no row of SWE-bench, and without its repository and commit there is none to"
            " write; export it as a Harbor directory"
        )
    notes = task.provenance.get("normalised", {})
    as_text = notes.get("json_string_lists", [])
    patch = task.recipe.files[_BUG].content.decode() if "reversed_patch" in notes else task.reference.files[REFERENCE]
    ids = dict(zip(LISTS, (task.expect.fail_to_pass, task.expect.pass_to_pass), strict=True))
    return {
        "instance_id": task.id,
        "problem_statement": task.statement,
        "hints_text": task.hints,
        "patch": patch,
        "test_patch": task.test_patch,
        **{name: json.dumps(tests) if name in as_text else list(tests) for name, tests in ids.items()},
        **kept,
    }


def _task(name: str, fields: Fields, family: Family, notes: Notes) -> SweTask:
    repository = fields.required("repo")
    reversed_patch = _is_reversed(fields, family)
    patch, changes = fields.patch("patch")
    test_patch, tested = ("", ()) if reversed_patch else fields.patch("test_patch")
    _apart(changes, tested)
    expect = _expectation(fields, notes)
    runner, scripts, trust = _judging(fields, family, expect, notes)
    files: dict[str, TreeFile] = {}
    if reversed_patch:
        notes.add("reversed_patch", "patch")
        files[_BUG] = TreeFile(patch.encode())
        changes = tuple(map(reverse, changes))
        patch = render(changes).decode()
    touched = tuple(dict.fromkeys(path for change in changes for path in change.touched))
    base = _image(name, fields, family, notes)
    row = fields.rest(_CARRIED) | ({"test_patch": test_patch} if scripts else {})
    return SweTask(
        id=name,
        statement=fields.required("problem_statement"),
        hints=fields.text("hints_text"),
        recipe=Recipe(base=base, workspace=family.workspace, files=files, commands=_bug_commands(files)),
        hidden_tests=scripts,
        # The script lays the tests over the work by itself.
        test_patch="" if scripts else test_patch,
        test_targets=() if scripts else _test_files(expect),
        expect=expect,
        runner=runner,
        reference=Solution(command=f"git apply --whitespace=nowarn {REFERENCE}", files={REFERENCE: patch}),
        # Where the tests are in the image already, the agent must not change them.
        protected=tuple(path for path in _test_files(expect) if path not in touched) if reversed_patch else (),
        difficulty=fields.text("difficulty"),
        tags=(repository,),
        provenance={"source": "swe-bench", "repository": repository, "trust": trust, "row": row}
        | {"reference_paths": list(touched), "normalised": notes.to_json()},
    )


def _is_reversed(fields: Fields, family: Family) -> bool:
    if not family.reversed_patch and not fields.text("base_commit"):
        raise TaskError(
            "base_commit is missing; add it, or where the rows are SWE-smith's, whose `patch` makes the bug, read them"
            " as 'swe-smith'"
        )
    return family.reversed_patch


def _bug_commands(files: Mapping[str, TreeFile]) -> tuple[str, ...]:
    return (f"git apply --whitespace=nowarn {_BUG} && rm {_BUG}",) if files else ()


def _apart(changes: Sequence[FilePatch], tests: Sequence[FilePatch]) -> None:
    """Refuse a reference that changes what the tests bring: the one would undo the other."""
    both = {path for file in changes for path in file.touched} & {path for file in tests for path in file.touched}
    if both:
        raise TaskError(f"patch and test_patch both change {', '.join(sorted(both))}; move it into one of them")


def _expectation(fields: Fields, notes: Notes) -> RequiredSet:
    fail, keep = (fields.ids(name) for name in LISTS)
    if not fail:
        raise TaskError("FAIL_TO_PASS is empty, so nothing tells a solution from the base; remove this row")
    both = set(fail) & set(keep)
    if both:
        raise TaskError(f"FAIL_TO_PASS and PASS_TO_PASS both hold {min(both)!r}; remove it from one of them")
    kind = fields.text("eval_type") or "pass_and_fail"
    if kind != "pass_and_fail":
        raise TaskError(
            f"eval_type is {kind!r}; only 'pass_and_fail' is read, because with 'fail_only' a test that never ran"
            " counts as passed; remove this row"
        )
    cut = tuple(test for test in (*fail, *keep) if test.count("[") > test.count("]"))
    if cut:
        notes.add("truncated_ids", *cut)
    return RequiredSet(fail_to_pass=fail, pass_to_pass=keep, prefixes=cut)


def _judging(
    fields: Fields, family: Family, expect: RequiredSet, notes: Notes
) -> tuple[Runner, dict[str, TreeFile], str]:
    """How the tests are run, the script that this needs, and how far the result can be trusted."""
    if any(fields.mapping("image_assets").values()):
        raise TaskError("image_assets names binary files to be fetched, which no patch carries; remove this row")
    others = [test for test in (*expect.fail_to_pass, *expect.pass_to_pass) if not _is_pytest(test)]
    if not others:
        return Runner(python=family.python), {}, "records"
    parser, script = fields.text("log_parser"), fields.text("eval_script")
    if not script.strip():
        raise TaskError(f"the test id {others[0]!r} is none of pytest's, and eval_script is missing; add it")
    if parser not in _LOG_PARSERS:
        raise TaskError(
            f"the test id {others[0]!r} is none of pytest's, and log_parser is {parser!r}; the ones read here are"
            f" {', '.join(_LOG_PARSERS)}"
        )
    commit = fields.text("base_commit")
    if commit and commit in script:
        script = script.replace(commit, "HEAD")
        notes.add("commit_as_head", commit)
    # As root, because only root may lay the script at its place; without any capability nonetheless.
    runner = Runner(framework="command", command=f"bash {_EVAL}", log_parser=_LOG_PARSERS[parser], user="root")
    return runner, {_EVAL: TreeFile(script.encode())}, "log"


def _is_pytest(test: str) -> bool:
    path, _, name = test.partition("::")
    return path.endswith(".py") and bool(name)


def _test_files(expect: RequiredSet) -> tuple[str, ...]:
    ids = (*expect.fail_to_pass, *expect.pass_to_pass)
    return tuple(sorted({test.partition("::")[0] for test in ids if _is_pytest(test)}))


def _image(name: str, fields: Fields, family: Family, notes: Notes) -> str:
    for field in _IMAGE_FIELDS:
        if image := fields.text(field):
            return image
    image = family.image.format(id=name.replace("__", family.dunder)).lower()
    notes.add("image_name_mangled", image)
    return image
