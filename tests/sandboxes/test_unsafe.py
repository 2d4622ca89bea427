"""The backend without isolation: it promises no walls, but the same words, limits and cleaning up."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import unsafe
from agent_envs.sandboxes.protocol import ChannelClosed, Limits, SessionState, Status
from agent_envs.sandboxes.unsafe import UnsafeSandbox

LIMITS = Limits(output_bytes=4096, file_mb=1)


@pytest.fixture
def sandbox() -> Iterator[UnsafeSandbox]:
    made = UnsafeSandbox(limits=LIMITS)
    yield made
    made.close()


def test_it_does_not_claim_to_isolate(sandbox: UnsafeSandbox) -> None:
    assert sandbox.isolation == "none"


def test_a_program_gets_its_input_and_gives_its_output(sandbox: UnsafeSandbox) -> None:
    ran = sandbox.run_python("import sys; print(sys.stdin.read()[::-1]); sys.exit(3)", stdin=b"abc")
    assert (ran.status, ran.exit_code, ran.stdout) == (Status.ERROR, 3, b"cba\n")


def test_a_large_input_does_not_block(sandbox: UnsafeSandbox) -> None:
    assert sandbox.run("wc -c", stdin=bytes(1 << 20)).stdout.strip() == b"1048576"


@pytest.mark.parametrize(
    "code", ["while True: pass", "import os\nif os.fork(): os._exit(0)\nimport time; time.sleep(60)"]
)
def test_a_run_ends_in_time_with_its_children(sandbox: UnsafeSandbox, code: str) -> None:
    began = time.monotonic()
    sandbox.run_python(code, timeout_s=0.3)
    assert time.monotonic() - began < 30


def test_too_much_output_ends_the_program(sandbox: UnsafeSandbox) -> None:
    ran = sandbox.run("yes")
    assert (ran.status, len(ran.stdout)) == (Status.OUTPUT_LIMIT, LIMITS.output_bytes)
    assert ran.dropped_bytes > 0


def test_files_are_bounded(sandbox: UnsafeSandbox) -> None:
    assert not sandbox.run("head -c 3000000 /dev/zero > big").ok


def test_our_environment_is_not_shown(sandbox: UnsafeSandbox) -> None:
    os.environ["AGENT_ENVS_TEST_KEY"] = "do-not-show"
    try:
        assert b"do-not-show" not in sandbox.run("env").stdout
    finally:
        del os.environ["AGENT_ENVS_TEST_KEY"]


def test_a_session_keeps_its_state_and_shows_values(sandbox: UnsafeSandbox) -> None:
    session = sandbox.open_python()
    session.run("x = 20\nprint('noise')")
    ran = session.run("x + 1")
    assert (ran.status, ran.value, ran.stdout) == (Status.OK, "21", b"")
    failed = session.run("1 / 0")
    assert failed.status is Status.ERROR
    assert b"ZeroDivisionError" in failed.stderr
    assert session.run("x").value == "20"


@pytest.mark.parametrize(
    ("cell", "timeout_s", "status"),
    [("while True: pass", 0.3, Status.TIMEOUT), ("import os; os.abort()", 60.0, Status.KILLED)],
)
def test_a_session_that_had_to_be_killed_starts_afresh(
    sandbox: UnsafeSandbox, cell: str, timeout_s: float, status: Status
) -> None:
    session = sandbox.open_python()
    session.run("x = 1")
    ran = session.run(cell, timeout_s=timeout_s)
    assert (ran.status, ran.state) == (status, SessionState.LOST)
    assert session.run("'x' in globals()").value == "False"


def test_a_shell_keeps_its_folder_and_variables(sandbox: UnsafeSandbox) -> None:
    shell = sandbox.open_shell()
    shell.run("mkdir -p a; cd a; export WORD=hello")
    assert shell.run("pwd; echo $WORD; exit 4").stdout.endswith(b"/a\nhello\n")
    assert shell.run("sleep 60", timeout_s=0.3).status is Status.TIMEOUT
    assert shell.run("echo $WORD").stdout == b"hello\n"


def test_a_channel_carries_messages_both_ways(sandbox: UnsafeSandbox) -> None:
    channel = sandbox.open_channel("while True: send(receive()[::-1])")
    channel.send(b"abc" * 100_000, timeout_s=60)
    assert channel.receive(timeout_s=60) == b"cba" * 100_000
    channel.result()


@pytest.mark.parametrize("code", ["pass", "import time; time.sleep(60)", "import os; os.write(4, b'\\xff' * 64)"])
def test_a_channel_that_fails_says_so_in_time(sandbox: UnsafeSandbox, code: str) -> None:
    channel = sandbox.open_channel(code)
    with pytest.raises(ChannelClosed):
        channel.receive(timeout_s=0.3)


@pytest.mark.parametrize("path", ["link", "out/passwd", "../x", "/etc/passwd", "", "missing", "pipe", "folder"])
def test_only_regular_files_of_the_workspace_are_read(sandbox: UnsafeSandbox, path: str) -> None:
    sandbox.run("ln -s /etc/passwd link; ln -s /etc out; mkfifo pipe; mkdir folder")
    with pytest.raises(ToolFailed):
        sandbox.read_file(path)


def test_freezing_carries_files_and_names_what_it_left(sandbox: UnsafeSandbox) -> None:
    sandbox.write_file("a/b", b"1")
    sandbox.run("ln -s /etc/passwd link; head -c 900 /dev/zero > big")
    artifact = sandbox.freeze(max_bytes=100)
    assert artifact.files == {"a/b": b"1"}
    assert set(artifact.rejected) == {"link", "big"}


def test_a_fork_has_its_own_copy_of_the_files(sandbox: UnsafeSandbox) -> None:
    sandbox.write_file("a", b"1")
    twin = sandbox.fork()
    twin.write_file("a", b"2")
    assert sandbox.read_file("a") == b"1"
    twin.close()


def test_a_live_session_cannot_be_forked(sandbox: UnsafeSandbox) -> None:
    sandbox.open_python()
    with pytest.raises(ToolFailed, match="cannot be copied"):
        sandbox.fork()


def test_closing_leaves_nothing_and_can_be_repeated() -> None:
    made = UnsafeSandbox(limits=LIMITS)
    made.open_python()
    made.open_channel("import time; time.sleep(60)")
    made.close()
    made.close()
    assert not made._root.exists()


def test_the_folder_of_a_killed_process_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where nobody else sweeps.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    code = (
        "import os; from agent_envs.sandboxes.protocol import Limits; "
        "from agent_envs.sandboxes.unsafe import UnsafeSandbox; "
        "print(UnsafeSandbox(limits=Limits())._root, flush=True); os._exit(1)"
    )
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    assert Path(left).exists()
    assert unsafe.sweep() == 1
    assert not Path(left).exists()


def test_the_folder_of_a_living_process_is_kept_where_that_process_cannot_be_seen(
    sandbox: UnsafeSandbox,
) -> None:
    if os.getuid() != 0:
        pytest.skip("needs to make a namespace")
    sweep = [sys.executable, "-c", "from agent_envs.sandboxes import unsafe; unsafe.sweep()"]
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", *sweep], check=True)
    assert sandbox._root.exists()
