"""Tasks at the shop in the real environment: their solutions score 1, and every plausible slip scores 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from agent_envs.envs.web import WebEnv
from agent_envs.envs.web.tasks import shop
from agent_envs.envs.web.tasks._template import LEVELS, Calls, made

from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.sites import find_site
from agent_envs.tasks import Task, TaskSet

KINDS = sorted(shop.TEMPLATES)
SEEDS = range(3)
USUAL = {(kind, LEVELS[place % 3], 0) for place, kind in enumerate(KINDS)}
"""What is played every time; the other levels and seeds are `exhaustive`."""
CASES = [(kind, level, seed) for kind in KINDS for level in LEVELS for seed in SEEDS]


def task(kind: str, level: str, seed: int) -> Task:
    random = Random(f"{kind}/{level}/{seed}")
    drawn = made(kind, shop.TEMPLATES[kind], level, random, site=shop.SITE, host=find_site(shop.SITE).host)
    return replace(drawn, id=f"{kind}/{level}/{seed}")


@pytest.fixture(scope="module")
def env() -> Iterator[WebEnv]:
    made = WebEnv(task_set=TaskSet.lazy("shop", lambda: [task(*case) for case in CASES]), max_steps=100)
    try:
        made.reset(options={"task_id": "address/easy/0"})
    except (SandboxUnavailable, MissingExtra) as reason:
        pytest.skip(f"no browser can be used here: {reason}")
    yield made
    made.close()


def score(env: WebEnv, name: str, calls: Calls) -> float:
    """The score of an episode in which these calls are made, each of which must work."""
    env.reset(options={"task_id": name})
    for call in calls:
        observation, _, _, _, info = env.step({"name": call.name, "arguments": dict(call.arguments)})
        assert info["error"] == "", (call, observation)
    return float(info["score"])


@pytest.mark.parametrize(
    ("kind", "level", "seed"),
    [case if case in USUAL else pytest.param(*case, marks=pytest.mark.exhaustive) for case in CASES],
)
def test_a_task_is_solved_by_its_solution_and_by_no_slip(env: WebEnv, kind: str, level: str, seed: int) -> None:
    played = task(kind, level, seed)
    assert score(env, played.id, played.solution) == 1.0
    assert [score(env, played.id, calls) for calls in played.wrong] == [0.0] * len(played.wrong)


def test_a_quantity_is_saved_before_a_link_is_followed(env: WebEnv) -> None:
    played = task("order", "medium", 0)
    calls = list(played.solution)
    place = next(place for place, call in enumerate(calls) if "Check out" in str(call.arguments))
    (quantity,) = [call for call in calls[:place] if call.name == "type" and "Quantity" in str(call.arguments)]
    one = replace(quantity, arguments={**quantity.arguments, "text": "1"})
    env.reset(options={"task_id": played.id})
    for call in [*calls[: calls.index(quantity)], one, *calls[calls.index(quantity) + 1 : place - 1]]:
        env.step({"name": call.name, "arguments": dict(call.arguments)})
    shown = env.step({"name": "click", "arguments": {"element_id": 'link "Cart (1)"'}})[0]
    field = re.search(r'spinbutton "Quantity of [^"]+"', shown)
    assert field
    env.step({"name": "type", "arguments": {"text": str(quantity.arguments["text"]), "element_id": field[0]}})
    for call in calls[place:]:
        *_, info = env.step({"name": call.name, "arguments": dict(call.arguments)})
        assert info["error"] == ""
    assert info["score"] == 1.0
