"""What a guest finds in a container, what it cannot do there, and what is carried out of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_envs.sandboxes import Limits, SessionState, Status
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.docker._sandbox import DockerSandbox
from agent_envs.sandboxes.images import Image, Place, Recipe, TreeFile

LIMITS = Limits(memory_mb=256, processes=40, file_mb=8, output_bytes=1 << 16)


# Hardening, seen from inside


@pytest.mark.parametrize("user", ["agent", "root"])
def test_a_guest_has_no_privilege_whoever_it_is(docker_engine: DockerEngine, image: Image, user: str) -> None:
    sandbox = docker_engine.start(Place(image=image, user=user, limits=LIMITS))
    seen = dict(
        line.split(":\t") for line in sandbox.open_shell().run("cat /proc/self/status").stdout.decode().splitlines()
    )
    assert {int(seen[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == ("1", "2")
    assert seen["Uid"].split()[0] == {"agent": "1000", "root": "0"}[user]
    sandbox.close()


def test_there_is_no_network_and_no_engine_inside(sandbox: DockerSandbox) -> None:
    code = "import os, socket\nprint(os.listdir('/sys/class/net'), os.path.exists('/var/run/docker.sock'))\n"
    code += "try: socket.create_connection(('1.1.1.1', 53), 2)\nexcept OSError as error: print(error.errno)"
    assert sandbox.run_python(code).stdout == b"['lo'] False\n101\n"


_NAMES = """
import os, socket
server = socket.create_server(("localhost", 0))
print(socket.create_connection(("localhost", server.getsockname()[1]), 5).getpeername()[0])
print(sorted({found[4][0] for found in socket.getaddrinfo("localhost", 80)}), socket.gethostname())
print(open("/proc/net/route").read().count("\\n"), os.access("/etc/hosts", os.W_OK))
"""


@pytest.mark.parametrize("files", [True, False])
def test_the_loopback_has_names_whoever_sets_it_up(image: Image, files: bool) -> None:
    engine = DockerEngine()
    if not files:
        engine.connect()
        assert engine._held is not None
        engine._held.hosts._free = []
    place = Place(image=image, limits=LIMITS)
    seen = engine.run_once(place, ["python3", "-c", _NAMES])
    assert seen.stdout == b"127.0.0.1\n['127.0.0.1', '::1'] sandbox\n1 False\n", seen.stderr
    engine.close()


def test_no_two_containers_share_the_file_of_their_names(docker_engine: DockerEngine, sandbox: DockerSandbox) -> None:
    other = docker_engine.start(sandbox.place)
    inodes = {one.run(["stat", "-L", "-c", "%d:%i", "/etc/hosts"]).stdout for one in (sandbox, other)}
    other.close()
    assert len(inodes) == 2


def test_nothing_of_the_environment_here_is_seen_there(
    docker_engine: DockerEngine, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "very")
    sandbox = docker_engine.start(Place(image=image, env={"GIVEN": "yes"}))
    seen = sandbox.open_shell().run("cat /proc/*/environ | tr '\\0' '\\n'; hostname").stdout.decode().splitlines()
    assert "GIVEN=yes" in seen
    assert "HOME=/home/agent" in seen
    assert seen[-1] == "sandbox"
    assert not [line for line in seen if "SECRET" in line]
    sandbox.close()


@pytest.mark.parametrize("user", ["agent", "root"])
def test_a_volume_is_read_only_even_for_root(docker_engine: DockerEngine, image: Image, user: str) -> None:
    volumes = {"/given/tests": {"deep/test_it.py": TreeFile(b"content\n")}}
    ran = docker_engine.run_once(
        Place(image=image, user=user, volumes=volumes),
        [
            "sh",
            "-c",
            "cat /given/tests/deep/test_it.py; echo > /given/tests/deep/test_it.py || rm -r /given/tests/deep",
        ],
    )
    assert ran.stdout == b"content\n"
    assert ran.stderr.count(b"Read-only file system") >= 2


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("open('big', 'wb').write(bytes(9 << 20))", b"File too large"),
        ("import os\nfor _ in range(60): os.fork() or __import__('time').sleep(30)", b"Resource temporarily"),
        ("open('/tmp/x', 'wb').write(bytes(70 << 20))", b"File too large"),
        ("[open('/dev/null') for _ in range(300)]", b"Too many open files"),
    ],
)
def test_limits_hold(sandbox: DockerSandbox, code: str, seen: bytes) -> None:
    assert seen in sandbox.run_python(code).stderr


def test_memory_is_a_hard_bound_and_named(sandbox: DockerSandbox, docker_engine: DockerEngine) -> None:
    hungry = "x = bytearray(400 << 20)"
    assert sandbox.run_python(hungry).status is Status.OUT_OF_MEMORY
    assert sandbox.open_shell().run(f"python3 -c '{hungry}'").status is Status.OUT_OF_MEMORY
    once = docker_engine.run_once(sandbox.place, ["python3", "-c", hungry])
    assert once.status is Status.OUT_OF_MEMORY


# The shell


def test_shells_that_were_killed_so_long_ago_that_the_engine_has_forgotten_them_are_lost_alone(
    sandbox: DockerSandbox,
) -> None:
    shell, other = sandbox.open_shell(), sandbox.open_shell()
    sandbox.write_file("x", b"x")
    shell.run("true")
    for line in (shell, sandbox._guard):
        assert line._exchange is not None
        # It forgets five to ten minutes after the end; it never knew this one.
        line._exchange._exec = replace(line._exchange._exec, number="0" * 64)
    other.run("kill -9 -1")
    assert shell.run("true").state is SessionState.LOST
    assert shell.run("echo back").stdout == b"back\n"
    assert sandbox.read_file("x") == b"x"


@pytest.mark.parametrize("user", ["agent", "root"])
def test_an_agent_that_kills_everything_loses_its_shell_and_not_its_container(
    docker_engine: DockerEngine, image: Image, user: str
) -> None:
    sandbox = docker_engine.start(Place(image=image, user=user, limits=LIMITS))
    shell = sandbox.open_shell()
    shell.run("cd pkg; NAME=value")
    assert shell.run("kill -9 1; kill -9 -1; kill -9 $$").state is SessionState.LOST
    assert shell.run("pwd; echo [$NAME]").stdout == b"/workspace/pkg\n[]\n"
    assert sandbox.run(["true"]).ok
    sandbox.close()


def test_a_shell_without_bash_keeps_its_state_too(docker_engine: DockerEngine, with_time_to_speak) -> None:
    image = docker_engine.build(Recipe(commands=("rm /bin/bash",)))
    sandbox = docker_engine.start(Place(image=image, limits=LIMITS))
    shell = sandbox.open_shell()
    assert shell.run("cd /tmp; NAME='a\\b'\ngreet() { printf '%s\\n' \"$NAME\"; }").ok
    hung = with_time_to_speak(lambda timeout_s: shell.run("echo before; sleep 600", timeout_s=timeout_s))
    assert (hung.status, hung.stdout, hung.state) == (Status.TIMEOUT, b"before\n", SessionState.KEPT)
    assert shell.run("greet; pwd").stdout == b"a\\b\n/tmp\n"
    sandbox.close()


def test_what_hangs_is_ended_with_its_daemons_and_what_ran_before_is_spared(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    # What began in the moment before a command may be taken for a part of it, the longer the busier the machine is.
    assert shell.run("sleep 111 & sleep 5").ok
    shell.run("setsid sleep 222 & (sleep 333 &) ; sleep 444", timeout_s=0.5)
    assert shell.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout.count(b"sleep 111") == 1
    assert not [
        n
        for n in (b"222", b"333", b"444")
        if b"sleep " + n in shell.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    ]


def test_a_fork_bomb_is_ended_and_the_shell_goes_on(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    assert shell.run("NAME=kept; bomb() { bomb | bomb & }; bomb; sleep 60", timeout_s=1.0).status is not Status.OK
    assert shell.run("echo $NAME").stdout.endswith(b"kept\n")


def test_output_is_told_from_frames_whatever_it_is(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    ran = shell.run("head -c 50000 /dev/urandom | tee copy; printf '\\0\\0end'; printf '\\0err' >&2")
    assert ran.stdout == sandbox.read_file("copy") + b"\0\0end"
    assert ran.stderr == b"\0err"


def test_a_frame_without_an_end_is_output(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    forged = shell.run("printf '\\0%s' $agent_mark; head -c 3000000 /dev/zero | tr '\\0' x")
    assert forged.status is Status.OUTPUT_LIMIT
    assert shell.run("echo still here").stdout == b"still here\n"


# Freezing


def test_what_changed_is_carried_and_the_rest_is_named(sandbox: DockerSandbox) -> None:
    shell = sandbox.open_shell()
    shell.run("echo new > new; ln new twin; chmod +x pkg/a.py; rm pkg/gone.py; rm tool; mkdir tool; echo x > tool/in")
    shell.run("ln -s /etc/passwd link; mkfifo pipe; ln pkg/b.py other; head -c 5000 /dev/zero > large; echo c > .git/c")
    shell.run("mkdir $'n\\xffn'; touch $'n\\xffn/f'")
    artifact = sandbox.freeze_changes(max_bytes=4000)
    assert artifact.files == {"new": b"new\n", "twin": b"new\n", "pkg/a.py": b"a = 1\n", "tool/in": b"x\n"} | {
        # The engine calls it the file, and the old name its second one.
        "other": b"b = 2\n"
    }
    assert artifact.state == {"deleted": ["pkg/gone.py", "tool"], "executable": ["pkg/a.py"]}
    assert artifact.rejected.keys() == {"link", "pipe", "large", "n\\xffn/f"}


def test_a_tree_that_nobody_touched_has_no_changes(sandbox: DockerSandbox) -> None:
    artifact = sandbox.freeze_changes()
    assert (artifact.files, artifact.rejected, artifact.state) == ({}, {}, {"deleted": [], "executable": []})


def test_a_workspace_that_is_gone_or_a_link_is_carried_as_such(docker_engine: DockerEngine) -> None:
    image = docker_engine.build(Recipe(workspace="/home/agent/work", files={"f": TreeFile(b"1")}))
    sandbox = docker_engine.start(Place(image=image))
    sandbox.open_shell().run("cd /; rm -r /home/agent/work; ln -s /etc /home/agent/work")
    artifact = sandbox.freeze_changes()
    assert artifact.files == {}
    assert artifact.state["deleted"] == ["f"]
    assert "." in artifact.rejected
    sandbox.close()


def test_a_tree_deeper_than_any_path_can_say_is_no_obstacle(sandbox: DockerSandbox) -> None:
    code = "import os\nfor i in range(2000): open(f'f{i}', 'w').close()\n"
    code += "for _ in range(300): os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('deep', 'w').close()"
    assert sandbox.run_python(code, timeout_s=30).ok
    artifact = sandbox.freeze_changes()
    assert len(artifact.files) == 2000
    assert artifact.state["deleted"] == []
