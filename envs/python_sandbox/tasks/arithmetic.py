"""`arithmetic`: questions with one integer as their answer, generated without end from templates."""

from __future__ import annotations

from random import Random

from agent_envs.envs.python_sandbox.tasks._calls import python, submit
from agent_envs.envs.python_sandbox.tasks._counting_templates import COUNTING_TEMPLATES
from agent_envs.envs.python_sandbox.tasks._named import NamedTaskSet
from agent_envs.envs.python_sandbox.tasks._number_templates import NUMBER_TEMPLATES
from agent_envs.envs.python_sandbox.tasks._process_templates import PROCESS_TEMPLATES
from agent_envs.envs.python_sandbox.tasks._template import Template, Value

from agent_envs.tasks import GeneratedTaskSet, Task, TaskSet

TEMPLATES: tuple[Template, ...] = (*NUMBER_TEMPLATES, *COUNTING_TEMPLATES, *PROCESS_TEMPLATES)
LEVELS = ("easy", "medium", "hard")
SPLITS = {"train": range(2**31), "validation": range(2**31, 3 * 2**30), "test": range(3 * 2**30, 2**32)}
_FORM = "The answer is one integer in decimal digits, without any other text."


def load() -> TaskSet:
    """Generated tasks in the splits train, validation and test, and `arithmetic/sum-1-100`, found from each of them.

    No two splits share a task: a task belongs to the split that its content picks.
    """
    generated = GeneratedTaskSet("arithmetic", _generated, splits=SPLITS, by_content=True, version="1")
    first = _task(TEMPLATES[0], {"a": 1, "b": 100}, level=1, name="arithmetic/sum-1-100")
    return NamedTaskSet(generated, first)


def _generated(seed: int) -> Task:
    rng = Random(seed)
    template = TEMPLATES[rng.randint(0, len(TEMPLATES) - 1)]
    level = rng.randint(1, len(LEVELS))
    return _task(template, template.draw(rng, level), level=level)


def _task(template: Template, values: dict[str, Value], *, level: int, name: str = "") -> Task:
    answer = template.answer(values)
    return Task(
        id=name or f"arithmetic/{template.name}",
        prompt=f"{template.ask.format(**values)}\n\n{_FORM}",
        kind="number",
        secret={"answer": answer},
        solution=(python(template.program(values)), submit(answer)),
        wrong=tuple((submit(mistake),) for mistake in template.mistakes(values, answer)),
        difficulty=LEVELS[level - 1],
        tags=(template.topic, template.name),
    )
