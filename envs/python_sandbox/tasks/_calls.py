"""The calls by which tasks are solved or missed, and the same endings as whole programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_envs.errors import TaskError
from agent_envs.tasks import Task
from agent_envs.tools import ToolCall


def python(code: str) -> ToolCall:
    """Run one cell."""
    return ToolCall("python", {"code": code})


def submit(answer: str) -> ToolCall:
    """Submit a text and end the episode."""
    return ToolCall("submit", {"answer": answer})


def program_solution(task: Task) -> ToolCall:
    """The one program whose output solves the task: what an oracle plays where the first action is a whole program.

    The program computes the answer where the task's solution does, else it prints the submitted text. Raises
    `TaskError` where the task holds no solution.
    """
    if not task.solution:
        raise TaskError(f"task {task.id!r} holds no solution; the oracle cannot play it")
    return _as_program(task.solution)


def for_single_turn(task: Task) -> Task:
    """The same task, its solution and wrong endings as single programs for the tool `program`."""
    if not task.solution:
        return task
    wrong = tuple((_as_program(calls),) for calls in task.wrong if calls)
    return replace(task, solution=(program_solution(task),), wrong=wrong)


def _as_program(calls: Sequence[ToolCall]) -> ToolCall:
    cells = [call.arguments["code"] for call in calls if call.name == "python"]
    code = cells[-1] if cells else f"print({calls[-1].arguments.get('answer', '')!r})\n"
    return ToolCall("program", {"code": code})
