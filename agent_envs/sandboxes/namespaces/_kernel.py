"""The system calls that Python does not offer, by ctypes; only what the trusted side of a namespace sandbox needs.

Standard library only: it is imported where agent_envs is not.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

NEW_MOUNTS = 0x00020000
NEW_CGROUP = 0x02000000
NEW_HOST_NAME = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NET = 0x40000000

READ_ONLY = 0x1
NO_SUID = 0x2
NO_DEVICES = 0x4
NO_EXEC = 0x8
REMOUNT = 0x20
BIND = 0x1000
RECURSIVE = 0x4000
PRIVATE = 0x40000

BENEATH_WITHOUT_LINKS = 0x08 | 0x04 | 0x02
"""For `open_beneath`: no way out of the folder, no symbolic link, no magic link of /proc."""

_PIVOT_ROOT, _CLONE, _MOUNT_SETATTR, _OPENAT2, _CLOSE_RANGE = 155, 56, 442, 437, 436
_CLONE_PIDFD, _SIGCHLD = 0x1000, 17
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_AT_RECURSIVE = 0x8000

# PyDLL, not CDLL: the lock of the interpreter must be held over a clone, or the child would be born without it.
_libc = ctypes.PyDLL(None, use_errno=True)
# Looked up once, here: every process 1 would have to make the objects that stand for them again.
_looked_up = [getattr(_libc, name) for name in ("capset", "fork", "mount", "prctl", "syscall")]


# The functions of `signal` look up enumerations, which costs each guest twenty memory pages of its own.
set_handler: Callable[..., object] = vars(signal)["_signal"].signal
DEFAULT: object = vars(signal)["_signal"].SIG_DFL

# Made once: to make such a type costs every episode dozens of memory pages of its own.
_CAPABILITY_VERSION = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()


def _check(result: int, doing: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"could not {doing}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare namespaces")


def join(namespace: int, kind: int = 0) -> None:
    """Move this process into the namespaces that an open descriptor stands for."""
    _check(_libc.setns(namespace, kind), "join a namespace")


def clone(flags: int) -> tuple[int, int]:
    """Fork into new namespaces: (0, -1) in the child, its pid and a descriptor of the process in the parent."""
    descriptor = ctypes.c_int(-1)
    pid = _libc.syscall(_CLONE, ctypes.c_ulong(flags | _CLONE_PIDFD | _SIGCHLD), None, ctypes.byref(descriptor))
    return _check(pid, "clone into new namespaces"), descriptor.value


def fork() -> int:
    """Fork as the C library does, without what Python would do for threads and hooks that process 1 does not have."""
    return _check(_libc.fork(), "fork")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount something; an empty word means that the kernel does not look at it."""
    words = [os.fsencode(word) if word else None for word in (source, target, kind)]
    data = options.encode() if options else None
    _check(_libc.mount(*words, ctypes.c_ulong(flags), data), f"mount {source or kind} on {target}")


def lock_down(path: str) -> None:
    """Make a mount and all below it read-only, without set-uid programs and devices."""
    # clear, propagation and the user namespace stay 0. Unlike a remount this adds to the flags that are there.
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY | NO_SUID, 0, 0, 0)
    result = _libc.syscall(
        _MOUNT_SETATTR, -100, os.fsencode(path), _AT_RECURSIVE, attributes, ctypes.sizeof(attributes)
    )
    _check(result, f"make {path} read-only")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of the file system and move the former root to `old`."""
    _check(_libc.syscall(_PIVOT_ROOT, os.fsencode(new), os.fsencode(old)), "change the root")


def detach(path: str) -> None:
    """Unmount a tree, now out of reach and gone when its last user is."""
    _check(_libc.umount2(os.fsencode(path), 2), f"unmount {path}")


def set_dumpable(yes: bool) -> None:
    """Whether other processes of this user may look into this one, by ptrace or /proc."""
    _check(_libc.prctl(_SET_DUMPABLE, int(yes), 0, 0, 0), "set whether this process may be inspected")


def die_with_parent() -> None:
    """Have this process killed when the thread that made it ends; to be called after the last change of identity."""
    _check(_libc.prctl(_SET_DEATH_SIGNAL, 9, 0, 0, 0), "tie the life of this process to its parent")


def drop_privileges() -> None:
    """Give up every capability, and the means to gain one, for good."""
    _check(_libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "set no_new_privs")
    _check(_libc.capset(_CAPABILITY_VERSION, _NO_CAPABILITIES), "drop capabilities")


def close_from(first: int) -> None:
    """Close every descriptor from this number on."""
    _check(_libc.syscall(_CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0), "close descriptors")


def open_beneath(folder: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path below an open folder; raises `OSError` where it would leave it or pass through a link."""
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, mode, BENEATH_WITHOUT_LINKS)
    result = _libc.syscall(_OPENAT2, folder, os.fsencode(path), how, ctypes.sizeof(how))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return int(result)
