"""Tests that come as a patch are made of the image's own files, and of nothing that differs from its manifest."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from agent_envs.verifiers.swe.overlays import PatchedTests
from agent_envs.verifiers.swe.task import SweTask

from agent_envs.errors import TaskError, VerifierFailed
from agent_envs.sandboxes.images import Entry, Image, ImageSandbox, Place, Recipe, TreeFile
from agent_envs.sandboxes.protocol import RunResult, Status

PATCH = (
    "--- a/tests/t x.py\n+++ b/tests/t x.py\n@@ -1 +1,2 @@\n one\n+two\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
)
TASK = SweTask(id="task", test_patch=PATCH + "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n")
FILES = {"tests/t x.py": TreeFile(b"one\n", executable=True), "gone": TreeFile(b"x\n")}


@dataclass
class FolderEngine:
    """An engine whose only image is a folder of this machine."""

    folder: Path
    runs: list[Sequence[str]] = field(default_factory=list)
    isolation: str = "none"

    def run_once(
        self, place: Place, command: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 60.0, cwd: str = ""
    ) -> RunResult:
        self.runs.append(command)
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, check=False)
        return RunResult(status=Status.OK, exit_code=ran.returncode, stdout=ran.stdout, stderr=ran.stderr)

    def build(self, recipe: Recipe) -> Image:
        manifest = {path: Entry.of(file) for path, file in FILES.items()}
        return Image(name="folder", digest="1", workspace=str(self.folder), manifest=manifest)

    def start(self, place: Place) -> ImageSandbox:
        raise NotImplementedError("nothing is started to read files")

    def close(self) -> None:
        self.runs.clear()


@pytest.fixture
def engine(tmp_path: Path) -> FolderEngine:
    for path, file in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(file.content)
    return FolderEngine(tmp_path)


def test_a_test_patch_is_applied_to_what_the_image_has_and_read_once(engine: FolderEngine) -> None:
    tests, image = PatchedTests(), engine.build(Recipe())
    first, second = (tests.of(TASK, engine, image) for _ in range(2))
    assert first == second
    assert first.hidden_tests == {"tests/t x.py": TreeFile(b"one\ntwo\n", executable=True), "new": TreeFile(b"n\n")}
    assert (first.deleted_tests, first.test_patch, len(engine.runs)) == (("gone",), "", 1)


def test_a_task_without_a_test_patch_starts_nothing(engine: FolderEngine) -> None:
    task = SweTask(id="task")
    assert PatchedTests().of(task, engine, engine.build(Recipe())) is task
    assert engine.runs == []


def test_a_patch_that_does_not_fit_the_image_names_the_task_and_the_line(engine: FolderEngine) -> None:
    task = SweTask(id="task", test_patch=PATCH.replace(" one", " eins"))
    with pytest.raises(TaskError, match=r"of task 'task' does not fit its image: tests/t x\.py, hunk 1, line 1"):
        PatchedTests().of(task, engine, engine.build(Recipe()))


def test_a_file_that_is_not_what_the_manifest_says_is_our_fault_and_no_verdict(engine: FolderEngine) -> None:
    (engine.folder / "gone").write_bytes(b"y\n")
    with pytest.raises(VerifierFailed, match="gone was not read as the image's manifest describes it"):
        PatchedTests().of(TASK, engine, engine.build(Recipe()))
    (engine.folder / "gone").unlink()
    with pytest.raises(VerifierFailed, match="could not be read"):
        PatchedTests().of(TASK, engine, engine.build(Recipe()))


def test_a_link_in_the_place_of_a_file_cannot_be_patched(engine: FolderEngine) -> None:
    image = engine.build(Recipe())
    (engine.folder / "gone").unlink()
    (engine.folder / "gone").symlink_to("/etc/passwd")
    linked = replace(image, manifest={**image.manifest, "gone": Entry("link", "1")})
    with pytest.raises(TaskError, match="gone is no regular file in the image"):
        PatchedTests().of(TASK, engine, linked)
