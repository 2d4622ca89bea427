"""The system call filter: what ordinary programs need passes, everything that reaches beyond the guest is refused."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agent_envs.sandboxes.namespaces import _seccomp

MODULE = Path(_seccomp.__file__).parent
PREAMBLE = f"""
import sys; sys.path.insert(0, {str(MODULE)!r})
import ctypes, os, _seccomp
_seccomp.install(_seccomp.filter_program(loopback={{loopback}}))
libc = ctypes.CDLL(None, use_errno=True)
def call(*numbers):
    ctypes.set_errno(0)
    return -ctypes.get_errno() if libc.syscall(*(ctypes.c_long(n) for n in numbers)) < 0 else 0
"""

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the table is for x86-64")


def filtered(code: str, *, loopback: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a program in a bare interpreter under the filter, the way the isolated process loads it."""
    program = PREAMBLE.format(loopback=loopback) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=300, check=False
    )


def answer(*numbers: int, loopback: bool = False) -> str:
    """The name of the error that one raw system call gives under the filter; empty where it works."""
    ran = filtered(f"print(call(*{numbers}))", loopback=loopback)
    assert ran.stderr == ""
    return errno.errorcode.get(-int(ran.stdout), "")


REFUSED = {
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "umount2": (166, 0, 0),
    "pivot_root": (155, 0, 0),
    "chroot": (161, 0),
    "unshare a user namespace": (272, 0x10000000),
    "setns": (308, 0, 0),
    "clone a user namespace": (56, 0x10000011, 0, 0, 0, 0),
    "clone a sibling": (56, 0x8011, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 0),
    "memfd_create": (319, 0, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "kexec_load": (246, 0, 0, 0, 0),
    "finit_module": (313, 0, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0),
    "fanotify_init": (300, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "open_tree": (428, 0, 0, 0),
    "fsopen": (430, 0, 0),
    "quotactl": (179, 0, 0, 0, 0),
    "seccomp": (317, 1, 0, 0),
    "personality without address randomisation": (135, 0x0040000),
    "prctl PR_SET_SECCOMP": (157, 22, 2, 0, 0, 0),
    "lower the limits of pid 1": (302, 1, 7, 0, 0),
    "slow pid 1 down": (144, 1, 5, 0),
    "socket": (41, 2, 1, 0),
}


@pytest.mark.parametrize("numbers", REFUSED.values(), ids=REFUSED.keys())
def test_a_call_that_reaches_beyond_the_guest_is_not_permitted(numbers: tuple[int, ...]) -> None:
    assert answer(*numbers) == "EPERM"


@pytest.mark.parametrize("number", [435, 425, 278, 468, 1000])
def test_a_call_that_programs_can_do_without_looks_absent(number: int) -> None:
    assert answer(number, 0, 0, 0, 0) == "ENOSYS"


@pytest.mark.parametrize("request_code", [0x5412, 0x541C, 0x5423])
def test_typing_into_a_terminal_is_refused(request_code: int) -> None:
    assert answer(16, 0, request_code, 0) == "ENOTTY"


@pytest.mark.parametrize("number", [0x40000000 + 39, 0x40000000 + 520])
def test_the_x32_calling_convention_kills(number: int) -> None:
    assert filtered(f"call({number})").returncode == -signal.SIGSYS


def test_the_32_bit_calling_convention_kills() -> None:
    code = """
        import mmap
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    """
    assert filtered(code).returncode == -signal.SIGSYS


def test_flushing_disks_is_pretended() -> None:
    assert answer(162) == ""


def test_a_socket_pair_works_where_a_socket_does_not() -> None:
    ran = filtered(
        "import socket, asyncio; socket.socketpair(); asyncio.run(asyncio.sleep(0)); print('in'); socket.socket()"
    )
    assert ran.stdout == "in\n"
    assert "PermissionError" in ran.stderr


def test_loopback_allows_a_server_of_ones_own() -> None:
    code = """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        server.accept()[0].send(b"hello")
        print(client.recv(5))
    """
    assert filtered(code, loopback=True).stdout == "b'hello'\n"


@pytest.mark.parametrize("socket", [(16, 3, 0), (17, 3, 0), (2, 3, 1), (2, 1, 262), (38, 5, 0)])
def test_loopback_opens_no_other_family(socket: tuple[int, int, int]) -> None:
    assert answer(41, *socket, loopback=True) in {"EPERM", "EAFNOSUPPORT"}


def test_the_filter_reaches_every_child() -> None:
    ran = filtered("import subprocess; subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'])")
    assert "PermissionError" in ran.stderr


def test_every_number_is_the_kernels_own() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the kernel headers are not installed")
    words = [line.split()[1:] for line in header.read_text().splitlines() if line.startswith("#define __NR_")]
    kernel = {name.removeprefix("__NR_"): number for name, number in words}
    table = " ".join((_seccomp._ALLOWED, _seccomp._LOOPBACK, _seccomp._ABSENT, _seccomp._PRETENDED)).split()
    ours = dict(zip(table[::2], table[1::2], strict=True))
    assert {name: number for name, number in ours.items() if kernel.get(name, number) != number} == {}


PROGRAMS = {
    "threads": "from threading import *; t = [Thread(target=print) for _ in range(8)]; [x.start() for x in t]",
    "subprocess": "import subprocess as s; s.run(['true'], check=True); s.run('ls | wc', shell=True, check=True)",
    "multiprocessing": "import multiprocessing as m\nif __name__ == '__main__': m.Pool(2).map(abs, range(9))",
    "spawned processes": "import multiprocessing as m\nif __name__ == '__main__':\n"
    "    q = m.get_context('spawn').Queue(); q.put(1); q.get()",
    "shared memory": "from multiprocessing.shared_memory import *; s = SharedMemory(create=True, size=9); s.unlink()",
    "asyncio": "import asyncio as a; a.run(a.wait_for(a.to_thread(print), 9))\n"
    "async def main(): await (await a.create_subprocess_exec('true')).wait()\na.run(main())",
    "numpy": "import numpy; (numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum()",
    "files": "import tempfile, shutil, os; d = tempfile.mkdtemp(); open(d + '/a', 'w').write('x'); "
    "shutil.copy(d + '/a', d + '/b'); os.sync(); shutil.rmtree(d)",
    # Again and again, for the first may come before the pause.
    "signals and timers": "import signal as s; s.signal(s.SIGALRM, print); s.setitimer(s.ITIMER_REAL, .01, .01); "
    "s.pause(); s.setitimer(s.ITIMER_REAL, 0)",
    "a terminal": "import pty; assert pty.spawn(['true']) == 0",
    "sqlite": "import sqlite3; sqlite3.connect(':memory:').execute('select 1')",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_ordinary_python_is_not_disturbed(code: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(code)
    ran = filtered(f"os.execv({sys.executable!r}, [{sys.executable!r}, '-W', 'ignore', {str(script)!r}])")
    assert (ran.returncode, ran.stderr) == (0, "")


COMMANDS = {
    "bash": "cat <<< hi | sort > a; for i in 1 2; do (echo $i) & done; wait; [[ $(wc -l < a) = 1 ]]; ulimit -n 64",
    "coreutils": "mkdir -p d/e; seq 9 > d/f; cp -a d g; mv g h; ln -s f d/l; touch -d 2020-01-01 d/f; chmod 600 d/f; "
    "df . ; du -s d; sort -r d/f | head -2; tail -1 d/f; dd if=/dev/zero of=z bs=1k count=4; sync; nice -n 5 true; "
    "timeout 60 true; stat d; mktemp; tar cf t.tar d; gzip t.tar; find . -name f; rm -r d",
    "git": "export HOME=$PWD; git init -q r; cd r; git config user.email a@b; git config user.name a; echo a > a; "
    "git add a; git commit -qm one; echo b > a; git diff --stat; git stash -q; git log --oneline; "
    "git gc -q; git clone -q . c",
    "gcc": "echo 'int main(void){return 0;}' > a.c; gcc -O2 -pthread a.c -o a && ./a",
    "pytest": f"echo 'def test_it(): pass' > test_a.py; {sys.executable} -m pytest -q -p no:cacheprovider test_a.py",
    "venv": f"{sys.executable} -m venv --without-pip v && v/bin/python -c 'import ssl, ctypes'",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_ordinary_commands_are_not_disturbed(name: str, tmp_path: Path) -> None:
    if name in {"git", "gcc"} and not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    ran = filtered(f"os.chdir({str(tmp_path)!r}); os.execvp('bash', ['bash', '-e', '-c', {COMMANDS[name]!r}])")
    assert (ran.returncode, [line for line in ran.stderr.splitlines() if "not permitted" in line]) == (0, [])


def test_another_processor_is_refused_with_the_reason() -> None:
    with pytest.raises(_seccomp.UnsupportedArchitecture, match="aarch64"):
        _seccomp.require_x86_64("aarch64")
