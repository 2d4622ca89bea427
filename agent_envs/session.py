"""The live side of one episode: an object whose `@tool` methods are what the agent can do.

A session owns the episode's sandbox, browser or game. The loop (`agent_envs.env`) calls its tools, freezes it into an
`Artifact` when the episode ends, and closes it before anything is verified.
"""

from __future__ import annotations

from agent_envs.artifact import Artifact
from agent_envs.errors import ToolFailed
from agent_envs.tools import ToolResult, tool


class Session:
    """One live episode. Subclass it, add `@tool` methods, and release in `close` what `__init__` acquired."""

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
