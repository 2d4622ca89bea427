"""The image and the container that the tests of Docker share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_envs.sandboxes import Limits
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.images import Image, Place, Recipe, TreeFile

LIMITS = Limits(memory_mb=256, processes=40, file_mb=8, output_bytes=1 << 16)


@pytest.fixture(scope="module")
def image(docker_engine: DockerEngine) -> Image:
    files = {"pkg/a.py": b"a = 1\n", "pkg/b.py": b"b = 2\n", "pkg/gone.py": b"", "tool": b"#!/bin/sh\necho tool\n"}
    tree = {path: TreeFile(content, executable=path == "tool") for path, content in files.items()}
    return docker_engine.build(Recipe(files=tree, commands=("git init -q .", "ln -s pkg/a.py linked")))


@pytest.fixture
def sandbox(docker_engine: DockerEngine, image: Image) -> Iterator[DockerSandbox]:
    made = docker_engine.start(Place(image=image, limits=LIMITS))
    yield made
    made.close()
