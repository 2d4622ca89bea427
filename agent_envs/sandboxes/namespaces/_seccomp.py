"""The system calls a guest may make, as a classic BPF program for x86-64.

An allow-list: what is not named here is refused, so a kernel feature invented tomorrow is refused too. Standard library
only and no import of agent_envs, because the isolated process that installs it cannot import the package.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_ALLOWED = """
read 0 write 1 open 2 close 3 stat 4 fstat 5 lstat 6 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12
rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15 pread64 17 pwrite64 18 readv 19 writev 20 access 21 pipe 22 select 23
sched_yield 24 mremap 25 msync 26 mincore 27 madvise 28 dup 32 dup2 33 pause 34 nanosleep 35 getitimer 36 alarm 37
setitimer 38 getpid 39 sendfile 40 sendto 44 recvfrom 45 sendmsg 46 recvmsg 47 shutdown 48 getsockname 51
getpeername 52 getsockopt 55 fork 57 vfork 58 execve 59 exit 60 wait4 61 kill 62 uname 63 fcntl 72 flock 73 fsync 74
fdatasync 75 truncate 76 ftruncate 77 getdents 78 getcwd 79 chdir 80 fchdir 81 rename 82 mkdir 83 rmdir 84 creat 85
link 86 unlink 87 symlink 88 readlink 89 chmod 90 fchmod 91 chown 92 fchown 93 lchown 94 umask 95 gettimeofday 96
getrlimit 97 getrusage 98 sysinfo 99 times 100 getuid 102 getgid 104 setuid 105 setgid 106 geteuid 107 getegid 108
setpgid 109 getppid 110 getpgrp 111 setsid 112 setreuid 113 setregid 114 getgroups 115 setgroups 116 setresuid 117
getresuid 118 setresgid 119 getresgid 120 getpgid 121 setfsuid 122 setfsgid 123 getsid 124 capget 125 capset 126
rt_sigpending 127 rt_sigtimedwait 128 rt_sigqueueinfo 129 rt_sigsuspend 130 sigaltstack 131 utime 132 mknod 133
statfs 137 fstatfs 138 getpriority 140 sched_getparam 143 sched_getscheduler 145 sched_get_priority_max 146
sched_get_priority_min 147 sched_rr_get_interval 148 mlock 149 munlock 150 mlockall 151 munlockall 152 arch_prctl 158
setrlimit 160 gettid 186 readahead 187 setxattr 188 lsetxattr 189 fsetxattr 190 getxattr 191 lgetxattr 192
fgetxattr 193 listxattr 194 llistxattr 195 flistxattr 196 removexattr 197 lremovexattr 198 fremovexattr 199 tkill 200
time 201 futex 202 sched_getaffinity 204 epoll_create 213 getdents64 217 set_tid_address 218 restart_syscall 219
fadvise64 221 timer_create 222 timer_settime 223 timer_gettime 224 timer_getoverrun 225 timer_delete 226
clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231 epoll_wait 232 epoll_ctl 233 tgkill 234
utimes 235 get_mempolicy 239 waitid 247 ioprio_get 252 inotify_init 253 inotify_add_watch 254 inotify_rm_watch 255
openat 257 mkdirat 258 mknodat 259 fchownat 260 futimesat 261 newfstatat 262 unlinkat 263 renameat 264 linkat 265
symlinkat 266 readlinkat 267 fchmodat 268 faccessat 269 pselect6 270 ppoll 271 set_robust_list 273 get_robust_list 274
sync_file_range 277 utimensat 280 epoll_pwait 281 signalfd 282 timerfd_create 283 eventfd 284 fallocate 285
timerfd_settime 286 timerfd_gettime 287 signalfd4 289 eventfd2 290 epoll_create1 291 dup3 292 pipe2 293
inotify_init1 294 preadv 295 pwritev 296 rt_tgsigqueueinfo 297 recvmmsg 299 sendmmsg 307 getcpu 309 sched_getattr 315
renameat2 316 getrandom 318 execveat 322 membarrier 324 mlock2 325 copy_file_range 326 preadv2 327 pwritev2 328
pkey_mprotect 329 pkey_alloc 330 pkey_free 331 statx 332 rseq 334 pidfd_send_signal 424 pidfd_open 434 close_range 436
openat2 437 faccessat2 439 epoll_pwait2 441 futex_waitv 449 fchmodat2 452 map_shadow_stack 453 futex_wake 454
futex_wait 455 futex_requeue 456 mseal 462 setxattrat 463 getxattrat 464 listxattrat 465 removexattrat 466
"""

_LOOPBACK = "connect 42 accept 43 bind 49 listen 50 accept4 288"
"""Allowed as well where the sandbox has a network of its own to serve on."""

# A program falls back to something else on "no such system call" where it would give up on "not permitted".
_ABSENT = """
io_setup 206 io_destroy 207 io_getevents 208 io_submit 209 io_cancel 210 splice 275 tee 276 vmsplice 278
io_pgetevents 333 io_uring_setup 425 io_uring_enter 426 io_uring_register 427 clone3 435 landlock_create_ruleset 444
landlock_add_rule 445 landlock_restrict_self 446 cachestat 451
"""

# Nothing the guest can write is on a disk, and flushing the disks of the machine would disturb its neighbours.
_PRETENDED = "sync 162 syncfs 306"

_FIRST_UNKNOWN = 468
"""Numbers from here on are newer than this table; glibc expects "no such system call" from an old kernel."""

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOTTY, _ENOSYS, _EAFNOSUPPORT = (0x00050000 | number for number in (1, 25, 38, 97))
_PRETEND = 0x00050000

_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_CLONE_PARENT = 0x8000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06


class UnsupportedArchitecture(RuntimeError):
    """There is no tested table of system calls for this processor, so nothing may be run under one."""


@dataclass(frozen=True, slots=True)
class _OneOf:
    """The argument must be one of these values."""

    argument: int
    values: tuple[int, ...]
    otherwise: int = _EPERM
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Without:
    """None of these bits may be set in the argument."""

    argument: int
    bits: int
    otherwise: int = _EPERM


@dataclass(frozen=True, slots=True)
class _NoneOf:
    """The argument must be none of these values, where another one has the value that gives them their meaning."""

    argument: int
    values: tuple[int, ...]
    where: tuple[int, int]
    otherwise: int = _EPERM


_Rule = _OneOf | _Without | _NoneOf
_Leaf = int | tuple[_Rule, ...]

# Terminal and file questions that ordinary programs ask: TCGETS..TCSBRK, TIOCSCTTY, TIOC[GS]PGRP, TIOCGWINSZ,
# TIOCSWINSZ, FIONREAD, FIONBIO, TIOCNOTTY, FIO[N]CLEX, FIOASYNC, TIOCGPTN, TIOCSPTLCK, TCGETS2..TCSETSF2, FIGETBSZ,
# FICLONE, FS_IOC_GETFLAGS, FIEMAP. TIOCSTI and TIOCLINUX, which type into the terminal of the host, are not here.
_IOCTLS = (
    *(0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540B, 0x540E, 0x540F, 0x5410, 0x5413, 0x5414, 0x541B, 0x5421, 0x5422),
    *(0x5450, 0x5451, 0x5452, 0x80045430, 0x40045431, 0x802C542A, 0x402C542B, 0x402C542C, 0x402C542D),
    *(2, 0x40049409, 0x80086601, 0xC020660B),
)
# Names, parent-death signal, dumpable, keepcaps (read), seccomp (read), bounding set (read), timer slack, subreaper,
# no_new_privs, transparent huge pages, ambient capabilities, names of anonymous memory, the auxiliary vector.
_PRCTLS = (1, 2, 3, 4, 7, 13, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 40, 41, 42, 47, 0x53564D41, 0x41555856)
_SOCKET_LEVEL = 1
_ATTACH_PROGRAM = (26, 50, 51, 52)
_ITSELF = (_OneOf(0, (0,)),)
"""Pid 0: the guest shares its user with the trusted pid 1, whose limits and priority it could otherwise lower."""

_CHECKED: dict[int, tuple[_Rule, ...]] = {
    16: (_OneOf(1, _IOCTLS, _ENOTTY),),  # ioctl
    53: (_OneOf(0, (1,), _EAFNOSUPPORT),),  # socketpair: local only
    54: (_NoneOf(2, _ATTACH_PROGRAM, where=(1, _SOCKET_LEVEL)),),  # setsockopt
    56: (_Without(0, _NEW_NAMESPACES | _CLONE_PARENT),),  # clone: a sibling would be a forged child of the trusted side
    135: (_OneOf(0, (0, 0xFFFFFFFF)),),  # personality: ask, or plain Linux
    141: (_OneOf(1, (0,)),),  # setpriority
    142: _ITSELF,  # sched_setparam
    144: _ITSELF,  # sched_setscheduler
    157: (_OneOf(0, _PRCTLS),),  # prctl
    203: _ITSELF,  # sched_setaffinity
    302: _ITSELF,  # prlimit64
    314: _ITSELF,  # sched_setattr
}
# Local, IPv4 and IPv6 streams and datagrams; no raw, netlink or packet sockets.
_SOCKET = (
    _OneOf(0, (1, 2, 10), _EAFNOSUPPORT),
    _OneOf(1, (1, 2), mask=0xF),
    _OneOf(2, (0, 6, 17)),
)


def filter_program(*, loopback: bool = False) -> bytes:
    """The filter as the kernel takes it; with `loopback` the guest may also open sockets.

    Sockets are bounded by the network namespace they are opened in, so `loopback` is only for one that is empty.
    """
    require_x86_64(os.uname().machine)
    leaves: dict[int, _Leaf] = dict.fromkeys(_numbers(_ALLOWED), _ALLOW)
    leaves |= dict.fromkeys(_numbers(_ABSENT), _ENOSYS)
    leaves |= dict.fromkeys(_numbers(_PRETENDED), _PRETEND)
    leaves |= _CHECKED
    if loopback:
        leaves |= dict.fromkeys(_numbers(_LOOPBACK), _ALLOW)
        leaves[41] = _SOCKET
    code = [
        *(_instruction(_LOAD, 4), _instruction(_JUMP_EQUAL, _ARCH_X86_64, 1, 0), _instruction(_RETURN, _KILL)),
        *(_instruction(_LOAD, 0), _instruction(_JUMP_AT_LEAST, _X32_BIT, 0, 1), _instruction(_RETURN, _KILL)),
        *_tree(_ranges(leaves)),
    ]
    return b"".join(code)


def install(program: bytes) -> None:
    """Put the calling thread, and all that it will ever start, under the filter for good."""
    header = prepare(program)
    _check(_libc.prctl(38, 1, 0, 0, 0), "set no_new_privs")
    _check(_libc.prctl(22, 2, ctypes.byref(header), 0, 0), "install the system call filter")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


@functools.lru_cache(maxsize=4)
def prepare(program: bytes) -> _Program:
    """The program as the kernel wants it; called before forking, it saves every guest half a millisecond."""
    require_x86_64(os.uname().machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    header.buffer = buffer
    return header


_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, doing: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"could not {doing}: {os.strerror(number)}")


def require_x86_64(machine: str) -> None:
    """Raises `UnsupportedArchitecture` where the table does not fit this processor, or this interpreter on it."""
    if machine != "x86_64" or sys.maxsize < 1 << 32:
        raise UnsupportedArchitecture(
            f"the system call filter has a tested table for 64-bit programs on x86_64 only, and this is {machine}; "
            "use another tier of isolation here"
        )


def _numbers(table: str) -> list[int]:
    return [int(word) for word in table.split()[1::2]]


def _ranges(leaves: dict[int, _Leaf]) -> list[tuple[int, _Leaf]]:
    """The whole number line as (first number, what happens from there on), neighbours with equal answers merged."""
    ranges: list[tuple[int, _Leaf]] = []
    for number in range(_FIRST_UNKNOWN):
        leaf = leaves.get(number, _EPERM)
        if not ranges or ranges[-1][1] != leaf:
            ranges.append((number, leaf))
    return [*ranges, (_FIRST_UNKNOWN, _ENOSYS)]


def _tree(ranges: Sequence[tuple[int, _Leaf]]) -> list[bytes]:
    """A binary search over the ranges: about eight comparisons for any call, and shorter than a list of them."""
    if len(ranges) == 1:
        return _leaf(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _tree(ranges[:middle]), _tree(ranges[middle:])
    return [_instruction(_JUMP_AT_LEAST, ranges[middle][0], len(low), 0), *low, *high]


def _leaf(leaf: _Leaf) -> list[bytes]:
    if isinstance(leaf, int):
        return [_instruction(_RETURN, leaf)]
    return [*(step for rule in leaf for step in _rule(rule)), _instruction(_RETURN, _ALLOW)]


def _rule(rule: _Rule) -> Iterator[bytes]:
    """Falls through where the argument passes, returns the refusal where it does not.

    The low half is enough: every argument checked here is an `int` to the kernel, or flags that live in the low half.
    """
    if isinstance(rule, _NoneOf):
        argument, value = rule.where
        yield _instruction(_LOAD, 16 + 8 * argument)
        yield _instruction(_JUMP_EQUAL, value, 0, len(rule.values) + 2)
    yield _instruction(_LOAD, 16 + 8 * rule.argument)
    match rule:
        case _Without(bits=bits):
            yield _instruction(_JUMP_BITS, bits, 0, 1)
        case _OneOf(values=values, mask=mask):
            yield _instruction(_AND, mask)
            for left, value in _countdown(values):
                yield _instruction(_JUMP_EQUAL, value, left + 1, 0)
        case _NoneOf(values=values):
            for left, value in _countdown(values):
                yield _instruction(_JUMP_EQUAL, value, left, 0 if left else 1)
    yield _instruction(_RETURN, rule.otherwise)


def _countdown(values: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    yield from zip(range(len(values) - 1, -1, -1), values, strict=True)


_pack: Callable[..., bytes] = struct.Struct("HBBI").pack


def _instruction(code: int, operand: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return _pack(code, when_true, when_false, operand)
