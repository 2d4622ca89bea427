"""A sandbox over a stored image: the namespaces backend with another root, and the interpreter of the image."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

from agent_envs.artifact import Artifact
from agent_envs.errors import ConfigError, ToolFailed
from agent_envs.sandboxes.images import Entry, Manifest
from agent_envs.sandboxes.namespaces import _run
from agent_envs.sandboxes.namespaces._control import Control, OutOfMemory
from agent_envs.sandboxes.namespaces._shell import NamespaceShell
from agent_envs.sandboxes.namespaces._wire import Message
from agent_envs.sandboxes.protocol import Limits, RunResult, SessionState, Status
from agent_envs.sandboxes.roots import _guests, _python

_GIT = ".git"
_NO_MEMORY = "the memory limit of the sandbox was reached, and the whole of it was ended"


class RootSandbox:
    """A place of its own for one episode over an image; used by one thread at a time.

    Python is the image's own `python3`. What happens outside the workspace is kept until the end and never carried out.
    """

    def __init__(
        self,
        control: Control,
        limits: Limits,
        *,
        workspace: str,
        manifest: Manifest | None = None,
        bash: bool = False,
        volumes: Collection[str] = (),
        start_again: Callable[[], RootSandbox] | None = None,
    ) -> None:
        self._control = control
        self._limits = limits
        self._workspace = workspace
        self._manifest = manifest or {}
        self._bash = bash
        self._start_again = start_again
        self._volumes = [self._relative(path) for path in volumes if path.startswith(f"{workspace}/")]
        self._sessions: list[_python.RootPython] = []

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
        return self._run({"argv": words, "env": dict(env or {}), "cwd": cwd}, stdin, timeout_s)

    def run_python(self, code: str, *, stdin: bytes = b"", timeout_s: float = 10.0) -> RunResult:
        """Run a Python program as `__main__` in a fresh interpreter of the image."""
        with _python.program_file(_encoded(code)) as file:
            return self._run(_python.order(_guests.PROGRAM), stdin, timeout_s, {_guests.PRIVATE: file})

    def open_python(self) -> _python.RootPython:
        """Start an interpreter of the image that keeps its state."""
        session = _python.RootPython(self._control, output_bytes=self._limits.output_bytes)
        self._sessions.append(session)
        return session

    def open_shell(self) -> NamespaceShell:
        """Start a shell that keeps its state: the image's bash, or its sh where it has none."""
        return NamespaceShell(self._control, output_bytes=self._limits.output_bytes, bash=self._bash)

    def open_channel(self, code: str) -> _python.RootChannel:
        """Run a Python program in a fresh interpreter with a framed message channel to the host."""
        channel = _python.RootChannel(self._control, output_bytes=self._limits.output_bytes)
        channel.open(_encoded(code))
        return channel

    def read_file(self, path: str, *, max_bytes: int = 1 << 20) -> bytes:
        """Read a regular file of the workspace; links are not followed."""
        return self._ask({"order": "read", "path": self._relative(path), "limit": max_bytes}).body

    def write_file(self, path: str, content: bytes) -> None:
        """Write a regular file of the workspace, making its folders; links are not followed."""
        self._ask({"order": "write", "path": self._relative(path)}, content)

    def freeze(self, *, max_bytes: int = 16 << 20) -> Artifact:
        """Stop the guest for good and carry its whole workspace out as data."""
        try:
            answer = self._control.ask({"order": "walk", "limit": max_bytes, "leave_out": self._volumes})
        except OutOfMemory:
            return Artifact(rejected={".": _NO_MEMORY})
        sizes = [(path, size) for path, size in answer.header["files"]]
        return Artifact(files=_cut(sizes, answer.body), rejected=dict(answer.header["rejected"]))

    def freeze_changes(self, *, max_bytes: int = 64 << 20) -> Artifact:
        """Stop the guest for good and carry out what differs from the image's workspace.

        A path of the image where now something stands that is not carried is in `rejected` and not in `deleted`.
        """
        base = {path: (entry.kind, entry.digest, entry.executable) for path, entry in self._manifest.items()}
        try:
            order = {"order": "changes", "limit": max_bytes, "leave_out": [_GIT, *self._volumes]}
            answer = self._control.ask(order, json.dumps(base).encode())
        except OutOfMemory:
            return Artifact(rejected={".": _NO_MEMORY})
        files = answer.header["files"]
        return Artifact(
            files=_cut([(path, size) for path, size, _ in files], answer.body),
            rejected=dict(answer.header["rejected"]),
            state={
                "deleted": list(answer.header["deleted"]),
                "executable": [path for path, _, executable in files if executable],
            },
        )

    def fork(self) -> RootSandbox:
        """A second, independent sandbox from the same image with a copy of this one's workspace.

        Nothing else is copied: no file outside the workspace, no running program. A live Python session cannot be.
        """
        if self._start_again is None or any(session.alive for session in self._sessions):
            raise ToolFailed("a Python session over an image cannot be copied; close it first")
        if self._volumes:
            raise ToolFailed(f"a workspace with read-only volumes in it cannot be copied: {', '.join(self._volumes)}")
        twin = self._start_again()
        try:
            files = self._ask({"order": "pack"})
            twin._ask({"order": "unpack", "entries": files.header["entries"]}, files.body)
        except BaseException:
            twin.close()
            raise
        return twin

    def look(self) -> dict[str, Entry]:
        """The manifest of the workspace as it is now, told by process 1."""
        told = json.loads(self._ask({"order": "manifest", "leave_out": [_GIT]}).body)
        return {path: Entry(kind, digest, executable) for path, (kind, digest, executable) in told.items()}

    def close(self) -> None:
        """Destroy it and everything it started; idempotent."""
        self._control.close()

    def _run(
        self, order: dict[str, object], stdin: bytes, timeout_s: float, descriptors: Mapping[int, int] | None = None
    ) -> RunResult:
        try:
            return _run.run_to_end(
                self._control,
                self._limits.output_bytes,
                {"kind": "exec", **order},
                stdin=stdin,
                timeout_s=timeout_s,
                descriptors=descriptors or {},
            )
        except OutOfMemory:
            stderr = _NO_MEMORY.encode()
            state = SessionState.LOST
            return RunResult(status=Status.OUT_OF_MEMORY, stderr=stderr, exit_code=-1, signal=9, state=state)

    def _ask(self, order: dict[str, object], body: bytes = b"") -> Message:
        try:
            return self._control.ask(order, body)
        except OutOfMemory:
            raise ToolFailed(_NO_MEMORY) from None

    def _relative(self, path: str) -> str:
        """The path below the workspace; an absolute one must name it."""
        if path == self._workspace or path.startswith(f"{self._workspace}/"):
            return path[len(self._workspace) :].strip("/")
        if path.startswith("/"):
            raise ToolFailed(f"{path} is outside the working directory {self._workspace}")
        return path


def _cut(sizes: Sequence[tuple[str, int]], contents: bytes) -> dict[str, bytes]:
    files, start = {}, 0
    for path, size in sizes:
        files[path] = contents[start : start + size]
        start += size
    return files


def _encoded(code: str) -> bytes:
    return code.encode("utf-8", "surrogatepass")
