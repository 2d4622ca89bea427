"""Tasks on the flight site: made from a seed, told in full, judged by what is in the database in the end."""

from __future__ import annotations

from datetime import date

import pytest
from agent_envs.envs.web.tasks import load_task_set
from agent_envs.envs.web.tasks.flights import LEVELS, TEMPLATES, task_of
from agent_envs.verifiers.web import WebVerifier, checks_of

from agent_envs.artifact import Artifact
from agent_envs.tasks import Task

SENTENCE = "Book a flight from Beijing to Shanghai, next Tuesday afternoon, window seat, economy."


def test_the_set_goes_through_every_template_at_every_level() -> None:
    tasks = [load_task_set("flights").task(f"flights/train/{n}") for n in range(len(TEMPLATES) * 3)]
    assert {(task.tags[1], task.difficulty) for task in tasks} == {
        (name, level) for name in TEMPLATES for level in LEVELS
    }


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_task_is_the_same_for_the_same_seed_and_is_data_that_its_verifier_reads(template: str) -> None:
    for level in range(3):
        task = task_of(template, level, 7)
        task.check_plain()
        assert task == task_of(template, level, 7) != task_of(template, level, 8)
        assert checks_of(task)
        assert task.solution
        assert task.wrong
        assert all(calls != task.solution for calls in task.wrong)


@pytest.mark.parametrize("template", TEMPLATES)
def test_doing_nothing_is_worth_nothing(template: str) -> None:
    end = {"urls": ["http://flights.test/"], "active": 0, "infeasible": "", "requests": []}
    artifact = Artifact(answer="", submitted=True, state={**end, "changes": {"flights.test": {}}})
    assert [WebVerifier().verify(task_of(template, level, 1), artifact).score for level in range(3)] == [0.0, 0.0, 0.0]


def wanted(task: Task, table: str) -> list[dict[str, object]]:
    return [row["where"] for row in task.secret["checks"][0]["wanted"] if row["table"] == table]


@pytest.mark.parametrize("seed", range(3))
def test_next_tuesday_is_the_first_one_after_today_in_the_afternoon_by_the_window(seed: int) -> None:
    task = task_of("next-tuesday", 0, seed)
    today = date.fromisoformat(task.setup["world"]["now"][:10])
    (leg,), (seat,) = wanted(task, "booking_flights"), wanted(task, "booking_seats")
    day = date.fromisoformat(str(leg["date"]))
    assert task.prompt.startswith(SENTENCE)
    assert day.weekday() == 1
    assert 0 < (day - today).days <= 6
    assert leg["departs"] == {"between": ["12:00", "17:59"]}
    assert seat["kind"] == "window"
