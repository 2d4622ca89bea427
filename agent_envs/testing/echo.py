"""The smallest complete environment, and parts that do what they are told: for tests, without a sandbox."""

from __future__ import annotations

from typing import Unpack

from agent_envs.artifact import Artifact, Verdict
from agent_envs.env import AgentEnv
from agent_envs.errors import SandboxDied, ToolFailed
from agent_envs.options import CommonOptions
from agent_envs.session import AnswerSession, Session
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import ToolCall, ToolResult, tool
from agent_envs.verifiers import TextAnswer, Verifier


class EchoSession(AnswerSession):
    """Tools that repeat, refuse, or break our side, as they are asked to."""

    def __init__(self) -> None:
        self.closed = False

    @tool
    def echo(self, text: str, times: int = 1) -> str:
        """Repeat a text.

        Args:
            text: What to repeat.
            times: How often.
        """
        return text * max(0, min(times, 1000))

    @tool
    def refuse(self) -> ToolResult:
        """Refuse to do anything, as a tool does whose request cannot be met."""
        raise ToolFailed("this tool always refuses")

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    def fork(self) -> EchoSession:
        """Another one; it has no state to copy."""
        return EchoSession()


class BreakingSession(EchoSession):
    """An `EchoSession` with a tool that breaks our side."""

    @tool
    def break_down(self, how: str = "infra") -> str:
        """Break our side.

        Args:
            how: `infra` for a fault that we know, anything else for one that we do not.
        """
        if how == "infra":
            raise SandboxDied("the sandbox stopped answering")
        raise RuntimeError(how)


class FixedVerifier:
    """Returns the verdict it was given, and remembers what it was shown."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.seen: list[Artifact] = []

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The fixed verdict."""
        self.seen.append(artifact)
        return self.verdict


class ManualClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Seconds, as `time.monotonic` gives them."""
        return self.now


class EchoEnv(AgentEnv):
    """Say the word that the task names; complete, instant, and without a sandbox."""

    def __init__(
        self,
        *,
        verifier: Verifier | None = None,
        breakable: bool = False,
        render_mode: str | None = None,
        **options: Unpack[CommonOptions],
    ) -> None:
        self.session_class: type[EchoSession] = BreakingSession if breakable else EchoSession
        super().__init__(
            tasks=TaskSet.lazy("echo", _words),
            session=self.session_class,
            verifier=verifier or TextAnswer(),
            render_mode=render_mode,
            **options,
        )

    def open_session(self, task: Task) -> Session:
        """A session without a sandbox."""
        return self.session_class()


def _words() -> list[Task]:
    return [
        Task(
            id=f"echo/{word}",
            prompt=f"Submit the word {word!r}.",
            kind="text",
            secret={"answer": word},
            solution=(ToolCall("echo", {"text": word}), ToolCall("submit", {"answer": word})),
            wrong=((ToolCall("submit", {"answer": word[:-1]}),),),
        )
        for word in ("apple", "brücke", "雪", "four words at once", "🙂!", "zebra")
    ]
