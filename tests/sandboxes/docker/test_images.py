"""Programs that are the only one of a container, and the images that they run on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_envs.errors import SandboxUnavailable, TaskError
from agent_envs.sandboxes import Limits, Status
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.images import Image, Place, Recipe, TreeFile

LIMITS = Limits(memory_mb=256, processes=40, file_mb=8, output_bytes=1 << 16)


# Programs alone


def test_one_program_is_run_three_at_a_time(docker_engine: DockerEngine, image: Image) -> None:
    place = Place(image=image, limits=LIMITS)

    def run(number: int) -> tuple[bytes, int]:
        ran = docker_engine.run_once(place, ["sh", "-c", f"cat; exit {number}"], stdin=b"%d" % number * 60000)
        return ran.stdout, ran.exit_code

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(run, range(1, 4))) == [(b"%d" % n * 60000, n) for n in range(1, 4)]


@pytest.mark.parametrize(
    ("script", "status", "exit_code", "number"),
    [
        ("echo err >&2; echo out; exit 3", Status.ERROR, 3, 0),
        ("echo err >&2; echo out; kill -9 $$", Status.KILLED, -1, 9),
        ("echo err >&2; echo out; sleep 600", Status.TIMEOUT, -1, 9),
    ],
)
def test_one_program_tells_how_it_ended(
    docker_engine: DockerEngine,
    image: Image,
    with_time_to_speak,
    script: str,
    status: Status,
    exit_code: int,
    number: int,
) -> None:
    place, command = Place(image=image), ["sh", "-c", script]
    ran = with_time_to_speak(lambda timeout_s: docker_engine.run_once(place, command, timeout_s=timeout_s + 2))
    assert (ran.status, ran.exit_code, ran.signal) == (status, exit_code, number)
    assert (ran.stdout, ran.stderr) == (b"out\n", b"err\n")


# Images


def test_a_recipe_is_built_once(docker_engine: DockerEngine, image: Image) -> None:
    again = DockerEngine()
    recipe = Recipe(files={path: TreeFile(b"same\n") for path in ("x", "y")}, commands=("date +%s%N > when",))
    first = docker_engine.build(recipe)
    assert again.build(recipe) == first
    assert first.name in {one.name for one in again.list_images()}
    again.close()


def test_a_failing_command_of_a_recipe_is_the_tasks_fault(docker_engine: DockerEngine) -> None:
    with pytest.raises(TaskError, match="why it failed"):
        docker_engine.build(Recipe(commands=("echo why it failed; exit 3",)))


def test_the_commands_of_a_recipe_have_no_network(docker_engine: DockerEngine) -> None:
    with pytest.raises(TaskError, match="unreachable"):
        docker_engine.build(
            Recipe(commands=("python3 -c \"import socket; socket.create_connection(('1.1.1.1', 53))\"",))
        )


def test_a_dockerfile_is_built_with_its_context(docker_engine: DockerEngine, image: Image) -> None:
    text = f"FROM {image.digest}\nCOPY extra /extra\nRUN echo made > /workspace/made\n"
    recipe = Recipe(dockerfile=text, context={"extra": TreeFile(b"extra\n")})
    built = docker_engine.build(recipe)
    assert "made" in built.manifest
    assert docker_engine.run_once(Place(image=built), ["cat", "/extra"]).stdout == b"extra\n"


def test_a_base_that_cannot_be_had_is_named_with_the_remedy(docker_engine: DockerEngine) -> None:
    with pytest.raises(SandboxUnavailable, match="docker load"):
        docker_engine.build(Recipe(base="no-such-image-anywhere:1"))
