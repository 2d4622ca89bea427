"""A backend without any isolation: plain processes in a temporary folder, for machines where nothing else works.

Guest code runs as the user who started us, with that user's files and network. `ladder.start_sandbox` takes it only
where it is told `allow_unsafe=True`. A Python session that must be killed starts afresh instead of rolling back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from agent_envs.artifact import Artifact
from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import _in_use
from agent_envs.sandboxes._subprocesses import Child
from agent_envs.sandboxes._unsafe_guests import Guest, UnsafeChannel, UnsafePython
from agent_envs.sandboxes.protocol import Channel, Limits, RunResult

_PREFIX = "agent-envs-unsafe-"
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
        self._root, held = _in_use.make_held(Path(tempfile.gettempdir()), f"{_PREFIX}{os.getuid()}-")
        self._let_go = weakref.finalize(self, os.close, held)
        self._workspace = self._root / "work"
        self._workspace.mkdir()
        self._open: list[Guest] = []
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
        self._let_go()

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


def sweep() -> int:
    """Remove the folders that dead processes have left behind, and say how many there were."""
    place = Path(tempfile.gettempdir())
    return _in_use.sweep(place, f"{_PREFIX}{os.getuid()}-*", partial(shutil.rmtree, ignore_errors=True))
