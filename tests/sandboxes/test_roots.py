"""What a sandbox over a stored image promises beyond any backend: what a guest sees, and what is left of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from agent_envs.errors import ConfigError, TaskError, ToolFailed
from agent_envs.sandboxes import Limits, SessionState, Status
from agent_envs.sandboxes.images import Entry, Image, Place, Recipe, TreeFile
from agent_envs.sandboxes.ladder import probe
from agent_envs.sandboxes.protocol import RunResult
from agent_envs.sandboxes.roots import NamespaceEngine
from agent_envs.sandboxes.roots.sandbox import RootSandbox
from agent_envs.sandboxes.roots.store import Store, default_folder, digest_of

pytestmark = pytest.mark.skipif(
    not any(tier.available for tier in probe() if tier.name == "namespaces"), reason="no namespaces can be made here"
)


@pytest.fixture
def sandbox(engine: NamespaceEngine, image: Image) -> Iterator[RootSandbox]:
    with closing(engine.start(Place(image=image))) as made:
        yield made


def output(ran: RunResult) -> str:
    assert ran.ok, ran
    return ran.stdout.decode().strip()


# What a guest sees


def test_an_image_holds_the_files_and_what_the_commands_left(
    sandbox: RootSandbox, recipe: Recipe, image: Image
) -> None:
    assert output(sandbox.run("./run.sh; cat link; ls -d /opt/made .git; ls -d /mnt || true")) == (
        "hi\nx = 1\n.git\n/opt/made"
    )
    assert image.manifest.keys() == {"pkg/a.py", "pkg/b.py", "run.sh", "link"}
    assert image.manifest["run.sh"] == Entry.of(recipe.files["run.sh"])
    assert image.manifest["link"].kind == "link"


@pytest.mark.parametrize(("user", "uid", "home"), [("agent", "1000", "/home/agent"), ("root", "0", "/root")])
def test_a_user_has_its_id_and_home_and_no_capability(
    engine: NamespaceEngine, image: Image, user: str, uid: str, home: str
) -> None:
    command = ["sh", "-c", "id -u; echo $HOME; cd; touch here; pwd; grep Cap[EP] /proc/self/status | cut -f2; whoami"]
    ran = engine.run_once(Place(image=image, user=user), command)
    assert output(ran).split() == [uid, home, home, *["0000000000000000"] * 2, user]


def test_a_user_that_is_neither_is_refused(engine: NamespaceEngine, image: Image) -> None:
    with pytest.raises(ConfigError, match="agent, root"):
        engine.start(Place(image=image, user="www-data"))


def test_nothing_of_this_machine_is_visible(sandbox: RootSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    paths = " ".join(map(str, (Path(__file__), sys.prefix, default_folder(), "/.roots", "/.making", "/.old")))
    assert output(sandbox.run(f"for path in {paths}; do ls -d $path; done 2>/dev/null; env | grep SECRET; true")) == ""
    mounts = output(sandbox.run("cut -d' ' -f5 /proc/self/mountinfo")).split()
    assert {place for place in mounts if not place.startswith(("/dev/", "/proc"))} == {
        *("/", "/dev", "/tmp", "/workspace", "/home/agent", "/var/tmp")
    }


def test_an_agent_changes_nothing_but_its_workspace_home_and_temporary_files(sandbox: RootSandbox) -> None:
    places = "/ /usr /usr/bin /etc /opt /var /root /dev /home"
    assert output(sandbox.run(f"for at in {places}; do touch $at/x && echo $at; done 2>/dev/null; true")) == ""
    assert output(sandbox.run("for at in . ~ /tmp /var/tmp /dev/shm; do touch $at/x && echo ok; done")) == (
        "ok\nok\nok\nok\nok"
    )


def test_the_workspace_cannot_be_replaced_by_a_link(sandbox: RootSandbox) -> None:
    ran = sandbox.run("cd /; mv workspace old || rm -rf workspace; ln -s /etc workspace; test -L /workspace")
    assert ran.status is Status.ERROR
    with pytest.raises(ToolFailed):
        sandbox.read_file("/etc/passwd")


def test_python_is_that_of_the_image_and_not_ours(sandbox: RootSandbox) -> None:
    code = "import sys; print(sys.prefix, [name for name in sys.modules if name.startswith('agent_envs')])"
    assert output(sandbox.run_python(code)) == "/usr []"
    assert sandbox.open_python().run("__import__('pytest').__file__").value.startswith("'/usr/lib/python3/")


def test_a_broken_session_says_that_it_starts_afresh(sandbox: RootSandbox, with_time_to_speak) -> None:
    python = sandbox.open_python()
    python.run("x = 1")
    hangs = "print('before', flush=True)\nwhile True: pass"
    hung = with_time_to_speak(lambda timeout_s: python.run(hangs, timeout_s=timeout_s))
    assert (hung.status, hung.stdout, hung.state) == (Status.TIMEOUT, b"before\n", SessionState.LOST)
    assert python.run("x").status is Status.ERROR
    left = python.run("import os; os._exit(0)")
    assert (left.status, left.state) == (Status.KILLED, SessionState.LOST)
    assert python.run("1 + 1").value == "2"


# Volumes


def test_a_volume_is_read_only_whoever_looks(engine: NamespaceEngine, image: Image) -> None:
    tree = {"t/test.py": TreeFile(b"assert 1\n"), "go": TreeFile(b"#!/bin/sh\necho went\n", executable=True)}
    attempts = "touch /tests/x || rm /tests/go || chmod u+w /tests/go || echo y > /tests/go || mv /tests /t"
    for user in ("agent", "root"):
        place = Place(image=image, user=user, volumes={"/tests": tree})
        ran = engine.run_once(place, ["sh", "-c", f"cat /tests/t/test.py; /tests/go; {attempts} || umount /tests"])
        assert (ran.stdout, ran.status) == (b"assert 1\nwent\n", Status.ERROR)


def test_a_volume_in_the_workspace_is_no_part_of_the_work(engine: NamespaceEngine, image: Image) -> None:
    volumes = {"/workspace/tests": {"t.py": TreeFile(b"")}, "/workspace/pkg": {"a.py": TreeFile(b"covered")}}
    with closing(engine.start(Place(image=image, volumes=volumes))) as sandbox:
        sandbox.run("echo new > tests/x; echo new > mine")
        frozen = sandbox.freeze_changes()
    assert (frozen.files, frozen.state["deleted"], frozen.rejected) == ({"mine": b"new\n"}, [], {})


def test_a_large_volume_arrives_whole(engine: NamespaceEngine, image: Image) -> None:
    tree = {f"{number}/f": TreeFile(os.urandom(40_000)) for number in range(100)}
    place = Place(image=image, volumes={"/data": tree})
    assert output(engine.run_once(place, ["sh", "-c", "cat /data/*/f | wc -c"])) == "4000000"


@pytest.mark.parametrize("path", ["tests", "/", "/proc/x", "/a/../b", "/dev"])
def test_a_volume_needs_a_place_of_its_own(engine: NamespaceEngine, image: Image, path: str) -> None:
    with pytest.raises(TaskError, match="place of a volume"):
        engine.start(Place(image=image, volumes={path: {}}))


# Freezing


def test_only_what_differs_is_carried(sandbox: RootSandbox) -> None:
    sandbox.run("echo z >> pkg/a.py; mkdir d; printf '\\0\\377' > d/new; rm pkg/b.py; chmod -x run.sh; touch pkg/.git")
    frozen = sandbox.freeze_changes()
    assert frozen.files == {
        "pkg/a.py": b"x = 1\nz\n",
        "d/new": b"\0\xff",
        "run.sh": b"#!/bin/sh\necho hi\n",
        "pkg/.git": b"",
    }
    assert (frozen.rejected, frozen.state) == ({}, {"deleted": ["pkg/b.py"], "executable": []})


def test_what_comes_back_as_it_was_is_no_change(sandbox: RootSandbox) -> None:
    sandbox.run("cp -r pkg saved; rm -rf pkg; mkdir pkg; mv saved/* pkg; rmdir saved")
    assert sandbox.freeze_changes().files == {}
    assert sandbox.freeze_changes().state["deleted"] == []


def test_a_folder_that_was_replaced_hides_nothing(sandbox: RootSandbox) -> None:
    sandbox.run("rm -rf pkg; mkdir -p pkg/deep; echo 1 > pkg/deep/f; mv pkg moved; mkdir pkg; touch pkg/b.py")
    frozen = sandbox.freeze_changes()
    assert frozen.files == {"moved/deep/f": b"1\n", "pkg/b.py": b""}
    assert frozen.state["deleted"] == ["pkg/a.py"]


def test_an_untouched_workspace_has_no_changes(sandbox: RootSandbox) -> None:
    sandbox.run("git add . && git -c user.name=a -c user.email=a@b commit -qm x")
    sandbox.run("touch pkg/a.py; cp run.sh r; mv r run.sh; rm link; ln -s pkg/a.py link; mkdir empty")
    frozen = sandbox.freeze_changes()
    assert (frozen.files, frozen.rejected, frozen.state["deleted"]) == ({}, {}, [])


NASTY = """
rm link pkg/b.py; ln -s /etc/passwd link; mkfifo pipe; ln -s nowhere dangling; mkdir pkg/b.py; echo in > pkg/b.py/f
head -c 9000 /dev/zero > large; printf x > "$(printf 'bad\\377name')"; printf n > "$(printf 'new\\nline')"
mkdir closed; echo hidden > closed/f; chmod 0 closed; echo s > secret; chmod 0 secret
python3 -c 'import socket; socket.socketpair(); import os; os.mknod("node", 0o140600)' ; ln pkg/a.py twin
mkdir -p $(python3 -c 'print("/".join(["deep"] * 60))'); ln -s . loop
"""


def test_what_is_no_plain_file_is_named_and_not_carried(sandbox: RootSandbox) -> None:
    sandbox.run(NASTY)
    frozen = sandbox.freeze_changes(max_bytes=8000)
    assert frozen.files == {"pkg/b.py/f": b"in\n", "new\nline": b"n", "twin": b"x = 1\n"}
    refused = {"link", "pipe", "dangling", "large", "bad\\xffname", "closed", "secret", "node", "loop"}
    assert frozen.rejected.keys() == refused
    assert frozen.state["deleted"] == ["pkg/b.py"]


def test_nobody_is_left_to_change_what_is_frozen(sandbox: RootSandbox) -> None:
    write = "(setsid sh -c 'while :; do date +%N > pkg/a.py; done' &)"
    assert sandbox.open_shell().run(f"{write}; while grep -q 'x = 1' pkg/a.py; do sleep 0.01; done").ok
    assert sandbox.freeze_changes().files.keys() == {"pkg/a.py"}
    first = sandbox.freeze().files
    time.sleep(0.05)
    assert sandbox.freeze().files == first


def test_running_out_of_memory_is_no_fault_of_ours(engine: NamespaceEngine, image: Image) -> None:
    limits = Limits(memory_mb=64)
    if engine.isolation != "namespaces+cgroup":
        pytest.skip("no control group can be written here")
    with closing(engine.start(Place(image=image, limits=limits))) as sandbox:
        assert sandbox.run_python("x = bytearray(1 << 28)").status is Status.OUT_OF_MEMORY
        assert sandbox.run("cat /dev/zero > /dev/shm/x; head -c 99m /dev/zero > big").status is not Status.OK
        assert sandbox.freeze_changes().files.keys() <= {"big"}


# Nothing is shared, nothing is left


DESTROY = "rm -rf / 2>/dev/null; echo broken > /etc/passwd; echo x >> /usr/bin/python3; chmod -R 0 /workspace; true"


def test_a_stored_image_is_never_changed(engine: NamespaceEngine, image: Image) -> None:
    folder = Store(default_folder()).folder / image.name
    before = digest_of(folder)
    engine.run_once(Place(image=image, user="root"), ["sh", "-c", DESTROY])
    assert digest_of(folder) == before
    assert output(engine.run_once(Place(image=image), ["python3", "-c", "import pkg.a; print(pkg.a.x)"])) == "1"


def test_two_episodes_share_nothing(engine: NamespaceEngine, image: Image, sandbox: RootSandbox) -> None:
    sandbox.run("echo mine | tee f /tmp/f /var/tmp/f ~/f /dev/shm/f; echo x > pkg/a.py; sleep 61.25 &")
    with closing(engine.start(Place(image=image))) as other:
        assert output(other.run("cat pkg/a.py; ls f /tmp /var/tmp ~ /dev/shm 2>/dev/null | grep -w f; true")) == "x = 1"
        assert output(other.run("pgrep sleep || true")) == ""


SERVE = """
import asyncio
async def main():
    server = await asyncio.start_server(lambda reader, writer: writer.write(b"hello"), "localhost", 4321)
    for host in ("127.0.0.1", "::1"):
        reader, _ = await asyncio.open_connection(host, 4321)
        print((await reader.read(5)).decode(), flush=True)
    END
