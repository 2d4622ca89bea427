"""The suites of other people's packages, as they are: sealed verdicts pass them all and accuse nobody."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_envs.verifiers.swe.admission import admit
from agent_envs.verifiers.swe.task import Change, Runner, Solution, SweTask, to_task
from agent_envs.verifiers.swe.verifier import SweVerifier

from agent_envs.artifact import Artifact, Outcome
from agent_envs.errors import SandboxUnavailable
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.sandboxes.images import ImageEngine, Recipe, TreeFile

PACKAGES = {
    "boltons==24.0.0": (".", "tests/"),
    "cachetools==5.5.0": ("src", "tests/"),
    "parse==1.20.2": (".", "tests/"),
    "semver==3.0.2": ("src", "tests/"),
    "toolz==0.12.1": (".", "toolz/"),
}
"""Requirement -> what goes in front of `sys.path`, and where its tests are."""
SLOW = ("cachetools==5.5.0", "parse==1.20.2")
"""One of each layout; the others are `exhaustive`."""


@pytest.fixture(scope="module")
def engine() -> Iterator[ImageEngine]:
    lease = EngineLease("namespaces")
    try:
        found = lease.engine()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    yield found
    lease.release()


def repository(requirement: str, folder: Path) -> dict[str, TreeFile]:
    """The files of a package's source distribution."""
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = folder.glob("*.tar.gz")
    tree = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                tree[member.name.partition("/")[2]] = TreeFile(file.read(), executable=bool(member.mode & 0o100))
    return tree


@pytest.mark.parametrize(
    "requirement",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else pytest.mark.exhaustive) for name in PACKAGES],
)
def test_a_suite_of_a_real_package_is_passed_and_held(engine: ImageEngine, requirement: str, tmp_path: Path) -> None:
    root, tests_at = PACKAGES[requirement]
    files = repository(requirement, tmp_path)
    task = SweTask(
        id=requirement,
        recipe=Recipe(files=files),
        hidden_tests={path: file for path, file in files.items() if path.startswith(tests_at) and "test" in path},
        runner=Runner(paths=(root,), timeout_s=120.0),
        reference=Solution(changes=(Change(path="NOTE.txt", new="nothing\n"),)),
    )
    certificate = admit(task, engine, repeats=1)
    assert certificate.problems == ("no test fails before the reference and passes after it",)
    assert len(certificate.pass_to_pass) > 90
    assert certificate.uncontrolled == ()
    assert len(certificate.controls.seal_keys) > len(certificate.pass_to_pass) / 4
    artifact = Artifact(files={"NOTE.txt": b"nothing\n"})
    for draw in range(2):
        verdict = SweVerifier(lambda: engine, draw=draw).verify(to_task(certificate.applied_to(task)), artifact)
        assert verdict.outcome is Outcome.RESOLVED, verdict.evidence["why"]
