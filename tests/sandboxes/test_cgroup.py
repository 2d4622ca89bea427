"""Control groups bound a whole sandbox and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_envs.sandboxes.namespaces import _cgroup
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup, sweep

needs_groups = pytest.mark.skipif(not MemoryGroup.available(), reason="no control group can be made here")


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    made = MemoryGroup.create(memory_mb=64, processes=8)
    yield made
    made.close()


def in_group(group: MemoryGroup, code: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program that begins once it is in the group."""
    program = [sys.executable, "-c", "import os, sys, time; sys.stdin.read(1)\n" + code]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        group.add(process.pid)
        output, errors = process.communicate(b"x", timeout=120)
    return subprocess.CompletedProcess(program, process.returncode, output, errors)


@needs_groups
def test_memory_is_bounded_over_all_processes_together(group: MemoryGroup) -> None:
    code = "for _ in range(6):\n  if os.fork() == 0: block = bytearray(30 << 20); time.sleep(3); os._exit(0)\n"
    in_group(group, code + "for _ in range(6): os.wait()")
    assert group.oom_kills() >= 1
    assert (group.memory_peak_mb() or 64) <= 64


@needs_groups
def test_a_modest_program_is_not_killed(group: MemoryGroup) -> None:
    assert in_group(group, "bytearray(8 << 20)").returncode == 0
    assert group.oom_kills() == 0


@needs_groups
def test_processes_are_bounded(group: MemoryGroup) -> None:
    # The children live until the last of them has lost its parent.
    code = "here, there = os.pipe()\n"
    code += "for _ in range(9):\n  if os.fork() == 0: os.close(there); os.read(here, 1); os._exit(0)"
    ran = in_group(group, code)
    assert b"BlockingIOError" in ran.stderr


@needs_groups
def test_closing_kills_what_is_left_and_can_be_repeated(control_groups) -> None:
    others = control_groups()
    group = MemoryGroup.create(memory_mb=64, processes=8)
    assert control_groups() > others
    with subprocess.Popen(["sleep", "60"]) as process:
        group.add(process.pid)
        group.close()
        assert process.wait(timeout=60) == -signal.SIGKILL
    group.close()
    assert control_groups() <= others


@needs_groups
def test_the_groups_of_a_dead_process_are_swept_and_those_of_a_living_one_are_kept(
    group: MemoryGroup, control_groups
) -> None:
    code = (
        "import os; from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup; "
        "MemoryGroup.create(memory_mb=64, processes=8); print(os.getpid())"
    )
    dead = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    sweep()
    assert control_groups(dead) == set()
    assert control_groups() != set()


AMONG_OTHERS = """
import os
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup, _hierarchy
others = [above / f"agent-envs.{os.getpid()}.{number}" for above in _hierarchy().folders for number in range(1, 9)]
for other in others:
    other.mkdir()
MemoryGroup.create(memory_mb=64, processes=8).close()
print([other for other in others if not other.exists()])
for other in others:
    other.rmdir()
"""


@needs_groups
def test_groups_that_others_made_under_our_number_are_neither_in_the_way_nor_removed() -> None:
    assert subprocess.run([sys.executable, "-c", AMONG_OTHERS], check=True, capture_output=True).stdout == b"[]\n"


EXHAUSTED = """
import resource
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
try:
    print(repr(MemoryGroup.available()))
except OSError as error:
    print(error.strerror)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(MemoryGroup.available())
"""


@needs_groups
def test_a_process_without_descriptors_does_not_do_without_bounds_from_then_on() -> None:
    ran = subprocess.run([sys.executable, "-c", EXHAUSTED], check=True, capture_output=True, text=True)
    assert ran.stdout == f"Too many open files\n{MemoryGroup.available()}\n"


def test_a_group_that_ends_while_it_is_killed_is_no_fault(tmp_path: Path) -> None:
    # Its file is there, and cannot be written any more.
    (tmp_path / "cgroup.kill").mkdir()
    _cgroup._kill(tmp_path)


def test_the_nearest_group_that_hands_its_controllers_on_is_used(tmp_path: Path) -> None:
    own = tmp_path / "user.slice" / "app.slice" / "shell.scope"
    own.mkdir(parents=True)
    for folder, controllers in ((own, ""), (own.parent, "cpu memory pids"), (own.parent.parent, "memory pids")):
        (folder / "cgroup.subtree_control").write_text(controllers)
        (folder / "cgroup.procs").touch()
    assert _cgroup._enabled_parent(tmp_path, own) == own.parent


def test_no_group_is_used_where_the_controllers_are_not_handed_on(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu")
    (tmp_path / "cgroup.procs").touch()
    assert _cgroup._enabled_parent(tmp_path, tmp_path) is None


def test_an_ordinary_user_is_told_that_there_are_none() -> None:
    if os.getuid() != 0:
        pytest.skip("needs to become another user")
    code = (
        "import os; from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup; "
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534); "
        "print(repr(MemoryGroup.available()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout == "''\n"
