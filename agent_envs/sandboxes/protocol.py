"""The sandbox protocol: the words every backend speaks and every environment relies on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # For its name alone: this module is also imported where nothing but the standard library is.
    from agent_envs.artifact import Artifact


class Status(StrEnum):
    """How a piece of guest code ended, as seen by the trusted side."""

    OK = "ok"
    """It ran to its end (a command: exit status 0)."""
    ERROR = "error"
    """It raised, or its exit status is not 0."""
    TIMEOUT = "timeout"
    """It was killed because its time was up."""
    KILLED = "killed"
    """A signal ended it (see `RunResult.signal`), or it left without finishing."""
    OUT_OF_MEMORY = "oom"
    """The memory limit ended it."""
    OUTPUT_LIMIT = "output_limit"
    """It was killed because it printed more than `Limits.output_bytes`."""


class SessionState(StrEnum):
    """What became of the state of a persistent session."""

    KEPT = "kept"
    """Everything the cell did is still there."""
    ROLLED_BACK = "rolled_back"
    """The session is as it was before the cell."""
    LOST = "lost"
    """The session starts afresh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one sandbox may use; every figure is a hard bound."""

    memory_mb: int = 1024
    """Of the whole sandbox where a memory cgroup is writable, else of each process; `Sandbox.isolation` says which."""
    processes: int = 64
    file_mb: int = 64
    """The largest file it may write."""
    disk_mb: int = 64
    """Size of each of its writable file systems."""
    output_bytes: int = 1 << 20
    """Of standard output and standard error, each, per run."""
    open_files: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What one run left to see. Bytes are kept as they came; `text` makes them readable."""

    status: Status
    stdout: bytes = b""
    stderr: bytes = b""
    value: str = ""
    """For a Python cell, `repr` of its last expression; empty where that is None or absent."""
    exit_code: int = 0
    """The exit status, or -1 where a signal ended it."""
    signal: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_mb: float = 0.0
    dropped_bytes: int = 0
    """Output beyond the limit that was thrown away."""
    state: SessionState = SessionState.KEPT

    @property
    def ok(self) -> bool:
        """Whether it ran to its end."""
        return self.status is Status.OK


def text(output: bytes) -> str:
    """Guest output as printable text: invalid UTF-8, NUL and terminal control sequences become visible escapes."""
    lines = output.decode("utf-8", "backslashreplace").replace("\r\n", "\n").split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines)


def _escaped(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in line)


class PythonSession(Protocol):
    """A Python interpreter that keeps its state between cells."""

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell. A cell that times out, crashes or exits leaves the state as it was before it."""

    def close(self) -> None:
        """End the interpreter; idempotent."""


class Shell(Protocol):
    """A shell that keeps its working directory and environment between commands."""

    def run(self, command: str, *, timeout_s: float = 60.0) -> RunResult:
        """Run one command line. A hung command is killed with everything it started; the shell stays usable."""

    def close(self) -> None:
        """End the shell; idempotent."""


class Channel(Protocol):
    """A running guest process that speaks framed messages with the host over a channel of its own."""

    def send(self, message: bytes, *, timeout_s: float) -> None:
        """Send one message; raises `ChannelClosed` where the process is gone."""

    def receive(self, *, timeout_s: float) -> bytes:
        """Wait for one message; raises `ChannelClosed` where the process is gone or too late."""

    def result(self) -> RunResult:
        """End the process and say how it ended."""


class ChannelClosed(Exception):
    """The guest process ended, stayed silent too long, or sent more than it may."""


class Sandbox(Protocol):
    """One isolated place, owned by one episode."""

    @property
    def isolation(self) -> str:
        """The honest name of what separates the guest from this machine, for instance `namespaces+cgroup`."""

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

    def run_python(self, code: str, *, stdin: bytes = b"", timeout_s: float = 10.0) -> RunResult:
        """Run a Python program as `__main__` in a fresh interpreter state."""

    def open_python(self) -> PythonSession:
        """Start an interpreter that keeps its state."""

    def open_shell(self) -> Shell:
        """Start a shell that keeps its state."""

    def open_channel(self, code: str) -> Channel:
        """Run a Python program in a fresh state with a framed message channel to the host.

        The program finds two functions in its namespace, `receive() -> bytes` and `send(message: bytes)`.
        """

    def read_file(self, path: str, *, max_bytes: int = 1 << 20) -> bytes:
        """Read a regular file of the workspace; links are not followed.

        Raises `ToolFailed` with a message fit for the agent where there is no such file.
        """

    def write_file(self, path: str, content: bytes) -> None:
        """Write a regular file of the workspace, making its folders; links are not followed.

        Raises `ToolFailed` where it cannot be written.
        """

    def freeze(self, *, max_bytes: int = 16 << 20) -> Artifact:
        """Stop the guest for good and carry its workspace out as data."""

    def fork(self) -> Sandbox:
        """A second, independent sandbox with a copy of this one's files; its `open_python` continues a copy of the live
        Python session.

        Raises `ToolFailed` where no true copy of the session can be made.
        """

    def close(self) -> None:
        """Destroy it and everything it started; idempotent."""
