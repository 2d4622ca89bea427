"""Tasks on `flights.test`: templates that a seed fills in, each in three difficulties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from types import MappingProxyType

from agent_envs.envs.web.tasks.flights import _booking, _people, _questions, _surprises, _trips
from agent_envs.envs.web.tasks.flights._plan import Outcome
from agent_envs.envs.web.tasks.flights._scene import Scene, Unlucky, said

from agent_envs.errors import TaskError
from agent_envs.tasks import GeneratedTaskSet, Task

__all__ = ["LEVELS", "TEMPLATES", "load", "task_of"]

TEMPLATES: Mapping[str, Callable[[Scene], Outcome]] = MappingProxyType(
    {
        "next-tuesday": _booking.next_tuesday,
        "lowest-price": _questions.lowest_price,
        "return-trip": _booking.return_trip,
        "change-seat": _trips.change_seat,
        "sold-out": _surprises.sold_out,
        "refund": _trips.refund_question,
        "group": _booking.group,
        "best-day": _questions.best_day,
        "cancel": _trips.cancel,
        "connection": _booking.connection,
        "profile": _people.profile,
        "criteria": _booking.criteria,
        "infeasible": _surprises.infeasible,
        "change-day": _trips.change_day,
        "timetable": _questions.timetable,
        "saved-travellers": _people.saved_travellers,
        "dates": _booking.dates,
    }
)
"""By name: what makes a task of a scene."""
LEVELS = ("easy", "medium", "hard")
"""The difficulties, by level."""
SITE = "agent_envs.envs.web.sites.flights:FLIGHTS"
_WORLDS, _DRAWS = 40, 12
"""Worlds that are tried for one task, and draws in each: a world costs more than a draw."""


def load() -> GeneratedTaskSet:
    """The task set: seed n is template n, then every template at the next level, then all again in other worlds."""
    return GeneratedTaskSet("flights", _task, version="2")


def task_of(template: str, level: int, seed: int) -> Task:
    """The task that a template makes at a level (0 to 2) from a seed."""
    make = TEMPLATES[template]
    random = Random(f"flights task {template} {level} {seed}")
    for draw in range(_WORLDS * _DRAWS):
        if draw % _DRAWS == 0:
            scene = Scene(random, level + 1)
        try:
            outcome = make(scene)
        except Unlucky:
            scene.again()
            continue
        return _written(scene, template, outcome)
    raise TaskError(f"{_WORLDS} worlds made no task of the template {template!r} from seed {seed}")


@lru_cache(maxsize=256)
def _task(seed: int) -> Task:
    turn, which = divmod(seed, len(TEMPLATES))
    return task_of(list(TEMPLATES)[which], turn % len(LEVELS), turn // len(LEVELS))


def _written(scene: Scene, template: str, outcome: Outcome) -> Task:
    who = "You are signed in to your account." if scene.user else "You have no account."
    prompt = f"{outcome.prompt}\n\nUse the flight site http://flights.test/. Today is {said(scene.today)}. {who}"
    return Task(
        id="",
        prompt=prompt,
        kind="web",
        setup={"sites": [SITE], "start": "http://flights.test/", "world": scene.world},
        secret={"checks": outcome.checks},
        solution=tuple(outcome.solution),
        wrong=tuple(tuple(calls) for calls in outcome.wrong),
        difficulty=LEVELS[scene.level - 1],
        tags=("flights", template),
    )
