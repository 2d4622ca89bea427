"""Programs that use up: time, processes, memory, disk, descriptors."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.program import (
    ANYTHING,
    FAILED,
    FINE,
    SHELLS,
    TIMEOUT,
    HostileProgram,
    Mode,
    refused,
)
from agent_envs.sandboxes.protocol import Status

_NO_MEMORY = frozenset({Status.ERROR, Status.OUT_OF_MEMORY, Status.KILLED})

_UNTIL_REFUSED = """
count = 0
try:
    while count < {most}:
        {step}
        count += 1
except (OSError, MemoryError, RuntimeError) as error:
    print("refused:", type(error).__name__, error, "after", count)
else:
    print("BREACH", count)
"""


def _until_refused(name: str, step: str, *, most: int, before: str = "") -> HostileProgram:
    code = before + _UNTIL_REFUSED.format(most=most, step=step)
    return HostileProgram(name, code, statuses=FINE | _NO_MEMORY, timeout_s=60.0, spoils=True)


PROGRAMS = (
    HostileProgram("endless loop", "while True: pass", TIMEOUT, timeout_s=0.3),
    HostileProgram("endless sleep", "time.sleep(1e9)", TIMEOUT, timeout_s=0.3),
    HostileProgram("long computation inside C", "len(str(1)) and 7 ** (10 ** 9)", FAILED, timeout_s=0.3),
    HostileProgram(
        "regular expression that backtracks for ever",
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        TIMEOUT,
        timeout_s=0.3,
    ),
    HostileProgram(
        "endless loop that swallows every exception",
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
        TIMEOUT,
        timeout_s=0.3,
    ),
    HostileProgram(
        "partial output before a time-out",
        "print('so far', flush=True)\nwhile True: pass",
        TIMEOUT,
        requires=("so far",),
        timeout_s=2.0,
    ),
    HostileProgram(
        "busy children that outlive the cell",
        """
        for _ in range(8):
            if os.fork() == 0:
                while True: pass
        """,
        ANYTHING,
        timeout_s=0.5,
        spoils=True,
    ),
    _until_refused(
        "fork bomb",
        "if os.fork() == 0: time.sleep(60)",
        most=100,
    ),
    HostileProgram(
        "fork bomb that grows by doubling",
        """
        while True:
            try: os.fork()
            except OSError: pass
        """,
        FAILED,
        timeout_s=0.4,
    ),
    _until_refused(
        "thousands of threads",
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        before="import threading",
        most=3000,
    ),
    HostileProgram(
        "allocate for ever",
        "blocks = []\nwhile True: blocks.append(bytearray(16 << 20))",
        _NO_MEMORY,
        timeout_s=60.0,
    ),
    HostileProgram("one huge allocation", "bytearray(1 << 40)", _NO_MEMORY),
    HostileProgram("one huge string", "'a' * (1 << 40)", _NO_MEMORY),
    HostileProgram(
        "memory of eight children together",
        """
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                block = bytearray(100 << 20)
                time.sleep(0.5)
                os._exit(0)
            children.append(child)
        if all(os.waitpid(child, 0)[1] == 0 for child in children): print("BREACH")
        """,
        ANYTHING,
        tiers=("namespaces+cgroup",),
        timeout_s=60.0,
    ),
    HostileProgram(
        "decompression bomb",
        "import zlib; bomb = zlib.compress(bytes(64 << 20), 1); blocks = [zlib.decompress(bomb) for _ in range(64)]",
        _NO_MEMORY,
        timeout_s=60.0,
    ),
    _until_refused(
        "fill the disk", "file.write(bytes(1 << 20)); file.flush()", before="file = open('big', 'wb')", most=64
    ),
    _until_refused("fill the disk with many files", "open(f'f{count}', 'wb').write(bytes(4 << 20))", most=32),
    _until_refused("fill the temporary folder", "open(f'/tmp/f{count}', 'wb').write(bytes(4 << 20))", most=64),
    _until_refused("fill shared memory", "open(f'/dev/shm/f{count}', 'wb').write(bytes(4 << 20))", most=64),
    _until_refused("use up the file names", "os.close(os.open(f'n{count}', os.O_CREAT))", most=200_000),
    _until_refused(
        "one sparse file of a terabyte", "os.truncate('sparse', 1 << 40)", before="open('sparse', 'w')", most=1
    ),
    _until_refused("use up the descriptors", "kept.append(os.open('/dev/null', 0))", before="kept = []", most=20_000),
    _until_refused("anonymous files in memory", "kept.append(os.memfd_create('m'))", before="kept = []", most=1),
    _until_refused("System V shared memory", "syscall(29, 0, 64 << 20, 0o1600)", most=1),
    _until_refused("System V messages", "syscall(68, 0, 0o1600)", most=1),
    HostileProgram(
        "memory in the buffers of socket pairs",
        """
        import socket
        kept = []
        try:
            while True:
                left, right = socket.socketpair()
                kept += [left, right]
                left.setblocking(False)
                try:
                    while True: left.send(bytes(65536))
                except BlockingIOError: pass
        except OSError as error: print("refused:", error)
        """,
        ANYTHING,
        requires=("refused:",),
        spoils=True,
    ),
    HostileProgram(
        "memory in a tower of directories",
        """
        try:
            for _ in range(100_000):
                os.mkdir("d" * 200); os.chdir("d" * 200)
        except OSError as error: print("refused:", error)
        """,
        requires=("refused:",),
        timeout_s=60.0,
        spoils=True,
    ),
    HostileProgram(
        "deep recursion", "def f(n): return f(n + 1)\nf(0)", frozenset({Status.ERROR}), requires=("RecursionError",)
    ),
    HostileProgram(
        "recursion past the end of the stack",
        "sys.setrecursionlimit(10 ** 9)\nclass C:\n    def __repr__(self): return repr([self])\nrepr(C())",
        FAILED,
        timeout_s=3.0,
    ),
    HostileProgram(
        "list nested a hundred thousand deep",
        "nested = []\nfor _ in range(100_000): nested = [nested]\nnested",
        ANYTHING,
    ),
    HostileProgram(
        "number with too many digits", "str(10 ** 5000)", frozenset({Status.ERROR}), requires=("ValueError",)
    ),
    HostileProgram(
        "a value whose repr never ends",
        "class Slow:\n    def __repr__(self):\n        while True: pass\nSlow()",
        TIMEOUT,
        modes=(Mode.SESSION,),
        timeout_s=0.4,
    ),
    HostileProgram(
        "a value whose repr is fifty megabytes",
        "class Long:\n    def __repr__(self): return 'x' * (50 << 20)\nLong()",
        ANYTHING,
        modes=(Mode.SESSION,),
    ),
    HostileProgram(
        "interval timers and a storm of signals",
        "signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 1e-5, 1e-5)",
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram(
        ":(){ :|:& };: in the shell", ":(){ :|:& };:; sleep 9", ANYTHING, modes=SHELLS, timeout_s=0.5, spoils=True
    ),
    HostileProgram("yes for ever", "yes", FAILED, modes=SHELLS, timeout_s=3.0),
    HostileProgram(
        "background job that holds the output open",
        "sleep 600 & echo started",
        ANYTHING,
        ("started",),
        modes=SHELLS,
        timeout_s=1.0,
    ),
    HostileProgram(
        "shell that ignores every polite signal",
        "trap '' TERM INT HUP ALRM; while :; do :; done",
        TIMEOUT,
        modes=SHELLS,
        timeout_s=0.3,
    ),
    refused(
        "raise the limit of open files",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (9999, 9999))",
        before="import resource",
    ),
    refused(
        "raise the limit of processes",
        "resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
        before="import resource",
    ),
    refused(
        "lower the limits of the first process",
        "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
        before="import resource",
    ),
    refused("run in real time", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"),
    refused("become more important", "os.setpriority(os.PRIO_PROCESS, 0, -20)"),
    refused("slow the first process down", "os.setpriority(os.PRIO_PROCESS, 1, 19)"),
    refused("be spared when memory runs out", "os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000')"),
)
