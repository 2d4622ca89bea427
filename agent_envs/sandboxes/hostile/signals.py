"""Programs that turn signals, exits and descendants against whoever watches them."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.program import (
    ANYTHING,
    ENDED,
    FAILED,
    SHELLS,
    TIMEOUT,
    HostileProgram,
    Mode,
)
from agent_envs.sandboxes.protocol import Status

_ERROR = frozenset({Status.ERROR})
_KILLED = frozenset({Status.KILLED})
_SESSION = (Mode.SESSION,)

PROGRAMS = (
    HostileProgram(
        "ignore every signal and loop",
        """
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        while True: pass
        """,
        TIMEOUT,
        timeout_s=0.3,
    ),
    HostileProgram(
        "kill everybody", "os.kill(-1, signal.SIGKILL); time.sleep(1)", ANYTHING, timeout_s=2.0, spoils=True
    ),
    HostileProgram(
        "kill everybody, quietly, from a child",
        "if os.fork() == 0:\n    os.setsid(); os.kill(-1, signal.SIGKILL)\ntime.sleep(0.1)",
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram("kill the first process", "os.kill(1, signal.SIGKILL); time.sleep(0.05)", ANYTHING, timeout_s=2.0),
    HostileProgram(
        "kill the parent",
        "os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.05)",
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram(
        "stop the parent",
        "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(0.05)",
        ANYTHING,
        timeout_s=1.0,
        spoils=True,
    ),
    HostileProgram(
        "send every signal to the first process",
        """
        for number in range(1, 65):
            try: os.kill(1, number)
            except OSError: pass
        """,
        ANYTHING,
    ),
    HostileProgram(
        "send every signal to the parent and everybody",
        """
        for number in range(1, 65):
            for pid in (os.getppid(), -1):
                try: os.kill(pid, number)
                except OSError: pass
        """,
        ANYTHING,
        timeout_s=1.0,
        spoils=True,
    ),
    HostileProgram("kill one's own group", "os.killpg(0, signal.SIGKILL)", FAILED, timeout_s=2.0),
    HostileProgram("stop oneself", "os.kill(os.getpid(), signal.SIGSTOP)", FAILED, timeout_s=0.4),
    HostileProgram("stop everybody", "os.kill(-1, signal.SIGSTOP); time.sleep(9)", FAILED, timeout_s=0.4),
    HostileProgram("kill oneself", "os.kill(os.getpid(), signal.SIGKILL)", _KILLED),
    HostileProgram("terminate oneself", "os.kill(os.getpid(), signal.SIGTERM); time.sleep(1)", ENDED),
    HostileProgram("interrupt oneself", "raise KeyboardInterrupt", ENDED),
    HostileProgram("leave with success, past everything", "os._exit(0)", ENDED, modes=_SESSION),
    HostileProgram("leave with failure, past everything", "os._exit(7)", ENDED),
    HostileProgram("abort", "os.abort()", _KILLED),
    HostileProgram("read from nowhere", "ctypes.string_at(0)", _KILLED),
    HostileProgram(
        "overwrite the interpreter", "ctypes.memset(id(None), 0, 64); ctypes.memset(id(int), 0, 256); int()", FAILED
    ),
    HostileProgram("illegal instruction", "os.kill(os.getpid(), signal.SIGILL)", _KILLED),
    HostileProgram("exit", "sys.exit(0)", ANYTHING),
    HostileProgram("exit with a failure", "sys.exit(3)", ENDED),
    HostileProgram("exit with words", "raise SystemExit('strange')", ENDED),
    HostileProgram(
        "exit with an object that bites",
        """
        class Bite:
            def __str__(self): os._exit(0)
            __repr__ = __index__ = __int__ = __str__
        raise SystemExit(Bite())
        """,
        ANYTHING,
    ),
    HostileProgram(
        "an exception that bites when it is shown",
        "class Bite(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise Bite",
        FAILED,
    ),
    HostileProgram(
        "an exception that ends the process when it is shown",
        "class Bite(Exception):\n    def __str__(self): os._exit(0)\nraise Bite",
        FAILED,
        modes=_SESSION,
    ),
    HostileProgram("an exception of no kind", "class Strange(BaseException): pass\nraise Strange('words')", ENDED),
    HostileProgram(
        "a chain of exceptions that bites its tail",
        "a, b = ValueError('a'), ValueError('b'); a.__context__, b.__context__ = b, a\nraise a",
        _ERROR,
    ),
    HostileProgram("become another program", "os.execv('/bin/true', ['true'])", ENDED, modes=_SESSION),
    HostileProgram(
        "a daemon that outlives its family",
        """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                time.sleep(600)
            os._exit(0)
        os.wait()
        """,
        ANYTHING,
        timeout_s=2.0,
    ),
    HostileProgram(
        "a child that holds the output open",
        "if os.fork() == 0:\n    time.sleep(600)\nprint('left it behind', flush=True)",
        ANYTHING,
        requires=("left it behind",),
        timeout_s=30.0,
    ),
    HostileProgram(
        "a thread that is left behind",
        "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        ANYTHING,
        timeout_s=1.0,
    ),
    HostileProgram(
        "a thread that will not end",
        "import threading; threading.Thread(target=time.sleep, args=(600,)).start()",
        ANYTHING,
        timeout_s=0.5,
        spoils=True,
    ),
    HostileProgram(
        "a child that goes on with the cell",
        "if os.fork() == 0: print('child')\nelse: print('parent'); os.wait()",
        ANYTHING,
        requires=("parent",),
        timeout_s=30.0,
    ),
    HostileProgram(
        "a child that goes on with the cell alone",
        "if os.fork(): os._exit(0)\nprint('child')\ntime.sleep(0.05)",
        ANYTHING,
        timeout_s=1.0,
    ),
    HostileProgram(
        "die with the parent of another",
        "ctypes.CDLL(None).prctl(1, 9); ctypes.CDLL(None).prctl(36, 1)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "be nobody's child",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfor _ in range(20):\n    if os.fork() == 0: os._exit(0)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "kill the shell's parent", "kill -9 $PPID; kill -9 -1; sleep 1", ANYTHING, modes=SHELLS, timeout_s=2.0
    ),
    HostileProgram("shell that stops itself", "kill -STOP $$", FAILED, modes=SHELLS, timeout_s=0.4),
    HostileProgram("shell that replaces itself", "exec sleep 600", TIMEOUT, modes=SHELLS, timeout_s=0.4, spoils=True),
)
