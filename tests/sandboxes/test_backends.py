"""What every backend that isolates promises, asked of each: a new one is added to `BACKENDS` and must pass it all."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator

import pytest

from agent_envs.errors import SandboxUnavailable, ToolFailed
from agent_envs.sandboxes import Limits, Sandbox, SessionState, Status
from agent_envs.sandboxes.docker import DockerEngine
from agent_envs.sandboxes.images import Place, Recipe
from agent_envs.sandboxes.ladder import probe
from agent_envs.sandboxes.namespaces import start_namespace_sandbox
from agent_envs.sandboxes.protocol import ChannelClosed
from agent_envs.sandboxes.roots import NamespaceEngine

LIMITS = Limits(output_bytes=1 << 16, file_mb=8)
roots = functools.cache(NamespaceEngine)


def over_an_image(_: pytest.FixtureRequest) -> Sandbox:
    return roots().start(Place(image=roots().build(Recipe()), limits=LIMITS))


def in_a_container(request: pytest.FixtureRequest) -> Sandbox:
    engine: DockerEngine = request.getfixturevalue("docker_engine")
    return engine.start(Place(image=engine.build(Recipe()), limits=LIMITS))


BACKENDS: dict[str, Callable[[pytest.FixtureRequest], Sandbox]] = {
    "namespaces": lambda _: start_namespace_sandbox(limits=LIMITS),
    "namespaces over an image": over_an_image,
    "docker": in_a_container,
}


@pytest.fixture(params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    tiers = [tier for tier in probe() if tier.name == request.param.split()[0]]
    if tiers and not tiers[0].available:
        pytest.skip(f"{request.param} cannot be used here")
    try:
        made = BACKENDS[request.param](request)
    except SandboxUnavailable as error:
        pytest.skip(f"{request.param} cannot be used here: {error}")
    yield made
    made.close()


# Programs


def test_a_program_gets_its_input_and_gives_output_and_status(sandbox: Sandbox) -> None:
    ran = sandbox.run_python("import sys; print(input()); print('e', file=sys.stderr); sys.exit(3)", stdin=b"hello\n")
    assert (ran.status, ran.exit_code, ran.stdout, ran.stderr) == (Status.ERROR, 3, b"hello\n", b"e\n")


def test_a_traceback_begins_in_the_agents_own_code(sandbox: Sandbox) -> None:
    errors = sandbox.run_python("def f():\n    return 1 / 0\nf()").stderr.decode()
    assert errors.splitlines()[1].endswith("line 3, in <module>")
    assert "return 1 / 0" in errors


def test_every_program_starts_with_nothing_of_the_one_before(sandbox: Sandbox) -> None:
    sandbox.run_python("import sys, builtins; builtins.mark = sys.mark = 1")
    assert sandbox.run_python("import sys; print(hasattr(sys, 'mark'), 'mark' in dir(__builtins__))").stdout == (
        b"False False\n"
    )


def test_input_is_at_its_end_where_none_is_given(sandbox: Sandbox) -> None:
    assert b"EOFError" in sandbox.run_python("input()").stderr


def test_a_large_input_is_passed_whole(sandbox: Sandbox) -> None:
    assert sandbox.run("wc -c", stdin=bytes(1 << 20)).stdout.strip() == b"1048576"


def test_exit_functions_and_threads_come_to_their_end(sandbox: Sandbox) -> None:
    code = "import atexit, threading, time\natexit.register(print, 'last')\n"
    code += "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()"
    assert sandbox.run_python(code).stdout == b"thread\nlast\n"


def test_multiprocessing_works(sandbox: Sandbox) -> None:
    code = (
        "from multiprocessing import Pool\ndef f(x): return x * x\nwith Pool(2) as pool: print(pool.map(f, [1, 2, 3]))"
    )
    assert sandbox.run_python(code).stdout == b"[1, 4, 9]\n"


@pytest.mark.parametrize("command", [["sh", "-c", "exit 7"], "exit 7"])
def test_a_command_is_a_list_or_a_line(sandbox: Sandbox, command: str | list[str]) -> None:
    assert sandbox.run(command).exit_code == 7


def test_a_command_has_its_folder_and_environment(sandbox: Sandbox) -> None:
    sandbox.write_file("sub/x", b"")
    assert sandbox.run('ls "$FOLDER"; pwd', cwd="sub", env={"FOLDER": "."}).stdout.split()[0] == b"x"


def test_a_program_that_is_not_there_is_a_result(sandbox: Sandbox) -> None:
    ran = sandbox.run(["no-such-program"])
    assert (ran.status, ran.exit_code) == (Status.ERROR, 127)
    assert b"no-such-program" in ran.stderr


@pytest.mark.parametrize("run", ["run_python", "run"])
def test_a_timeout_keeps_what_was_printed(sandbox: Sandbox, run: str, with_time_to_speak) -> None:
    program = "echo before; sleep 600" if run == "run" else "print('before', flush=True)\nwhile True: pass"
    ran = with_time_to_speak(lambda timeout_s: getattr(sandbox, run)(program, timeout_s=timeout_s))
    assert (ran.status, ran.stdout) == (Status.TIMEOUT, b"before\n")


def test_a_grandchild_that_holds_the_output_is_not_waited_for(sandbox: Sandbox) -> None:
    began = time.monotonic()
    ran = sandbox.run("sleep 300 & echo done", timeout_s=300)
    assert (ran.status, ran.stdout) == (Status.OK, b"done\n")
    assert time.monotonic() - began < 60


def test_too_much_output_ends_the_run_and_its_head_is_kept(sandbox: Sandbox) -> None:
    ran = sandbox.run("yes")
    assert (ran.status, len(ran.stdout)) == (Status.OUTPUT_LIMIT, LIMITS.output_bytes)
    assert ran.dropped_bytes > 0


def test_a_signal_is_told_from_an_exit(sandbox: Sandbox) -> None:
    ran = sandbox.run_python("import os; os.kill(os.getpid(), 9)")
    assert (ran.status, ran.signal, ran.exit_code) == (Status.KILLED, 9, -1)


# Python sessions


def test_a_session_keeps_its_state_and_shows_the_last_value(sandbox: Sandbox) -> None:
    python = sandbox.open_python()
    python.run("x = 40")
    ran = python.run("print('out')\nx + 2")
    assert (ran.status, ran.stdout, ran.value) == (Status.OK, b"out\n", "42")


def test_an_error_in_a_cell_is_shown_with_its_line(sandbox: Sandbox) -> None:
    ran = sandbox.open_python().run("a = 1\nb = a / 0")
    assert (ran.status, ran.state) == (Status.ERROR, SessionState.KEPT)
    assert b"line 2" in ran.stderr
    assert b"b = a / 0" in ran.stderr


@pytest.mark.parametrize(("code", "status"), [("exit()", Status.OK), ("raise SystemExit(4)", Status.ERROR)])
def test_exit_ends_the_cell_and_not_the_session(sandbox: Sandbox, code: str, status: Status) -> None:
    python = sandbox.open_python()
    python.run("x = 1")
    assert python.run(code).status is status
    assert python.run("x").value == "1"


def test_a_cell_that_replaces_builtins_does_not_reach_the_next_report(sandbox: Sandbox) -> None:
    python = sandbox.open_python()
    python.run(
        "import builtins, time\nfor n in ('len', 'print', 'repr', 'isinstance', 'str'): setattr(builtins, n, None)"
    )
    python.run("time.monotonic = time.process_time = None")
    assert python.run("1 + 1").value == "2"


def test_a_session_can_be_closed_and_another_opened(sandbox: Sandbox) -> None:
    first = sandbox.open_python()
    first.run("x = 1")
    first.close()
    first.close()
    assert sandbox.open_python().run("x").status is Status.ERROR


def test_a_run_beside_a_session_does_not_disturb_it(sandbox: Sandbox) -> None:
    python = sandbox.open_python()
    python.run("x = 1")
    assert sandbox.run_python("print('beside')").ok
    assert sandbox.run("sleep 60", timeout_s=0.2).status is Status.TIMEOUT
    ran = python.run("x")
    assert (ran.value, ran.state) == ("1", SessionState.KEPT)


# Shells


def test_a_shell_keeps_folder_variables_and_functions(sandbox: Sandbox) -> None:
    shell = sandbox.open_shell()
    shell.run("mkdir -p deep; cd deep; NAME=value; greet() { echo hello; }")
    assert shell.run('basename "$PWD"; echo $NAME; greet').stdout == b"deep\nvalue\nhello\n"


def test_a_shell_tells_exit_statuses(sandbox: Sandbox) -> None:
    ran = sandbox.open_shell().run("ls /no/such/place")
    assert ran.status is Status.ERROR
    assert ran.exit_code == 2


def test_a_hung_command_is_killed_and_the_shell_goes_on(sandbox: Sandbox, with_time_to_speak) -> None:
    shell = sandbox.open_shell()
    shell.run("NAME=kept")
    hung = with_time_to_speak(lambda timeout_s: shell.run("echo before; sleep 600", timeout_s=timeout_s))
    assert (hung.status, hung.stdout, hung.state) == (Status.TIMEOUT, b"before\n", SessionState.KEPT)
    assert shell.run("echo $NAME").stdout == b"kept\n"


def test_a_shell_that_hangs_itself_is_begun_anew_where_it_was(sandbox: Sandbox) -> None:
    shell = sandbox.open_shell()
    shell.run("mkdir -p deep; cd deep")
    assert shell.run("while :; do :; done", timeout_s=0.3).state is SessionState.LOST
    assert shell.run('basename "$PWD"').stdout == b"deep\n"


def test_a_command_of_a_shell_may_have_many_lines(sandbox: Sandbox) -> None:
    assert sandbox.open_shell().run("cat <<'END'\na \\n $b\n\nEND").stdout == b"a \\n $b\n\n"


# Channels


def test_messages_go_both_ways(sandbox: Sandbox) -> None:
    channel = sandbox.open_channel("while True: send(receive()[::-1])")
    for message in (b"", b"abc", bytes(range(256)) * 4096):
        channel.send(message, timeout_s=60)
        assert channel.receive(timeout_s=60) == message[::-1]
    assert channel.result().status is Status.OK


def test_what_was_said_before_the_end_still_counts(sandbox: Sandbox) -> None:
    channel = sandbox.open_channel("send(b'last'); raise SystemExit(5)")
    assert channel.receive(timeout_s=60) == b"last"
    with pytest.raises(ChannelClosed):
        channel.receive(timeout_s=60)
    assert channel.result().exit_code == 5


def test_a_silent_program_is_a_timeout(sandbox: Sandbox) -> None:
    channel = sandbox.open_channel("while True: pass")
    with pytest.raises(ChannelClosed):
        channel.receive(timeout_s=0.2)
    assert channel.result().status is Status.TIMEOUT


# Files


def test_files_written_are_read_back_and_seen_by_programs(sandbox: Sandbox) -> None:
    content = bytes(range(256)) * 1024
    sandbox.write_file("a/b/c.bin", content)
    assert sandbox.read_file("a/b/c.bin") == content
    assert sandbox.run("wc -c < a/b/c.bin").stdout.strip() == b"262144"


@pytest.mark.parametrize("path", ["missing", "a", "../outside", "/etc/passwd", "link", "loop", "pipe", "x\0y"])
def test_what_is_not_a_file_of_the_workspace_is_refused(sandbox: Sandbox, path: str) -> None:
    sandbox.run("mkdir a; ln -s /etc/passwd link; ln -s loop loop; mkfifo pipe")
    with pytest.raises(ToolFailed):
        sandbox.read_file(path)


def test_a_file_too_large_to_read_is_refused(sandbox: Sandbox) -> None:
    sandbox.write_file("large", bytes(5000))
    with pytest.raises(ToolFailed, match="4999"):
        sandbox.read_file("large", max_bytes=4999)


@pytest.mark.parametrize("path", ["link/x", "linked", "../x", "/etc/x"])
def test_writing_follows_no_link_and_leaves_no_workspace(sandbox: Sandbox, path: str) -> None:
    sandbox.run("ln -s /tmp link; ln -s /tmp/x linked")
    with pytest.raises(ToolFailed):
        sandbox.write_file(path, b"x")


# The end


def test_freezing_carries_regular_files_and_names_the_rest(sandbox: Sandbox) -> None:
    sandbox.run("mkdir d; echo 1 > d/f; ln -s /etc/passwd link; mkfifo pipe; head -c 9000 /dev/zero > large")
    artifact = sandbox.freeze(max_bytes=8000)
    assert artifact.files == {"d/f": b"1\n"}
    assert artifact.rejected.keys() == {"link", "pipe", "large"}


def test_nothing_writes_once_it_is_frozen(sandbox: Sandbox) -> None:
    python = sandbox.open_python()
    python.run("import subprocess; subprocess.Popen('while :; do date +%N >> log; done', shell=True)")
    first = sandbox.freeze().files
    time.sleep(0.05)
    assert sandbox.freeze().files == first


def test_closing_twice_is_fine(sandbox: Sandbox) -> None:
    sandbox.open_python().run("1")
    sandbox.open_shell().run("true")
    sandbox.close()
    sandbox.close()


def test_a_fork_has_a_copy_of_the_files(sandbox: Sandbox) -> None:
    sandbox.run("mkdir -p d; echo original > d/f; ln -s d link; chmod +x d/f")
    twin = sandbox.fork()
    try:
        twin.write_file("d/f", b"changed")
        assert twin.run("test -x link/f && cat link/f").stdout == b"changed"
        sandbox.close()
        assert twin.read_file("d/f") == b"changed"
    finally:
        twin.close()


def test_a_fork_goes_on_with_the_session_or_is_refused(sandbox: Sandbox) -> None:
    python = sandbox.open_python()
    python.run("x = 'original'")
    try:
        twin = sandbox.fork()
    except ToolFailed:
        return
    try:
        copy = twin.open_python()
        assert copy.run("x += '!'; x").value == "'original!'"
        assert python.run("x").value == "'original'"
        sandbox.close()
        assert copy.run("x").value == "'original!'"
    finally:
        twin.close()
