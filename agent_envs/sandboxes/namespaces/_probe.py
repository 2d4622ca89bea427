"""A program that tries, in a process of its own, every step a namespace sandbox takes, and names the first that fails.

Standard library only; run as a file by `agent_envs.sandboxes.ladder`, which turns the answer into advice.
"""

from __future__ import annotations

import ctypes
import os
import sys

_NEW_NS, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    *(0x20000, 0x4000000, 0x8000000, 0x10000000),
    *(0x20000000, 0x40000000),
)
_PRIVATE = 0x40000 | 0x4000


def _step(name: str, result: int) -> None:
    if result < 0:
        _fail(name, ctypes.get_errno())


def _fail(name: str, number: int) -> None:
    print(name, number, flush=True)
    os._exit(1)


def _map_ids(uid: int, gid: int) -> None:
    try:
        for name, content in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(content)
    except OSError as error:
        _fail("uid_map", error.errno or 0)


def main() -> None:
    """Print `ok`, or the name of the failed step and its error number."""
    # Beside this file, which runs outside the package; read before anything is mounted over it.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import _seccomp  # type: ignore[import-not-found]

    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    _step("user namespace", libc.unshare(_NEW_USER))
    _map_ids(uid, gid)
    _step("namespaces", libc.unshare(_NEW_NS | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET))
    _step("mount", libc.mount(None, b"/", None, ctypes.c_ulong(_PRIVATE), None))
    _step("mount", libc.mount(b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None))
    child = os.fork()
    if child == 0:
        _step("proc", libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(0), None))
        try:
            _seccomp.install(_seccomp.filter_program())
        except OSError as error:
            _fail("seccomp", error.errno or 0)
        except _seccomp.UnsupportedArchitecture:
            _fail("architecture", 0)
        print("ok", flush=True)
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
