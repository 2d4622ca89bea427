"""The sandbox of Linux namespaces: no daemon, no image, no root; milliseconds to make, and nothing left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_envs.artifact import Artifact
from agent_envs.errors import ConfigError, ToolFailed
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
        return NamespaceSession(self._control, output_bytes=self._limits.output_bytes)

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
        """Not possible yet: raises `ToolFailed`."""
        raise ToolFailed("this sandbox cannot be copied")

    def close(self) -> None:
        """Destroy it and everything it started; idempotent."""
        self._control.close()

    def _run(self, order: dict[str, object], body: bytes, stdin: bytes, timeout_s: float) -> RunResult:
        limit = self._limits.output_bytes
        try:
            return _run.run_to_end(self._control, limit, order, body=body, stdin=stdin, timeout_s=timeout_s)
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
