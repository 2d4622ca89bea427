"""What is left of a container and of an engine, whoever ended them, and what their faults look like."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_envs.errors import ConfigError, SandboxDied, SandboxUnavailable, ToolFailed
from agent_envs.sandboxes import Limits
from agent_envs.sandboxes.docker import DockerEngine, _base, sweep
from agent_envs.sandboxes.docker._connect import Connections, Refused
from agent_envs.sandboxes.docker._owner import ENGINE, OWNER
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.images import Image, Place, Recipe, TreeFile

LIMITS = Limits(memory_mb=256, processes=40, file_mb=8, output_bytes=1 << 16)


@contextmanager
def client() -> Iterator[Any]:
    """The engine, past everything that is tested."""
    connections = Connections()
    with connections.lend("look after a test") as lent:
        yield lent
    connections.close()


def left_of(engine: str) -> list[str]:
    """The containers and volumes that bear the label of an engine."""
    with client() as docker:
        wanted = {"label": f"{ENGINE}={engine}"}
        found = [one["Id"] for one in docker.containers(all=True, filters=wanted)]
        return found + [one["Name"] for one in docker.volumes(filters=wanted)["Volumes"] or []]


def name_of(engine: DockerEngine) -> str:
    """What the containers and volumes of an engine are labelled with."""
    assert engine._held is not None
    return engine._held.settings.labels[ENGINE]


def kill_container(sandbox: DockerSandbox) -> None:
    with client() as docker:
        docker.kill(sandbox.container.id)


# What is left


def test_twenty_episodes_leave_nothing(image: Image, eventually) -> None:
    engine = DockerEngine(ready=1)
    volumes = {"/given": {"x": TreeFile(b"x")}}
    place = Place(image=image, limits=LIMITS, volumes=volumes)
    engine.start(place).close()
    assert engine.wait_until_ready(300)
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        sandbox = engine.start(place)
        sandbox.open_shell().run("echo > f; sleep 100 &")
        sandbox.freeze_changes()
        sandbox.close()
    assert engine.wait_until_ready(300)
    eventually(lambda: threading.active_count() <= threads)
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= descriptors + 4)
    name = name_of(engine)
    eventually(lambda: len(left_of(name)), len(["the one kept ready", "its volume", "the one of the host names"]))
    engine.close()
    eventually(lambda: left_of(name), [])


def test_nothing_is_left_of_programs_once_the_engine_is_closed(image: Image, eventually) -> None:
    engine = DockerEngine()
    for _ in range(3):
        assert engine.run_once(Place(image=image, limits=LIMITS), ["true"]).ok
    name = name_of(engine)
    engine.close()
    eventually(lambda: left_of(name), [])


def test_a_ready_sandbox_is_taken_at_once_and_another_is_made(image: Image) -> None:
    engine = DockerEngine(ready=1)
    place = Place(image=image, limits=LIMITS)
    first = engine.start(place)
    assert engine.wait_until_ready(300)
    assert engine._held is not None
    (shelf,) = engine._held.pool._shelves.values()
    (ready,) = shelf.ready
    second = engine.start(place)
    assert second is ready
    assert second.open_shell().run("pwd").stdout == b"/workspace\n"
    assert engine.wait_until_ready(300)
    assert len({first.container.id, second.container.id, *(one.container.id for one in shelf.ready)}) == 3
    engine.close()


def test_a_ready_sandbox_that_died_is_not_handed_out(image: Image, eventually) -> None:
    engine = DockerEngine(ready=1)
    place = Place(image=image, limits=LIMITS)
    engine.start(place).close()
    assert engine.wait_until_ready(300)
    assert engine._held is not None
    (shelf,) = engine._held.pool._shelves.values()
    (ready,) = shelf.ready
    kill_container(ready)
    eventually(lambda: ready.is_fresh, False)
    assert engine.start(place).open_shell().run("true").ok
    engine.close()


_ORPHAN = """
import sys, time
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.images import Image, Place, TreeFile
engine = DockerEngine()
image = Image(name=sys.argv[1], digest=sys.argv[2], workspace="/workspace", manifest={})
sandbox = engine.start(Place(image=image, volumes={"/given": {"x": TreeFile(b"x")}}))
print(engine._held.settings.labels["agent-envs.engine"], flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_not(
    sandbox: DockerSandbox, image: Image, eventually
) -> None:
    command = [sys.executable, "-c", _ORPHAN, image.name, image.digest]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        name = owner.stdout.readline().strip()
        sweep()
        assert len(left_of(name)) == len(["the container", "its volume", "the one of the host names"])
        owner.send_signal(signal.SIGKILL)
    # Whoever starts an engine on this machine at this moment sweeps as well.
    sweep()
    eventually(lambda: left_of(name), [])
    assert sandbox.run(["true"]).ok


def test_what_another_machine_has_is_left_alone(docker_engine: DockerEngine, image: Image) -> None:
    with client() as docker:
        labels = {OWNER: "0123456789abcdef:another-boot:1:1"}
        made = docker.create_container(image.name, ["true"], labels=labels)["Id"]
        try:
            sweep()
            assert docker.inspect_container(made)["Id"] == made
        finally:
            docker.remove_container(made)


def in_child(work: Callable[[], None]) -> int:
    """Do this in a forked child, and return its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_cannot_use_its_parents_sandboxes_and_does_not_disturb_them(
    sandbox: DockerSandbox, docker_engine: DockerEngine
) -> None:
    shell, session = sandbox.open_shell(), sandbox.open_python()
    shell.run("NAME=kept")

    def work() -> None:
        uses = (sandbox.freeze, lambda: sandbox.run(["true"]), lambda: shell.run("NAME="), lambda: session.run("1"))
        for use in uses:
            with pytest.raises(SandboxDied, match="forked"):
                use()
        sandbox.close()
        docker_engine.close()

    assert in_child(work) == 0
    assert shell.run("echo $NAME").stdout == b"kept\n"


def test_a_lock_ends_with_its_use_though_a_child_was_forked_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with _base.one_at_a_time("a-test"):
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        with next(tmp_path.glob("*/a-test")).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# Faults of the engine


class Relay:
    """A socket that stands for the engine, and can go away as one does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Relay:
        code = (
            "import socket, sys, threading\n"
            "def copy(a, b):\n"
            "    while data := a.recv(65536): b.sendall(data)\n"
            "    b.shutdown(socket.SHUT_WR)\n"
            "door = socket.socket(socket.AF_UNIX); door.bind(sys.argv[1]); door.listen(16); print(flush=True)\n"
            "while True:\n"
            "    near, _ = door.accept(); far = socket.socket(socket.AF_UNIX); far.connect('/var/run/docker.sock')\n"
            "    for pair in ((near, far), (far, near)):\n"
            "        threading.Thread(target=copy, args=pair, daemon=True).start()\n"
        )
        self._path.unlink(missing_ok=True)
        command = [sys.executable, "-c", code, str(self._path)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        self._process.stdout.readline()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def test_an_engine_that_goes_away_in_mid_command_is_our_fault_and_comes_back(image: Image, tmp_path: Path) -> None:
    engine = DockerEngine(host=f"unix://{tmp_path / 'engine.sock'}")
    place = Place(image=image, limits=LIMITS)
    with Relay(tmp_path / "engine.sock") as relay:
        shell = engine.start(place).open_shell()
        shell.run("true")
        threading.Timer(0.3, relay.__exit__).start()
        began = time.monotonic()
        with pytest.raises(SandboxDied):
            shell.run("sleep 300", timeout_s=300)
        with pytest.raises(SandboxUnavailable, match="nothing answers"):
            engine.run_once(place, ["true"])
        assert time.monotonic() - began < 60
    with Relay(tmp_path / "engine.sock"):
        assert engine.run_once(place, ["true"]).ok
        engine.close()


def test_an_engine_that_goes_away_between_two_questions_leaves_no_socket_open(tmp_path: Path) -> None:
    def ask_twice() -> None:
        with connections.lend("ask twice") as docker:
            docker.ping()
            relay.__exit__()
            docker.ping()

    connections = Connections(f"unix://{tmp_path / 'engine.sock'}")
    with Relay(tmp_path / "engine.sock") as relay, pytest.raises(SandboxUnavailable, match="nothing answers"):
        ask_twice()
    # A socket that was forgotten is a warning now, and a warning is an error.
    gc.collect()


@pytest.mark.parametrize(
    ("host", "remedy"),
    [
        ("unix:///no/such/docker.sock", "apt-get install docker.io"),
        ("tcp://127.0.0.1:9", "is the engine running"),
        ("ssh://somewhere", "ssh -nNT -L"),
    ],
)
def test_an_engine_that_is_not_there_is_named_with_the_remedy(image: Image, host: str, remedy: str) -> None:
    with pytest.raises(SandboxUnavailable, match=remedy):
        DockerEngine(host=host).start(Place(image=image))


def test_an_image_that_is_gone_is_named(docker_engine: DockerEngine) -> None:
    digest = f"sha256:{'0' * 64}"
    missing = Image(name="agent-envs/recipe:gone", digest=digest, workspace="/workspace", manifest={})
    with pytest.raises(SandboxUnavailable, match="agent-envs/recipe:gone"):
        docker_engine.start(Place(image=missing))


def test_a_full_disk_is_a_result(sandbox: DockerSandbox) -> None:
    sandbox.run("head -c 8388608 /dev/zero > /tmp/a; for i in 1 2 3 4 5 6 7; do cp /tmp/a /tmp/a$i; done")
    assert b"No space left" in sandbox.run("cp /tmp/a /tmp/b").stderr
    with pytest.raises(ToolFailed, match="larger than is allowed"):
        sandbox.write_file("large", bytes(9 << 20))
    sandbox.write_file("small", b"x")
    assert sandbox.read_file("small") == b"x"


@pytest.mark.parametrize(
    "recipe", [Recipe(workspace="relative"), Recipe(workspace="/a/../b"), Recipe(files={"../x": TreeFile(b"")})]
)
def test_a_recipe_that_cannot_work_is_refused(docker_engine: DockerEngine, recipe: Recipe) -> None:
    with pytest.raises(ConfigError):
        docker_engine.build(recipe)


def test_a_container_killed_in_mid_command_is_our_fault_and_soon_known(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    shell.run("true")
    threading.Timer(0.3, kill_container, [sandbox]).start()
    began = time.monotonic()
    with pytest.raises(SandboxDied):
        shell.run("sleep 300", timeout_s=300)
    for use in (lambda: shell.run("true"), lambda: sandbox.run("true"), lambda: sandbox.read_file("tool")):
        with pytest.raises(SandboxDied):
            use()
    assert time.monotonic() - began < 60


def test_a_container_that_ends_between_two_questions_is_gone(sandbox: DockerSandbox) -> None:
    def start_too_late() -> None:
        with connections.lend("start a program") as docker:
            created = docker.exec_create(sandbox.container.id, ["true"], stdin=True)
            kill_container(sandbox)
            docker.exec_start(created["Id"], socket=True)

    connections = Connections()
    with pytest.raises(Refused) as refused:
        start_too_late()
    assert refused.value.gone
    connections.close()


def test_one_program_killed_from_outside_is_our_fault(docker_engine: DockerEngine, image: Image) -> None:
    def kill() -> None:
        # That of this engine alone: others run the same image on this machine.
        wanted = {"label": f"{ENGINE}={name_of(docker_engine)}", "status": "running"}
        with client() as docker:
            while not (found := [one["Id"] for one in docker.containers(filters=wanted) if one["Id"] not in before]):
                time.sleep(0.05)
            docker.kill(found[0])

    docker_engine.connect()
    with client() as docker:
        before = {one["Id"] for one in docker.containers(filters={"label": f"{ENGINE}={name_of(docker_engine)}"})}
    with ThreadPoolExecutor(1) as other:
        killed = other.submit(kill)
        with pytest.raises(SandboxDied):
            docker_engine.run_once(Place(image=image), ["sleep", "300"], timeout_s=300)
        killed.result()
