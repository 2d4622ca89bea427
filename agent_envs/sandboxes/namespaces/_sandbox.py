"""The sandbox of Linux namespaces: no daemon, no image, no root; milliseconds to make, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agent_envs.artifact import Artifact
from agent_envs.errors import ConfigError, ToolFailed
from agent_envs.sandboxes._journal import CellRan, Entry, Journal, Ran, Written
from agent_envs.sandboxes.namespaces import _run
from agent_envs.sandboxes.namespaces._channel import NamespaceChannel
from agent_envs.sandboxes.namespaces._control import Control, OutOfMemory
from agent_envs.sandboxes.namespaces._session import NamespaceSession
from agent_envs.sandboxes.namespaces._shell import NamespaceShell
from agent_envs.sandboxes.protocol import Limits, RunResult, SessionState, Status

_NO_MEMORY = "the memory limit of the sandbox was reached, and the whole of it was ended"


def start_namespace_sandbox(*, limits: Limits | None = None, packages: Sequence[str] = ()) -> NamespaceSandbox:
    """Start a sandbox; `packages` are the installed Python packages that the guest may import.

    Raises `SandboxUnavailable` where this machine does not allow it, and `ConfigError` where a package is not here.
    """
    limits = limits or Limits()
    return NamespaceSandbox(Control.open(tuple(packages), limits), limits=limits, packages=tuple(packages))


class NamespaceSandbox:
    """A place of its own for one episode: own processes, files, users and no network; used by one thread at a time."""

    def __init__(self, control: Control, *, limits: Limits, packages: tuple[str, ...]) -> None:
        self._control = control
        self._limits = limits
        self._packages = packages
        self._journal = Journal()
        self._session: NamespaceSession | None = None
        self._copied_session: NamespaceSession | None = None

    @property
    def isolation(self) -> str:
        """`namespaces+cgroup`, or `namespaces` where no control group bounds the memory of the whole."""
        return "namespaces+cgroup" if self._control.group is not None else "namespaces"

    def run(
        self,
        command: str | Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
    ) -> RunResult:
        """Run a program (a list) or a shell command line (a string) in a process of its own."""
        words = _run.shell_words(command)
        if not words:
            raise ConfigError("an empty list was given as a command; expected the program and its arguments")
        order: dict[str, object] = {"kind": "exec", "argv": words, "env": dict(env or {}), "cwd": cwd}
        return self._run(order, b"", stdin, timeout_s)

    def run_python(self, code: str, *, stdin: bytes = b"", timeout_s: float = 10.0) -> RunResult:
        """Run a Python program as `__main__` in a fresh interpreter state."""
        return self._run({"kind": "program"}, _encoded(code), stdin, timeout_s)

    def open_python(self) -> NamespaceSession:
        """Start an interpreter that keeps its state."""
        session, self._copied_session = self._copied_session, None
        if session is None or not session.alive:
            name = self._session.name + 1 if self._session is not None else 1
            limit = self._limits.output_bytes
            session = NamespaceSession(self._control, self._journal, output_bytes=limit, name=name)
        self._session = session
        return session

    def open_shell(self) -> NamespaceShell:
        """Start a shell that keeps its state."""
        return NamespaceShell(self._control, output_bytes=self._limits.output_bytes)

    def open_channel(self, code: str) -> NamespaceChannel:
        """Run a Python program in a fresh state with a framed message channel to the host."""
        return NamespaceChannel(self._control, output_bytes=self._limits.output_bytes).open(_encoded(code))

    def read_file(self, path: str, *, max_bytes: int = 1 << 20) -> bytes:
        """Read a regular file of the workspace; links are not followed."""
        try:
            return self._control.ask({"order": "read", "path": path, "limit": max_bytes}).body
        except OutOfMemory:
            raise ToolFailed(_NO_MEMORY) from None

    def write_file(self, path: str, content: bytes) -> None:
        """Write a regular file of the workspace, making its folders; links are not followed."""
        try:
            self._control.ask({"order": "write", "path": path}, content)
            self._journal.add(Written(path, content))
        except OutOfMemory:
            raise ToolFailed(_NO_MEMORY) from None

    def freeze(self, *, max_bytes: int = 16 << 20) -> Artifact:
        """Stop the guest for good and carry its workspace out as data."""
        try:
            answer = self._control.ask({"order": "walk", "limit": max_bytes})
        except OutOfMemory:
            return Artifact(rejected={".": _NO_MEMORY})
        files, start = {}, 0
        for path, size in answer.header["files"]:
            files[path] = answer.body[start : start + size]
            start += size
        return Artifact(files=files, rejected=dict(answer.header["rejected"]))

    def fork(self) -> NamespaceSandbox:
        """A second, independent sandbox with a copy of this one's workspace; its `open_python` goes on where the Python
        session of this one that was opened last is now.

        The session is copied by running again, in order, what has led to it: the cells that became part of its state,
        and the files and programs before them. It counts as a copy only if each cell shows the same again; where one
        does not (it looks at the clock, draws true random numbers), `ToolFailed` is raised and nothing is left behind.
        It takes as long as those cells took. /tmp is not copied, nor are running programs and shells.
        """
        twin = start_namespace_sandbox(limits=self._limits, packages=self._packages)
        try:
            if self._session is not None and self._session.alive:
                twin._repeat(self._journal.story_of(self._session.name))
            files = self._control.ask({"order": "pack"})
            twin._control.ask({"order": "unpack", "entries": files.header["entries"]}, files.body)
        except OutOfMemory:
            twin.close()
            raise ToolFailed(_NO_MEMORY) from None
        except BaseException:
            twin.close()
            raise
        return twin

    def _repeat(self, story: Iterator[Entry]) -> None:
        session = self._copied_session = self.open_python()
        for entry in story:
            match entry:
                case Written(path, content):
                    self.write_file(path, content)
                case Ran(order, body, stdin, seconds):
                    self._run(order, body, stdin, seconds * 4.0 + 1.0)
                case CellRan():
                    session.repeat(replace(entry, session=session.name))

    def close(self) -> None:
        """Destroy it and everything it started; idempotent."""
        self._control.close()

    def _run(self, order: dict[str, object], body: bytes, stdin: bytes, timeout_s: float) -> RunResult:
        limit = self._limits.output_bytes
        try:
            result = _run.run_to_end(self._control, limit, order, body=body, stdin=stdin, timeout_s=timeout_s)
            self._journal.add(Ran(order, body, stdin, result.wall_s))
            return result
        except OutOfMemory:
            return RunResult(
                status=Status.OUT_OF_MEMORY,
                stderr=_NO_MEMORY.encode(),
                exit_code=-1,
                signal=9,
                state=SessionState.LOST,
            )


def _encoded(code: str) -> bytes:
    return code.encode("utf-8", "surrogatepass")
