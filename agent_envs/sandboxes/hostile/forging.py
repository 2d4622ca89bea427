"""Programs that forge: a better result, a message to the host, or the tools of whoever runs the next cell."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.program import (
    ANYTHING,
    FAILED,
    SHELLS,
    HostileProgram,
    Mode,
)

_SESSION = (Mode.SESSION,)

_FORGED_FRAMES = r"""
import json, struct
claim = json.dumps({"status": "ok", "ok": True, "type": "result", "stdout": "BREACH", "value": "BREACH"}).encode()
frames = [claim + b"\n", struct.pack("<I", len(claim)) + claim, struct.pack(">I", len(claim)) + claim,
          struct.pack("<Q", len(claim)) + claim, b"\xff" * 64, b"\x00" * 64, struct.pack(">I", 0x7FFFFFFF)]
"""

PROGRAMS = (
    HostileProgram(
        "forged results on every descriptor",
        _FORGED_FRAMES
        + """
for fd in range(3, 256):
    for frame in frames:
        try: os.set_blocking(fd, False); os.write(fd, frame)
        except OSError: break
raise ValueError("the truth")
""",
        FAILED,
        spoils=True,
    ),
    HostileProgram(
        "a forged result of a giant size",
        """
        for fd in range(3, 256):
            try: os.set_blocking(fd, False); os.write(fd, b"\\x7f" * 65536)
            except OSError: pass
        raise ValueError("the truth")
        """,
        FAILED,
        spoils=True,
    ),
    HostileProgram(
        "eavesdrop on every descriptor",
        """
        import threading
        def steal(fd):
            try:
                while data := os.read(fd, 65536): pass
            except OSError: pass
        for fd in range(3, 64):
            threading.Thread(target=steal, args=(fd,), daemon=True).start()
        time.sleep(0.05)
        """,
        ANYTHING,
        timeout_s=1.0,
        spoils=True,
    ),
    HostileProgram(
        "send descriptors to the host",
        """
        import socket, array, stat
        for fd in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    own = socket.socket(fileno=os.dup(fd)); own.setblocking(False)
                    for _ in range(20):
                        own.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
            except OSError: pass
        """,
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "hang up on the host",
        """
        import socket
        for fd in range(3, 64):
            try: socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
            except OSError: pass
        """,
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "point every descriptor at the output",
        "for fd in range(3, 64):\n    try: os.fstat(fd); os.dup2(1, fd)\n    except OSError: pass",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "descriptors of the host",
        """
        for fd in range(3, 256):
            try: target = os.readlink(f"/proc/self/fd/{fd}")
            except OSError: continue
            if target.startswith("/") and not target.startswith(("/dev/", "/proc/")): print("file", target)
            print(fd, target)
        """,
        forbids=("@FILE@",),
    ),
    HostileProgram(
        "builtins that lie",
        """
        import builtins
        for name in "print len repr str open isinstance compile exec eval getattr bytes".split():
            setattr(builtins, name, lambda *a, **k: "BREACH")
        """,
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "builtins that are gone",
        "import builtins\nfor name in list(vars(builtins)):\n    if name[0] != '_': delattr(builtins, name)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "imports that fail",
        "import builtins; builtins.__import__ = None; sys.meta_path.clear(); sys.path.clear()",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "an operating system that lies",
        """
        for name in ("write", "read", "fork", "_exit", "waitpid", "kill", "close", "pipe", "dup2"):
            setattr(os, name, lambda *a, **k: 0)
        """,
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram(
        "modules that lie",
        """
        class Lie:
            def __getattr__(self, name): return lambda *a, **k: b"BREACH"
        for name in list(sys.modules):
            if name != "__main__": sys.modules[name] = Lie()
        """,
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram("no modules at all", "sys.modules.clear()", ANYTHING, timeout_s=2.0, spoils=True),
    HostileProgram(
        "walk up the stack and empty every namespace",
        """
        frame = sys._getframe()
        while frame := frame.f_back:
            for key in list(frame.f_globals):
                if key[:2] != "__": frame.f_globals[key] = None
        """,
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram(
        "walk up the stack and look for what is expected",
        """
        frame = sys._getframe()
        while frame := frame.f_back:
            for names in (frame.f_locals, frame.f_globals):
                for key in list(names):
                    if any(word in key.lower() for word in ("expected", "secret", "answer", "verdict", "reward")):
                        print("BREACH", key)
        """,
    ),
    HostileProgram(
        "code of the grader in the same process",
        """
        for name in sys.modules:
            if any(word in name for word in ("verif", "grad", "reward", "agent_envs.env", "agent_envs.tasks")):
                print("BREACH", name)
        """,
    ),
    HostileProgram(
        "rewrite every function that can be found",
        """
        import gc, types
        def evil(*a, **k): return "BREACH"
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType) and "importlib" not in str(thing.__module__):
                try: thing.__code__ = evil.__code__
                except (ValueError, AttributeError): pass
        """,
        ANYTHING,
        timeout_s=2.0,
        spoils=True,
    ),
    HostileProgram(
        "an audit hook that refuses everything",
        "def no(*a): raise RuntimeError('no')\nsys.addaudithook(no)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram("an audit hook that leaves", "sys.addaudithook(lambda *a: os._exit(0))", ANYTHING, spoils=True),
    HostileProgram(
        "trace whoever comes next",
        """
        def bite(*a): os._exit(0)
        sys.settrace(bite); sys.setprofile(bite)
        import threading; threading.settrace(bite)
        len('')
        """,
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "no recursion for whoever comes next",
        "sys.setrecursionlimit(len(__import__('inspect').stack()) + 9)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "hooks that bite",
        """
        def bite(*a): os._exit(0)
        sys.displayhook = sys.excepthook = sys.unraisablehook = bite
        1
        raise ValueError('truth')
        """,
        FAILED,
        modes=_SESSION,
    ),
    HostileProgram(
        "a value that claims to be everything",
        """
        class Always:
            __eq__ = __ne__ = __bool__ = lambda *a: True
            __hash__ = lambda s: 0
            __repr__ = lambda s: 7
        Always()
        """,
        ANYTHING,
        modes=_SESSION,
    ),
    HostileProgram(
        "a value that runs when it is unpacked",
        "class Bomb:\n    def __reduce__(self): return (os.system, ('echo BREACH',))\nBomb()",
        ANYTHING,
        modes=_SESSION,
        # The address in its name may be shown, the command may not run.
        forbids=("BREACH",),
    ),
    HostileProgram(
        "a garbage collector that bites",
        """
        import gc
        gc.callbacks.append(lambda *a: os._exit(0))
        class Bite:
            def __del__(self): os._exit(0)
        b = Bite(); b.b = b; del b
        """,
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "a signal handler that bites later",
        "signal.signal(signal.SIGALRM, lambda *a: os._exit(0)); signal.setitimer(signal.ITIMER_REAL, 0.02)",
        ANYTHING,
        spoils=True,
    ),
    HostileProgram(
        "a cell that renames itself", "__name__ = 'x'; __builtins__ = {}; globals().clear()", ANYTHING, spoils=True
    ),
    HostileProgram("code that does not parse", "def (:\n", FAILED),
    HostileProgram("code with a hole in it", "print('before')\x00print('BREACH')", FAILED),
    HostileProgram("code with half a character", "x = '\udc80'\nprint(len(x))", ANYTHING),
    HostileProgram("code of a megabyte", "x = 0\n" + "x += 1\n" * 150_000 + "print('sum', x)", ANYTHING, timeout_s=8.0),
    HostileProgram("code nested too deep", "x = " + "(" * 5000 + ")" * 5000, FAILED),
    HostileProgram("a command line with a hole in it", "echo a\x00echo BREACH", ANYTHING, modes=SHELLS),
    HostileProgram("a message larger than allowed", "send(bytes(200 << 20))", ANYTHING, modes=(Mode.CHANNEL,)),
    HostileProgram(
        "messages for ever", "while True: send(bytes(1 << 16))", ANYTHING, modes=(Mode.CHANNEL,), timeout_s=0.5
    ),
    HostileProgram("a channel that stays silent", "time.sleep(600)", ANYTHING, modes=(Mode.CHANNEL,), timeout_s=0.3),
    HostileProgram("a channel that is left", "os._exit(0)", ANYTHING, modes=(Mode.CHANNEL,)),
    HostileProgram(
        "a channel that never reads", "send(b'x'); time.sleep(600)", ANYTHING, modes=(Mode.CHANNEL,), timeout_s=0.3
    ),
    HostileProgram(
        "a channel full of noise",
        "for fd in range(3, 64):\n    try: os.write(fd, os.urandom(4096))\n    except OSError: pass",
        ANYTHING,
        modes=(Mode.CHANNEL,),
        timeout_s=0.5,
    ),
    HostileProgram(
        "a channel that promises more than it sends",
        """
        for fd in range(3, 64):
            try: os.write(fd, b'\\x00\\x00\\xff\\x00')
            except OSError: pass
        time.sleep(600)
        """,
        ANYTHING,
        modes=(Mode.CHANNEL,),
        timeout_s=0.3,
    ),
)
