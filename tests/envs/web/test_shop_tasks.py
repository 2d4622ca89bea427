"""Tasks at the shop are data that can be meant, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from agent_envs.envs.web.tasks import TASK_SETS, load_task_set, shop
from agent_envs.envs.web.tasks._template import LEVELS, made
from agent_envs.verifiers.web import WebVerifier, checks_of

from agent_envs.artifact import Artifact
from agent_envs.errors import ConfigError
from agent_envs.sites import find_site
from agent_envs.tasks import Task

ENDS = {"submit", "report_infeasible"}


def tasks(kind: str, level: str, count: int = 3) -> Iterator[Task]:
    for number in range(count):
        random = Random(f"{kind}/{level}/{number}")
        yield made(kind, shop.TEMPLATES[kind], level, random, site=shop.SITE, host=find_site(shop.SITE).host)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", sorted(shop.TEMPLATES))
def test_every_kind_makes_tasks_that_can_be_judged_at_every_level(kind: str, level: str) -> None:
    for task in tasks(kind, level):
        assert checks_of(task)
        assert Task.from_json(task.to_json()) == task
        assert task.solution[-1].name in ENDS
        assert task.wrong
        assert all(calls != task.solution for calls in task.wrong)


def test_the_set_names_a_task_for_ever_and_labels_it() -> None:
    found = load_task_set("shop")
    first, again = found.task("shop/train/7"), load_task_set("shop").task("shop/train/7")
    assert first == again
    assert first.tags[0] in shop.TEMPLATES
    assert next(iter(found.filter(difficulty="hard", tags="graphics_cards").head(1))).prompt.startswith(
        "Compare three graphics cards by price and put the best value one into the cart."
    )


def test_different_seeds_ask_about_different_things() -> None:
    prompts = [task.prompt for kind in shop.TEMPLATES for task in tasks(kind, "medium")]
    assert len(set(prompts)) > len(prompts) * 0.9


@pytest.mark.parametrize(
    ("name", "path", "match"),
    [("shopp", "", "did you mean 'shop'"), ("shop", "x.jsonl", "takes no path"), ("jsonl", "", "pass path")],
)
def test_a_task_set_that_does_not_exist_is_refused_with_a_way_out(name: str, path: str, match: str) -> None:
    assert {"shop", "flights", "jsonl"} <= set(TASK_SETS)
    with pytest.raises(ConfigError, match=match):
        load_task_set(name, path=path)


@pytest.mark.parametrize("kind", sorted(shop.TEMPLATES))
def test_doing_nothing_is_worth_nothing(kind: str) -> None:
    end = {"urls": ["http://shop.test/"], "active": 0, "infeasible": "", "requests": [], "changes": {"shop.test": {}}}
    artifact = Artifact(answer="", submitted=True, state=end)
    for level in LEVELS:
        assert [WebVerifier().verify(task, artifact).score for task in tasks(kind, level)] == [0.0] * 3
