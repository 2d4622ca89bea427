"""Programs that leave a workspace behind which harms whoever carries it out."""

from __future__ import annotations

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.hostile.program import (
    FINE,
    Check,
    HostileProgram,
)
from agent_envs.sandboxes.protocol import Sandbox

_SMALL = 1 << 16


def _read_is_refused(*paths: str) -> Check:
    def check(sandbox: Sandbox) -> str:
        for path in paths:
            try:
                content = sandbox.read_file(path, max_bytes=_SMALL)
            except ToolFailed:
                continue
            return f"read_file({path!r}) gave {content[:60]!r}"
        return ""

    return check


def _write_is_refused(path: str) -> Check:
    def check(sandbox: Sandbox) -> str:
        try:
            sandbox.write_file(path, b"written by the host")
        except ToolFailed:
            return ""
        return f"write_file({path!r}) was obeyed"

    return check


def _freeze_keeps_out(*names: str) -> Check:
    """The files arrive without these names, and each is listed with the reason."""

    def check(sandbox: Sandbox) -> str:
        artifact = sandbox.freeze(max_bytes=4 << 20)
        carried = [name for name in names if name in artifact.files]
        silent = [name for name in names if name not in artifact.rejected]
        if carried:
            return f"freeze carried {carried}"
        return f"freeze dropped {silent} without saying so" if silent else ""

    return check


def _freeze_carries(**files: bytes) -> Check:
    def check(sandbox: Sandbox) -> str:
        found = sandbox.freeze(max_bytes=4 << 20).files
        return "" if found == files else f"freeze found {sorted(found)[:8]} where {sorted(files)} was left"

    return check


def _freeze_is_bounded(sandbox: Sandbox) -> str:
    artifact = sandbox.freeze(max_bytes=1 << 20)
    size = sum(map(len, artifact.files.values()))
    if size > 1 << 20:
        return f"freeze carried {size} bytes where 1 MiB was allowed"
    return "" if artifact.rejected else "freeze dropped files without saying so"


def _freeze_survives(sandbox: Sandbox) -> str:
    sandbox.freeze(max_bytes=1 << 20)
    return ""


PROGRAMS = (
    HostileProgram(
        "an answer that is a link to the shadow passwords",
        "os.symlink('/etc/shadow', 'answer'); os.symlink('/proc/1/root/etc/shadow', 'other')",
        check=_read_is_refused("answer", "other"),
    ),
    HostileProgram(
        "a link in the frozen workspace",
        "os.symlink('/etc/hostname', 'answer'); os.symlink('/', 'all'); os.symlink('loop', 'loop')",
        check=_freeze_keeps_out("answer", "all", "loop"),
    ),
    HostileProgram(
        "a folder that is a link out",
        "os.symlink('/proc/1/root', 'out'); os.symlink('/etc', 'etc')",
        check=_read_is_refused(
            "etc/passwd", "out/etc/passwd", "../etc/passwd", "/etc/passwd", "a/../../etc/passwd", ""
        ),
    ),
    HostileProgram(
        "a place to write that is a link", "os.symlink('/tmp/target', 'answer')", check=_write_is_refused("answer")
    ),
    HostileProgram(
        "a folder to write into that is a link", "os.symlink('/tmp', 'out')", check=_write_is_refused("out/file")
    ),
    HostileProgram("a place to write outside", "", check=_write_is_refused("../escaped")),
    HostileProgram("a pipe in place of an answer", "os.mkfifo('answer')", check=_read_is_refused("answer")),
    HostileProgram("a pipe to write to", "os.mkfifo('answer')", check=_write_is_refused("answer")),
    HostileProgram("a pipe in the frozen workspace", "os.mkfifo('answer')", check=_freeze_keeps_out("answer")),
    HostileProgram(
        "an answer that is larger than asked for",
        "open('answer', 'wb').write(bytes(1 << 20))",
        check=_read_is_refused("answer"),
    ),
    HostileProgram(
        "an answer that has a terabyte of nothing",
        "open('answer', 'w')\ntry: os.truncate('answer', 1 << 40)\nexcept OSError: os.truncate('answer', 15 << 20)",
        check=_read_is_refused("answer"),
    ),
    HostileProgram(
        "a workspace that is larger than allowed",
        "for n in range(10): open(f'f{n}', 'wb').write(bytes(1 << 20))",
        check=_freeze_is_bounded,
    ),
    HostileProgram(
        "a workspace of ten thousand files",
        "try:\n    for n in range(10_000): open(f'f{n}', 'w').write('x')\nexcept OSError: pass",
        check=_freeze_survives,
    ),
    HostileProgram(
        "a workspace of a thousand levels",
        """
        try:
            for n in range(1000): os.mkdir('d'); os.chdir('d')
        except OSError: pass
        open('f', 'w').write('deep')
        """,
        check=_freeze_survives,
    ),
    HostileProgram(
        "names that are no text",
        r"open(b'\xff\xfe\n\x1b[2J', 'w').write('x'); open('a\nb', 'w').write('y'); open('-rf', 'w').write('z')",
        check=_freeze_survives,
    ),
    HostileProgram(
        "files that nobody may read",
        "open('kept', 'w').write('x'); os.chmod('kept', 0); os.mkdir('d'); open('d/f', 'w'); os.chmod('d', 0)",
        check=_freeze_survives,
    ),
    HostileProgram("a workspace that nobody may read", "open('f', 'w'); os.chmod('.', 0)", check=_freeze_survives),
    HostileProgram(
        "a workspace that is gone",
        """
        here = os.getcwd()
        try: os.rmdir(here)
        except OSError: pass
        try: os.rename(here, '/tmp/gone')
        except OSError: pass
        """,
        check=_freeze_survives,
    ),
    HostileProgram(
        "a file that changes while it is carried",
        """
        if os.fork() == 0:
            while True:
                for size in (1, 3 << 20):
                    try: os.truncate("answer", size)
                    except OSError: open("answer", "w")
        open("answer", "w").write("x")
        """,
        check=_freeze_survives,
    ),
    HostileProgram(
        "a file that is swapped for a link while it is read",
        """
        open("file", "w").write("own"); os.symlink("/etc/passwd", "link"); open("answer", "w").write("own")
        if os.fork() == 0:
            while True:
                os.rename("link", "answer"); os.symlink("/etc/passwd", "link")
                os.rename("file", "answer"); open("file", "w").write("own")
        """,
        check=_freeze_survives,
    ),
    HostileProgram(
        "a hard link to a file of the system",
        "attempt(os.link, '/etc/passwd', 'answer')",
        requires=("refused:",),
        check=_read_is_refused("answer"),
    ),
    HostileProgram(
        "modules planted in the workspace",
        """
        for name in "json os struct site sitecustomize usercustomize select traceback ast io".split():
            open(name + ".py", "w").write("print('BREACH planted'); import os; os._exit(0)")
        open("evil.pth", "w").write("import os; print('BREACH')")
        """,
        FINE,
    ),
    HostileProgram(
        "start files for the next shell and interpreter",
        """
        for name in (".bashrc", ".profile", ".bash_profile", ".pythonrc", "pyvenv.cfg", ".pdbrc"):
            open(name, "w").write("echo BREACH; exit 0")
            try: open(os.path.join(os.path.expanduser("~"), name), "w").write("echo BREACH; exit 0")
            except OSError: pass
        """,
        FINE,
    ),
    HostileProgram("an ordinary workspace", "open('a', 'w').write('1')", check=_freeze_carries(a=b"1")),
)
