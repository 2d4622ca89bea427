"""Programs that are the only one of a container, and the images that they run on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_envs.errors import SandboxUnavailable, TaskError
from agent_envs.sandboxes import Limits, Status
from agent_envs.sandboxes.docker import DockerEngine, _recipe
from agent_envs.sandboxes.docker._base import STANDARD_TAG
from agent_envs.sandboxes.docker._images import REPOSITORY
from agent_envs.sandboxes.docker._owner import OWNER, Owner
from agent_envs.sandboxes.docker._volumes import Volumes
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


@pytest.fixture
def new_recipe(docker_engine: DockerEngine) -> Iterator[Recipe]:
    """One that was never built, and gives another image each time; what bears its name in the end is removed."""
    recipe = Recipe(files={"drawn": TreeFile(os.urandom(16))}, commands=("date +%s%N > when",))
    yield recipe
    remove(docker_engine, f"{REPOSITORY}:{_recipe.digest(recipe, docker_engine.images._base(recipe.base))}")


def remove(engine: DockerEngine, image: str) -> None:
    """Remove an image as another process would."""
    with engine._connections.lend("remove an image") as client:
        client.remove_image(image, force=True)


def rob(engine: DockerEngine, image: Image) -> None:
    """Give the name of an image to another one, as somebody who has built the same does."""
    with engine._connections.lend("name an image") as client:
        client.tag(STANDARD_TAG, *image.name.split(":"))


def test_a_recipe_is_built_once_by_all_who_ask_at_the_same_time(new_recipe: Recipe) -> None:
    engines = [DockerEngine() for _ in range(3)]
    together = threading.Barrier(len(engines))

    def build(engine: DockerEngine) -> str:
        engine.connect()
        together.wait()
        return engine.build(new_recipe).digest

    with ThreadPoolExecutor(len(engines)) as threads:
        assert len(set(threads.map(build, engines))) == 1
    for engine in engines:
        engine.close()


def test_a_sandbox_is_of_the_image_that_was_given_whatever_its_name_means_by_now(
    docker_engine: DockerEngine, new_recipe: Recipe
) -> None:
    given = docker_engine.build(new_recipe)
    rob(docker_engine, given)
    for user in ("agent", "root"):
        ran = docker_engine.run_once(Place(image=given, user=user), ["cat", "drawn"])
        assert ran.stdout == new_recipe.files["drawn"].content
    # With it goes what it was made of, which has no name of its own any more.
    remove(docker_engine, docker_engine.images.owned_by_root(given).digest)


def test_an_image_that_has_lost_its_name_is_removed(docker_engine: DockerEngine, new_recipe: Recipe) -> None:
    built = docker_engine.build(new_recipe)
    rob(docker_engine, built)
    # The others are in use by other tests, so this does not prune.
    (nameless,) = (one for one in docker_engine.list_images() if one.digest == built.digest)
    assert docker_engine.images._removed(nameless)
    assert built.digest not in {one.digest for one in docker_engine.list_images()}


def test_an_image_that_was_removed_is_built_again(docker_engine: DockerEngine, new_recipe: Recipe) -> None:
    removed = docker_engine.build(new_recipe)
    remove(docker_engine, removed.name)
    for user in ("agent", "root"):
        with pytest.raises(SandboxUnavailable, match="build it again") as gone:
            docker_engine.run_once(Place(image=removed, user=user), ["true"])
        assert gone.value.passing
    again = docker_engine.build(new_recipe)
    assert again.manifest["when"] != removed.manifest["when"]
    assert docker_engine.run_once(Place(image=again), ["cat", "drawn"]).ok


def test_the_container_that_a_manifest_is_read_from_bears_its_owner(
    docker_engine: DockerEngine, new_recipe: Recipe
) -> None:
    wanted = {"event": "create", "image": docker_engine.build(new_recipe).digest}
    with docker_engine._connections.lend("ask what was created") as client:
        (created,) = client.events(since=0, until=f"{time.time():.9f}", filters=wanted, decode=True)
    assert created["Actor"]["Attributes"][OWNER] == str(Owner.present())


def test_the_name_of_a_volume_that_was_let_go_is_never_used_again(
    docker_engine: DockerEngine, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_envs.sandboxes.docker._volumes._MOST_IDLE", 0)
    labels = docker_engine._open().settings.labels
    volumes = Volumes(docker_engine._connections, prefix=f"agent-envs-test-{os.getpid()}", labels=labels)
    names = []
    for _ in range(2):
        taken = volumes.take({"/given": {"x": TreeFile(b"x")}}, image.digest)
        volumes.give_back(taken)
        names += taken.values()
    assert len(set(names)) == 2


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
