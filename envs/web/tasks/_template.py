"""What tasks on a site are made of: a template draws a world and says what is asked, what is judged and how it is done.

Elements are named by role and name, so that a solution is data and reads like what a person does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agent_envs.errors import TaskError
from agent_envs.sites import World
from agent_envs.tasks import GeneratedTaskSet, Task
from agent_envs.tools import ToolCall

Calls = tuple[ToolCall, ...]
LEVELS = ("easy", "medium", "hard")
_WORLDS = 10_000
_TRIES, _TRIES_IN_A_WORLD = 500, 25


class Unsuitable(Exception):
    """The drawn world has nothing that a template could ask about; another one is drawn."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One task before it has a name."""

    prompt: str
    checks: Sequence[Mapping[str, Any]]
    solution: Calls
    wrong: Sequence[Calls]
    world: World = field(default_factory=World)
    start: str = "/"
    """Where the window is when the task begins: a path of the site."""


class Chance(Random):
    """Chance, with a world that stays the same while a template tries again: to make one takes the longest."""

    world: int = 0
    """Picks what the site offers."""


Template = Callable[[Chance, str], Draft]
"""Makes a draft from chance, for a level of `LEVELS`; raises `Unsuitable` where chance has to be tried again."""


def task_set(name: str, site: str, host: str, templates: Mapping[str, Template], *, version: str) -> GeneratedTaskSet:
    """Tasks on one site; a seed picks template, level and content. The template's name is a tag of its tasks."""

    def generate(seed: int) -> Task:
        random = Random(f"{name}/{seed}")
        kind, level = random.choice(sorted(templates)), random.choice(LEVELS)
        return made(kind, templates[kind], level, random, site=site, host=host)

    return GeneratedTaskSet(name, generate, version=version)


def made(kind: str, template: Template, level: str, random: Random, *, site: str, host: str) -> Task:
    """One task of a template."""
    chance = Chance(random.getrandbits(64))
    for attempt in range(_TRIES):
        if attempt % _TRIES_IN_A_WORLD == 0:
            chance.world = chance.randrange(_WORLDS)
        try:
            draft = template(chance, level)
        except Unsuitable:
            continue
        world = {
            "seed": draft.world.seed,
            "now": draft.world.now,
            "user": draft.world.user,
            "options": dict(draft.world.options),
        }
        return Task(
            id=f"{kind}/{level}",
            kind="web",
            prompt=draft.prompt,
            setup={"sites": [site], "start": f"http://{host}{draft.start}", "world": world},
            secret={"checks": [dict(check) for check in draft.checks]},
            solution=draft.solution,
            wrong=tuple(draft.wrong),
            difficulty=level,
            tags=(kind,),
        )
    raise TaskError(f"template {kind!r} found nothing to ask in {_TRIES} tries; its conditions are too narrow")


def click(role: str, name: str) -> ToolCall:
    """Click the element of this role and name."""
    return ToolCall("click", {"element_id": element(role, name)})


def fill(role: str, name: str, text: str, *, enter: bool = False) -> ToolCall:
    """Type a text into a field, in place of what it holds."""
    return ToolCall("type", {"text": text, "element_id": element(role, name), **({"submit": True} if enter else {})})


def choose(name: str, *options: str, role: str = "combobox") -> ToolCall:
    """Choose in a list box."""
    return ToolCall("select_option", {"element_id": element(role, name), "options": list(options)})


def check(role: str, name: str) -> ToolCall:
    """Check a check box or choose a radio button."""
    return ToolCall("check", {"element_id": element(role, name)})


def go(url: str) -> ToolCall:
    """Go to an address."""
    return ToolCall("navigate", {"url": url})


def dialled(phone: str) -> dict[str, str]:
    """What matches a phone number however its digits are set apart."""
    digits = "[ ()-]*".join(one for one in phone if one.isdigit())
    return {"matches": rf"{'[+][ ()-]*' if phone.startswith('+') else ''}{digits}"}


def submit(answer: str = "") -> ToolCall:
    """Say that the task is done."""
    return ToolCall("submit", {"answer": answer} if answer else {})


def give_up(reason: str) -> ToolCall:
    """Say that the task cannot be done."""
    return ToolCall("report_infeasible", {"reason": reason})


def element(role: str, name: str) -> str:
    """An element by role and name, as the tools read it."""
    spelled = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{role} "{spelled}"'
