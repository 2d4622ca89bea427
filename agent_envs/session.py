"""The live side of one episode: an object whose `@tool` methods are what the agent can do.

A session owns the episode's sandbox, browser or game. The loop (`agent_envs.env`) calls its tools, freezes it into an
`Artifact` when the episode ends, and closes it before anything is verified.
"""

from __future__ import annotations

from agent_envs.artifact import Artifact
from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status, text
from agent_envs.tools import ToolResult, tool


class Session:
    """One live episode. Subclass it, add `@tool` methods, and release in `close` what `__init__` acquired."""

    opening = ""
    """What there is to see before the first action; the last part of the first observation."""

    def freeze(self) -> Artifact:
        """Everything the verifier may know, as data; called once, before `close`."""
        return Artifact()

    def close(self) -> None:
        """Release everything; idempotent, and safe where the session is half open."""

    def fork(self) -> Session:
        """A second, independent session that continues from this state.

        Raises `ToolFailed` where such a copy cannot be made.
        """
        raise ToolFailed(f"{type(self).__name__} cannot be forked; replay the episode in a new environment instead")

    @property
    def isolation(self) -> str:
        """The honest name of what separates the agent from this machine."""
        return "none needed"

    @property
    def metrics(self) -> dict[str, float]:
        """Named figures of the episode that rewards may use, for instance `diff_lines`."""
        return {}


class AnswerSession(Session):
    """A session whose agent ends the episode by submitting a text."""

    answer = ""
    submitted = False

    @tool
    def submit(self, answer: str) -> ToolResult:
        """Submit the final answer. This ends the episode.

        Args:
            answer: The final answer, without explanation.
        """
        self.answer, self.submitted = answer, True
        return ToolResult("submitted", ends=True)

    def freeze(self) -> Artifact:
        """The submitted answer, and whether there was one."""
        return Artifact(answer=self.answer, submitted=self.submitted)


def result_of(run: RunResult, *, seconds: float, keeps: str = "") -> ToolResult:
    """What the agent gets to know of a run: its output, and its error where it did not end well.

    `seconds` was its time limit; `keeps` says what holds the state between runs (`interpreter`, `shell`), if anything.
    """
    error = "" if run.ok else "timeout" if run.status is Status.TIMEOUT else "tool_failed"
    return ToolResult(_shown(run, seconds, keeps), error=error, ran=run.ok)


def _shown(run: RunResult, seconds: float, keeps: str) -> str:
    """Output, then the value or the traceback, then how it ended if not well."""
    ending = {
        Status.TIMEOUT: f"timeout: stopped after {seconds:g} s",
        Status.KILLED: f"the process was ended by signal {run.signal}"
        if run.signal
        else "the process exited by itself",
        Status.OUT_OF_MEMORY: "out of memory: the memory limit of the sandbox was reached",
        Status.OUTPUT_LIMIT: "too much output: the run was stopped",
    }.get(run.status, "")
    if run.status is Status.ERROR and (keeps == "shell" or not run.stderr):
        ending = f"exit status {run.exit_code}"
    states = {
        SessionState.ROLLED_BACK: "; variables are as they were before this cell",
        SessionState.LOST: f"; the {keeps} was restarted and all variables are lost",
    }
    ending += states.get(run.state, "") if keeps else ""
    dropped = f"[{run.dropped_bytes} bytes of output dropped]" if run.dropped_bytes else ""
    parts = (text(run.stdout), text(run.stderr), run.value, dropped, f"[{ending.lstrip('; ')}]" if ending else "")
    return "\n".join(part.rstrip("\n") for part in parts if part) or "(no output)"