asyncio.run(main())
"""


def test_a_guest_reaches_itself_and_nothing_else(engine: NamespaceEngine, image: Image, sandbox: RootSandbox) -> None:
    assert output(sandbox.run_python(SERVE.replace("END", "pass"))) == "hello\nhello"
    server = sandbox.open_channel(SERVE.replace("END", "send(b'up'); await asyncio.sleep(60)"))
    assert server.receive(timeout_s=60) == b"up"
    reach = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)"
    with closing(engine.start(Place(image=image))) as other:
        for address in (["127.0.0.1", "4321"], ["10.0.0.1", "80"]):
            ran = other.run(["python3", "-c", reach, *address])
            assert ran.stderr.decode().splitlines()[-1].startswith(("ConnectionRefusedError", "OSError: [Errno 101]"))
    assert server.result().status is Status.OK


def test_three_run_at_once(engine: NamespaceEngine, image: Image) -> None:
    def work(number: int, seconds: float) -> list[str]:
        place = Place(image=image, env={"N": str(number)})
        script = f"cat; echo $N > f; date +%s%N; sleep {seconds}; date +%s%N; cat f"
        return output(engine.run_once(place, ["sh", "-c", script], stdin=b"in\n")).split()

    def run_beside_one_another(seconds: float) -> bool:
        with ThreadPoolExecutor(3) as threads:
            said = list(threads.map(work, range(3), [seconds] * 3))
        assert [(given, kept) for given, _, _, kept in said] == [("in", str(number)) for number in range(3)]
        return max(int(began) for _, began, _, _ in said) < min(int(ended) for _, _, ended, _ in said)

    # A busy machine may begin the last of them when the first has ended already, unless they take longer.
    assert any(map(run_beside_one_another, (0.3, 3.0, 30.0)))


def test_closing_the_engine_ends_what_is_left(image: Image, eventually) -> None:
    engine = NamespaceEngine()
    sandboxes = [engine.start(Place(image=image)) for _ in range(2)]
    # Nobody else on this machine sleeps so long.
    mark = f"6{os.getpid()}.{time.time_ns()}"
    sandboxes[0].open_shell().run(f"sleep {mark} &")
    engine.close()
    engine.close()
    assert not [sandbox for sandbox in sandboxes if not sandbox._control.closed]
    looked = ["pgrep", "-f", f"sleep {mark}"]
    eventually(lambda: subprocess.run(looked, check=False, capture_output=True).stdout, b"")


def test_many_episodes_leave_no_descriptor_mount_group_or_folder(
    engine: NamespaceEngine, image: Image, eventually, control_groups
) -> None:
    def held() -> tuple[int, int, int, int]:
        making = list((Store(default_folder()).folder / "making").glob(f"{os.getpid()}-*"))
        mounts = Path("/proc/self/mountinfo").read_text().count("userxattr")
        return len(os.listdir("/proc/self/fd")), mounts, len(control_groups()), len(making)

    for count in range(60):
        with closing(engine.start(Place(image=image, volumes={"/v": {"f": TreeFile(b"")}}))) as sandbox:
            sandbox.open_shell().run("echo 1 > f")
            if count % 10 == 0:
                sandbox.open_python().run("1")
                sandbox.open_channel("receive()")
                sandbox.freeze_changes()
        if count == 0:
            first = held()
    # One in ten episodes that left something would have left six; what is made ahead may come and go.
    eventually(lambda: all(now <= before + 3 for now, before in zip(held(), first, strict=True)))
