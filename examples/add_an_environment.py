"""A new environment in one file: find a number that only the session knows. Run it as it stands."""

from __future__ import annotations

import gymnasium

from agent_envs import AgentEnv, AnswerSession, Artifact, GeneratedTaskSet, Task, ToolCall, ToolResult, Verdict, tool
from agent_envs.agents import OracleAgent, play_episode
from agent_envs.testing import check_agent_env


def make_task(seed: int) -> Task:
    """Task number `seed`: its number must be found by halving the range."""
    number = seed * 7919 % 1000 + 1
    return Task(
        id="",  # GeneratedTaskSet names it guess/<split>/<seed>
        prompt=f"I think of a number from 1 to 1000 (game {seed}). Find it and submit it.",
        secret={"number": number},
        solution=(ToolCall("guess", {"number": number}), ToolCall("submit", {"answer": str(number)})),
        wrong=((ToolCall("submit", {"answer": str(number + 1)}),),),
    )


class GuessSession(AnswerSession):
    """One game. `submit` is inherited; every `@tool` method is shown to the agent with its types and docstring."""

    def __init__(self, number: int) -> None:
        self._number = number

    @tool
    def guess(self, number: int) -> ToolResult:
        """Ask whether the number is smaller or larger than this one.

        Args:
            number: Your guess, from 1 to 1000.
        """
        if number == self._number:
            return ToolResult("that is it")
        return ToolResult("smaller" if self._number < number else "larger")


class ExactNumber:
    """Judges what the session left behind; it never sees the session."""

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        if artifact.answer.strip() == str(task.secret["number"]):
            return Verdict.resolved(answer=artifact.answer)
        return Verdict.unresolved("another number", answer=artifact.answer[:100])


class GuessEnv(AgentEnv):
    """Higher or lower, as a Gymnasium environment."""

    def __init__(self, *, render_mode: str | None = None, max_steps: int = 15) -> None:
        tasks = GeneratedTaskSet("guess", make_task)
        super().__init__(
            tasks=tasks, session=GuessSession, verifier=ExactNumber(), render_mode=render_mode, max_steps=max_steps
        )

    def open_session(self, task: Task) -> GuessSession:
        return GuessSession(task.secret["number"])


if "Example/Guess-v0" not in gymnasium.registry:
    gymnasium.register("Example/Guess-v0", entry_point=GuessEnv)

if __name__ == "__main__":
    env = gymnasium.make("Example/Guess-v0")
    print(play_episode(env, OracleAgent(), seed=1).verdict)
    check_agent_env(env, vector=False)
    print("the environment keeps every promise of the contract")
