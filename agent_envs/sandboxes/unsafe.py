"""A backend without any isolation: plain processes in a temporary folder, for machines where nothing else works.

Guest code runs as the user who started us, with that user's files and network. `ladder.start_sandbox` takes it only
where it is told `allow_unsafe=True`. A Python session that must be killed starts afresh instead of rolling back.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent_envs.artifact import Artifact
from agent_envs.errors import SandboxDied, ToolFailed
from agent_envs.sandboxes._subprocesses import Child
from agent_envs.sandboxes.protocol import Channel, ChannelClosed, Limits, RunResult, SessionState, Status

_PREFIX = "agent-envs-unsafe"
_LENGTH = struct.Struct("<I")
_MOST_BYTES = 64 << 20

_CELLS = """
import ast, json, os, sys, traceback
requests, answers = os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w")
names = {"__name__": "__main__"}
def run(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    return "" if value is None else repr(value)
for line in requests:
    answer = {"ok": True, "value": ""}
    try:
        answer["value"] = run(json.loads(line))
    except BaseException:
        traceback.print_exc()
        answer["ok"] = False
    sys.stdout.flush(); sys.stderr.flush()
    print(json.dumps(answer), file=answers, flush=True)
"""

_MESSAGES = """
import os, struct, sys
def receive(_read=os.fdopen(int(sys.argv[1]), "rb").read, _unpack=struct.Struct("<I").unpack):
    return _read(_unpack(_read(4))[0])
def send(message, _to=os.fdopen(int(sys.argv[2]), "wb"), _pack=struct.Struct("<I").pack):
    _to.write(_pack(len(message)) + message); _to.flush()
exec(compile(open(sys.argv[3]).read(), "<program>", "exec"), {"__name__": "__main__", "receive": receive, "send": send})
"""

_SHELL = """
cd "$(cat "$1/cwd")" && . "$1/env" || exit 125
trap 'code=$?; pwd > "$1/cwd"; export -p > "$1/env"; exit $code' EXIT
eval "$2"
"""


class UnsafeSandbox:
    """A temporary folder in which programs run with no isolation at all."""

    isolation = "none"

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}.{os.getpid()}."))
        self._workspace = self._root / "work"
        self._workspace.mkdir()
        self._open: list[_Guest] = []
        self._programs = 0

    def run(
        self,
        command: str | Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
    ) -> RunResult:
        """Run a program (a list) or a shell command line (a string)."""
        arguments = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if any("\0" in argument for argument in arguments):
            raise ToolFailed("a command cannot contain a NUL character")
        child = Child(arguments, limits=self._limits, cwd=self._workspace / cwd, env={**self._env(), **(env or {})})
        return child.wait(stdin=stdin, timeout_s=timeout_s)

    def run_python(self, code: str, *, stdin: bytes = b"", timeout_s: float = 10.0) -> RunResult:
        """Run a Python program in an interpreter of its own."""
        return self.run([sys.executable, str(self._save(code))], stdin=stdin, timeout_s=timeout_s)

    def open_python(self) -> UnsafePython:
        """Start an interpreter that keeps its state."""
        session = UnsafePython(self._root, self._limits, self._env())
        self._open.append(session)
        return session

    def open_shell(self) -> UnsafeShell:
        """Start a shell that keeps its working directory and exported variables."""
        return UnsafeShell(self, Path(tempfile.mkdtemp(dir=self._root)), self._workspace)

    def open_channel(self, code: str) -> Channel:
        """Run a Python program that exchanges messages with the host."""
        channel = UnsafeChannel(self._root, self._limits, self._env(), self._save(code))
        self._open.append(channel)
        return channel

    def read_file(self, path: str, *, max_bytes: int = 1 << 20) -> bytes:
        """Read a regular file of the workspace; links are not followed."""
        with self._opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise ToolFailed(f"{path} is not a regular file")
            if found.st_size > max_bytes:
                raise ToolFailed(f"{path} has {found.st_size} bytes; at most {max_bytes} can be read")
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(max_bytes)

    def write_file(self, path: str, content: bytes) -> None:
        """Write a regular file of the workspace, making its folders; links are not followed."""
        with self._opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ToolFailed(f"{path} is not a regular file")
            with open(descriptor, "wb", closefd=False) as file:
                file.write(content)

    def freeze(self, *, max_bytes: int = 16 << 20) -> Artifact:
        """Stop what runs here and carry the workspace out as data."""
        self._stop()
        files: dict[str, bytes] = {}
        rejected: dict[str, str] = {}
        room = max_bytes
        for path in sorted(self._workspace.rglob("*")):
            name = str(path.relative_to(self._workspace))
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                rejected[name] = "not a regular file"
            elif path.is_file():
                try:
                    files[name] = self.read_file(name, max_bytes=room)
                    room -= len(files[name])
                except ToolFailed as error:
                    rejected[name] = str(error)
        return Artifact(files=files, rejected=rejected)

    def fork(self) -> UnsafeSandbox:
        """A second sandbox with a copy of this one's files; a live Python session cannot be copied."""
        if any(isinstance(guest, UnsafePython) and guest.alive for guest in self._open):
            raise ToolFailed("a Python session without isolation cannot be copied; close it first")
        twin = UnsafeSandbox(limits=self._limits)
        shutil.copytree(self._workspace, twin._workspace, symlinks=True, dirs_exist_ok=True)
        return twin

    def close(self) -> None:
        """Kill what runs here and remove the folder; idempotent."""
        self._stop()
        shutil.rmtree(self._root, ignore_errors=True)

    def _stop(self) -> None:
        while self._open:
            self._open.pop().close()

    def _env(self) -> dict[str, str]:
        # Nothing of our environment: it may hold keys.
        home = str(self._workspace)
        return {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONUTF8": "1"}

    def _save(self, code: str) -> Path:
        self._programs += 1
        path = self._root / f"program{self._programs}.py"
        path.write_text(code, encoding="utf-8", errors="surrogatepass")
        return path

    @contextlib.contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        parts = Path(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\0" in path:
            raise ToolFailed(f"{path!r} is not a path inside the workspace")
        with contextlib.ExitStack() as opened:
            try:
                folder = os.open(self._workspace, os.O_DIRECTORY)
                opened.callback(os.close, folder)
                for part in parts[:-1]:
                    if flags & os.O_CREAT:
                        with contextlib.suppress(FileExistsError):
                            os.mkdir(part, dir_fd=folder)
                    folder = os.open(part, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                    opened.callback(os.close, folder)
                descriptor = os.open(parts[-1], flags | os.O_NOFOLLOW, 0o644, dir_fd=folder)
                opened.callback(os.close, descriptor)
            except OSError as error:
                raise ToolFailed(f"{path} cannot be opened: {error.strerror} (links are not followed)") from error
            yield descriptor


class _Guest:
    """A guest program with a pipe in each direction besides its standard streams."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str], program: str, *arguments: str) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        command = [sys.executable, "-u", "-c", program, str(theirs_in), str(theirs_out), *arguments]
        try:
            self._child = Child(command, limits=limits, cwd=root / "work", env=env, descriptors=(theirs_in, theirs_out))
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self.alive = True

    def _send(self, data: bytes) -> None:
        self._out.write(data)

    def close(self) -> None:
        """End it; idempotent."""
        if self.alive:
            self.alive = False
            self._child.kill()
            self._in.close()
            self._out.close()


class UnsafePython(_Guest):
    """An interpreter that keeps its state; a cell that must be killed takes the state with it."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str]) -> None:
        self._start = (root, limits, env)
        super().__init__(*self._start, _CELLS)

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell."""
        if not self.alive:
            super().__init__(*self._start, _CELLS)
        self._child.forget()
        line = b""
        with contextlib.suppress(BrokenPipeError):
            self._send(json.dumps(code).encode() + b"\n")
        answered = self._child.wait_for(self._in.fileno(), timeout_s=timeout_s)
        if answered:
            line = self._in.readline()
        try:
            answer = json.loads(line)
            value, status = str(answer["value"]), Status.OK if answer["ok"] else Status.ERROR
        except (ValueError, KeyError, TypeError):
            result = self._child.finish(late=not answered, state=SessionState.LOST)
            self.close()
            return result
        return self._child.result(status, code=int(status is Status.ERROR), value=value, state=SessionState.KEPT)


class UnsafeShell:
    """A shell whose working directory and exported variables are carried from one command to the next."""

    def __init__(self, sandbox: UnsafeSandbox, memory: Path, workspace: Path) -> None:
        self._sandbox = sandbox
        self._memory = memory
        (memory / "cwd").write_text(str(workspace))
        (memory / "env").write_text("")

    def run(self, command: str, *, timeout_s: float = 60.0) -> RunResult:
        """Run one command line."""
        return self._sandbox.run(["/bin/sh", "-c", _SHELL, "sh", str(self._memory), command], timeout_s=timeout_s)

    def close(self) -> None:
        """Forget its state; idempotent."""
        shutil.rmtree(self._memory, ignore_errors=True)


class UnsafeChannel(_Guest):
    """A guest program that exchanges messages with the host."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str], program: Path) -> None:
        super().__init__(root, limits, env, _MESSAGES, str(program))

    def send(self, message: bytes, *, timeout_s: float) -> None:
        """Send one message; it is bounded by what the pipe takes in time."""
        packet = memoryview(_LENGTH.pack(len(message)) + message)
        os.set_blocking(self._out.fileno(), False)
        while packet:
            try:
                packet = packet[os.write(self._out.fileno(), packet) :]
            except BlockingIOError:
                if not self._child.wait_writable(self._out.fileno(), timeout_s=timeout_s):
                    raise ChannelClosed("the program does not read its messages") from None
            except BrokenPipeError:
                raise ChannelClosed("the program has ended") from None

    def receive(self, *, timeout_s: float) -> bytes:
        """Wait for one message."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size, timeout_s))
        if length > _MOST_BYTES:
            raise ChannelClosed(f"the program announced a message of {length} bytes; {_MOST_BYTES} are allowed")
        return self._exactly(length, timeout_s)

    def result(self) -> RunResult:
        """End the program and say how it ended."""
        if not self.alive:
            raise SandboxDied("the channel has been closed already")
        result = self._child.finish(late=False)
        self.close()
        return result

    def _exactly(self, size: int, timeout_s: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            if not self._child.wait_for(self._in.fileno(), timeout_s=timeout_s):
                raise ChannelClosed("the program stayed silent")
            more = os.read(self._in.fileno(), size - len(data))
            if not more:
                raise ChannelClosed("the program has ended")
            data += more
        return bytes(data)


def sweep() -> int:
    """Remove the folders that dead processes have left behind, and say how many there were."""
    left = [
        path
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}.*.*")
        if not Path("/proc", path.name.split(".")[1]).exists() and path.owner() == Path("/proc/self").owner()
    ]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)
