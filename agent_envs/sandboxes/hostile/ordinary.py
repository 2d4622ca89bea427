"""Programs that are not hostile at all: a sandbox that refuses these is safe and useless."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.program import (
    SHELLS,
    HostileProgram,
)


def _works(name: str, code: str, *, says: str) -> HostileProgram:
    return HostileProgram(name, code, requires=(says,), timeout_s=10.0)


def _command(name: str, code: str, *, says: str) -> HostileProgram:
    return HostileProgram(name, code, requires=(says,), timeout_s=10.0, modes=SHELLS)


PROGRAMS = (
    _works(
        "asyncio",
        "import asyncio\nasync def f(): await asyncio.sleep(0); return 42\nprint(asyncio.run(f()))",
        says="42",
    ),
    _works(
        "threads",
        "from concurrent.futures import ThreadPoolExecutor as T\nwith T(8) as t: print(sum(t.map(abs, range(10))))",
        says="45",
    ),
    _works(
        "a pool of processes",
        "import multiprocessing\ndef square(x): return x * x\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(square, [1, 2, 3]))",
        says="[1, 4, 9]",
    ),
    _works(
        "another interpreter",
        "import subprocess; print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True).stdout)",
        says="42",
    ),
    _works(
        "a shell", "import subprocess; print(subprocess.check_output('echo $((6 * 7)) | cat', shell=True))", says="42"
    ),
    _works("temporary files", "import tempfile\nwith tempfile.TemporaryFile() as f: print(f.write(b'abc'))", says="3"),
    _works(
        "a data class", "from dataclasses import dataclass\n@dataclass\nclass P: x: int\nprint(P(3))", says="P(x=3)"
    ),
    _works("a database", "import sqlite3; print(sqlite3.connect('db').execute('select 6 * 7').fetchall())", says="42"),
    _works(
        "random numbers and time",
        "import random, secrets; secrets.token_hex(); print(time.time() > 1.7e9)",
        says="True",
    ),
    _works("an error that is caught", "try: 1 / 0\nexcept ZeroDivisionError as e: print('caught', e)", says="caught"),
    _works("half the memory", "block = bytearray(100 << 20); print(len(block) >> 20)", says="100"),
    _works("unicode", "print('na\u00efve \u2603 \U0001f600')", says="na\u00efve \u2603 \U0001f600"),
    _command("pipes and files", "seq 10 > n; sort -rn n | head -1; test -s n && echo yes", says="yes"),
    _command("jobs", "for i in 1 2 3; do (sleep 0.01; echo $i) & done; wait; echo all", says="all"),
    _command("an interpreter", "python3 -c 'print(6 * 7)' || python -c 'print(6 * 7)'", says="42"),
)
