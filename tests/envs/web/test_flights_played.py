"""Every flight task is solved through the agent's own tools in a real browser, and every slip is worth nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agent_envs.envs.web import WebEnv
from agent_envs.envs.web.tasks.flights import TEMPLATES

from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.tools import ToolCall

PLAYED = ("next-tuesday", "cancel", "infeasible")
"""The templates that are played every time."""
SELDOM = {(template, (place + 2) % 3, 0) for place, template in enumerate(TEMPLATES)}
"""Each template at one level, not that at which it is played every time: `slow`; the other levels and worlds are
`exhaustive`."""
CASES = [(template, level, world) for template in TEMPLATES for level in range(3) for world in range(3)]


@pytest.fixture(scope="module")
def env() -> Iterator[WebEnv]:
    made = WebEnv(task_set="flights", max_steps=120)
    try:
        made.reset(seed=0)
    except (MissingExtra, SandboxUnavailable) as reason:
        pytest.skip(str(reason))
    yield made
    made.close()


def ended(env: WebEnv, number: int, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """The last info of an episode of task `number`; every call must work."""
    env.reset(seed=0, options={"task_id": f"flights/train/{number}"})
    info: dict[str, Any] = {}
    for call in calls:
        observation, _, _, _, info = env.step({"name": call.name, "arguments": dict(call.arguments)})
        assert info["error"] == "", f"{call.to_json()}: {observation}"
    return info


def check(env: WebEnv, number: int) -> None:
    task = env.tasks.task(f"flights/train/{number}")
    assert ended(env, number, task.solution)["score"] == 1.0, task.prompt
    for calls in [(ToolCall("submit"),), *task.wrong]:
        info = ended(env, number, calls)
        assert (info["score"], info["reward_valid"]) == (0.0, True), task.prompt


@pytest.mark.parametrize("template", PLAYED)
def test_a_template_is_solved_by_its_solution_and_by_none_of_its_slips(env: WebEnv, template: str) -> None:
    check(env, [*TEMPLATES].index(template))


@pytest.mark.parametrize(
    ("template", "level", "world"),
    [pytest.param(*case, marks=pytest.mark.slow if case in SELDOM else pytest.mark.exhaustive) for case in CASES],
)
def test_so_it_is_at_every_level_in_three_worlds(env: WebEnv, template: str, level: int, world: int) -> None:
    check(env, [*TEMPLATES].index(template) + len(TEMPLATES) * (level + 3 * world))


def test_a_seat_is_chosen_on_a_trip_that_has_none_yet(env: WebEnv) -> None:
    check(env, 190)


def test_it_does_not_matter_who_is_removed_before_another_one_is_added(env: WebEnv) -> None:
    task = env.tasks.task("flights/train/146")
    calls = list(task.solution)
    assert "And remove" in task.prompt
    added = next(place for place, call in enumerate(calls) if "Add a traveller" in str(call.arguments))
    *_, remove, confirm, submit = calls
    assert ended(env, 146, [*calls[:added], remove, confirm, *calls[added:-3], submit])["score"] == 1.0
