"""What the tests of images share: an engine without Docker over this user's store with one image, and one of Docker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.images import Image, Recipe, TreeFile
from agent_envs.sandboxes.protocol import RunResult
from agent_envs.sandboxes.roots import NamespaceEngine

RECIPE = Recipe(
    files={
        "pkg/a.py": TreeFile(b"x = 1\n"),
        "pkg/b.py": TreeFile(b"y = 2\n"),
        "run.sh": TreeFile(b"#!/bin/sh\necho hi\n", executable=True),
    },
    commands=("ln -s pkg/a.py link", "git init -q && touch /opt/made && rmdir /mnt"),
)


@pytest.fixture
def recipe() -> Recipe:
    """Two modules, a program and a link in a repository, and a change to the system."""
    return RECIPE


@pytest.fixture(scope="session")
def control_groups() -> Callable[..., set[str]]:
    """Those that a process of ours has made, this one where no other is named: they carry its number in their names."""

    def look(owner: int | None = None) -> set[str]:
        # Unlike a glob, a walk does not mind that the groups of others, of containers for one, end while it looks.
        everywhere = {f"{above}/{name}" for above, names, _ in os.walk("/sys/fs/cgroup") for name in names}
        return {path for path in everywhere if f"/agent-envs.{owner or os.getpid()}." in path}

    return look


@pytest.fixture(scope="session")
def with_time_to_speak() -> Callable[[Callable[[float], RunResult]], RunResult]:
    """Runs what hangs after its first words under the shortest limit of time in which this machine comes to them."""

    def run(attempt: Callable[[float], RunResult]) -> RunResult:
        for timeout_s in (0.4, 4.0, 40.0):
            ran = attempt(timeout_s)
            if ran.stdout:
                break
        return ran

    return run


@pytest.fixture(scope="session")
def engine() -> Iterator[NamespaceEngine]:
    # The store of this user, so that the base is made once and not in every run of the tests.
    engine = NamespaceEngine()
    try:
        engine.build(Recipe())
    except SandboxUnavailable as error:
        pytest.skip(f"no image can be made here: {error}")
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def image(engine: NamespaceEngine) -> Image:
    return engine.build(RECIPE)


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    try:
        engine.build(Recipe())
    except (SandboxUnavailable, MissingExtra) as error:
        pytest.skip(f"no container can be started here: {error}")
    yield engine
    engine.close()
