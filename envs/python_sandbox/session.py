"""The agent's side of a Python sandbox: a persistent interpreter, a few file tools, and submitting."""

from __future__ import annotations

from dataclasses import replace

from agent_envs.artifact import Artifact
from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import PythonSession, Sandbox
from agent_envs.sandboxes.protocol import text
from agent_envs.session import Session, result_of
from agent_envs.tools import ToolResult, tool

READ_BYTES = 256 << 10
"""The largest file that `read_file` shows; longer ones are read in parts by Python itself."""


class _SandboxSession(Session):
    """What both modes share: a sandbox of their own, and an answer once there is one."""

    def __init__(self, sandbox: Sandbox, *, cell_seconds: float) -> None:
        self._sandbox = sandbox
        self._cell_seconds = cell_seconds
        self._answer: str | None = None

    def close(self) -> None:
        """Destroy the sandbox."""
        self._sandbox.close()

    @property
    def isolation(self) -> str:
        """The tier of the sandbox."""
        return self._sandbox.isolation


class PythonSandboxSession(_SandboxSession):
    """Python cells with state, files in the working directory, and a final answer."""

    def __init__(self, sandbox: Sandbox, *, cell_seconds: float) -> None:
        super().__init__(sandbox, cell_seconds=cell_seconds)
        self._python: PythonSession | None = None

    @tool(code="code")
    def python(self, code: str) -> ToolResult:
        """Run Python code in an interpreter that keeps its state between calls.

        Shows what was printed, the value of a last expression, and the traceback of an error. There is no network.

        Args:
            code: The source to run.
        """
        if self._python is None:
            self._python = self._sandbox.open_python()
        run = self._python.run(code, timeout_s=self._cell_seconds)
        return result_of(run, seconds=self._cell_seconds, keeps="interpreter")

    @tool
    def write_file(self, path: str, content: str) -> ToolResult:
        """Write a text file, replacing an older one.

        Args:
            path: Relative to the working directory; folders are made.
            content: The whole text of the file.
        """
        data = content.encode("utf-8", "surrogatepass")
        self._sandbox.write_file(path, data)
        return ToolResult(f"wrote {len(data)} bytes to {path}")

    @tool
    def read_file(self, path: str) -> ToolResult:
        """Read a text file.

        Args:
            path: Relative to the working directory.
        """
        return ToolResult(text(self._sandbox.read_file(path, max_bytes=READ_BYTES)))

    @tool
    def submit(self, answer: str = "", path: str = "") -> ToolResult:
        """Submit the final answer and end the episode: either the text itself or a file that holds it.

        Args:
            answer: The final answer; for a programming task the complete Python source.
            path: A file of the working directory to submit instead.
        """
        if answer and path:
            raise ToolFailed("both answer and path were given; submit exactly one of them")
        if path:
            answer = self._sandbox.read_file(path, max_bytes=READ_BYTES).decode("utf-8", "replace")
        self._answer = answer
        return ToolResult("submitted", ends=True)

    def freeze(self) -> Artifact:
        """The submitted text and the files of the working directory."""
        workspace = self._sandbox.freeze()
        return Artifact(
            answer=self._answer or "",
            submitted=self._answer is not None,
            files=workspace.files,
            rejected=workspace.rejected,
        )

    def fork(self) -> PythonSandboxSession:
        """A second session with a copy of the files and of the interpreter's state."""
        twin = PythonSandboxSession(self._sandbox.fork(), cell_seconds=self._cell_seconds)
        if self._python is not None:
            twin._python = twin._sandbox.open_python()
        return twin


class ProgramSession(_SandboxSession):
    """One program, run once in a fresh interpreter; what it prints is the answer."""

    @tool(code="code")
    def program(self, code: str) -> ToolResult:
        """Run a Python program; its standard output is the final answer, and the episode ends.

        Args:
            code: The complete source of the program.
        """
        run = self._sandbox.run_python(code, timeout_s=self._cell_seconds)
        self._answer = run.stdout.decode("utf-8", "replace").strip()
        return replace(result_of(run, seconds=self._cell_seconds), ends=True)

    def freeze(self) -> Artifact:
        """What the program printed."""
        return Artifact(answer=self._answer or "", submitted=self._answer is not None)
