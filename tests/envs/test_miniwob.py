"""MiniWoB++: every page begins and ends, one instance is the same for everybody, and scripts solve most of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec

import gymnasium
import pytest
from agent_envs.envs.web import MiniWobEnv
from agent_envs.envs.web.oracles import INSTANCES, POLICIES, Player, play
from agent_envs.envs.web.oracles.playing import EpisodeOver
from agent_envs.envs.web.oracles.reading import read
from gymnasium.utils.env_checker import check_env

from agent_envs.errors import ConfigError, SandboxUnavailable, UnknownTask

MOVING = ("stock-market",)
"""Pages that go on by themselves, a little further before they are seen where the machine is busy.

What is right when it is seen may be wrong when it is clicked: such a page may be played again.
"""
SUBMIT = json.dumps({"name": "submit", "arguments": {}})


@pytest.fixture(scope="module")
def env() -> Iterator[MiniWobEnv]:
    if find_spec("miniwob") is None:
        pytest.skip("miniwob is not installed; it comes with: pip install 'agent-envs[miniwob]'")
    made = MiniWobEnv(dialect="json", view="full", max_steps=500)
    try:
        made.reset(seed=0, options={"task_id": "click-test"})
    except SandboxUnavailable as reason:
        pytest.skip(f"no browser can be used here: {reason}")
    yield made
    made.close()


def shown(env: MiniWobEnv, task_id: str) -> str:
    """What is seen first."""
    return env.reset(seed=0, options={"task_id": task_id})[0]


def begins_and_ends(env: MiniWobEnv, page: str) -> None:
    """One instance, twice the same, given up."""
    first = shown(env, f"{page}/5")
    assert "\nTask: " in first
    *_, info = env.step(SUBMIT)
    assert (info["end_reason"], info["outcome"], info["reward_valid"]) == ("submitted", "unresolved", True), page
    assert page in MOVING or shown(env, f"{page}/5") == first


def solved(env: MiniWobEnv, page: str, instance: int) -> bool:
    """Whether a script solves it by what an agent sees."""
    return any(play(env, f"{page}/{instance}") for _ in range(3 if page in MOVING else 1))


def test_there_are_125_pages(env: MiniWobEnv) -> None:
    assert len(env.tasks) == 125


@pytest.mark.parametrize("page", ["click-button", "drag-cube", "book-flight", "email-inbox-star-reply", "stock-market"])
def test_a_page_begins_and_ends_and_is_the_same_for_everybody(env: MiniWobEnv, page: str) -> None:
    begins_and_ends(env, page)


def test_a_drawing_is_at_rest_when_it_is_told(env: MiniWobEnv) -> None:
    first = shown(env, "click-pie/3")
    button = re.search(r'\[(e\d+)\] text "\+"', first)
    assert button
    opened = env.step(json.dumps({"name": "click", "arguments": {"element_id": button[1]}}))[0]
    later = env.step(json.dumps({"name": "wait_for", "arguments": {"seconds": 1}}))[0]
    assert opened == later != first


@pytest.mark.slow
def test_all_of_them_do(env: MiniWobEnv) -> None:
    for task in env.tasks:
        begins_and_ends(env, task.id)


def test_gymnasium_finds_no_fault(env: MiniWobEnv) -> None:
    made = gymnasium.make("AgentRL/MiniWoB-v0")
    check_env(made.unwrapped, skip_close_check=True)
    made.close()


def test_the_seed_picks_page_and_instance(env: MiniWobEnv) -> None:
    _, info = env.reset(seed=7)
    assert env.reset(seed=7)[1]["task_id"] == info["task_id"]
    assert env.reset(options={"task_id": info["task_id"]})[1]["prompt"] == info["prompt"]


@pytest.mark.parametrize(
    "wrong", ["click-butto", "click-button/", "click-button/x", "click-button/-1", "click-button/07"]
)
def test_what_is_no_page_or_no_instance_is_named(env: MiniWobEnv, wrong: str) -> None:
    with pytest.raises(UnknownTask, match="click-button"):
        env.reset(options={"task_id": wrong})


@pytest.mark.parametrize("option", ["task_set", "verifier"])
def test_what_the_pages_fix_cannot_be_chosen(option: str) -> None:
    with pytest.raises(ConfigError, match=f"'{option}' cannot be chosen.*click-button"):
        MiniWobEnv(**{option: "x"})


def test_the_wrong_button_ends_the_episode_without_a_reward(env: MiniWobEnv) -> None:
    player = Player(env, "click-test-2/1")
    with pytest.raises(EpisodeOver):
        player.button("TWO")
    assert (player.info["outcome"], player.info["score"]) == ("unresolved", 0.0)


def test_part_of_a_reward_is_none(env: MiniWobEnv) -> None:
    player = Player(env, "find-greatest/1")
    cards = [card for card in player.page.all("clickable") if card.name.isdigit()]
    player.click(min(cards, key=lambda card: int(card.name)))
    with pytest.raises(EpisodeOver):
        player.button("Submit")
    assert player.info["score"] == 0.0


@pytest.mark.parametrize(
    "url", ["http://miniwob.test/miniwob/click-test.html", "http://miniwob.test/miniwob/enter-text.html"]
)
def test_a_page_that_is_opened_again_is_another_task(env: MiniWobEnv, url: str) -> None:
    player = Player(env, "click-test/1")
    with pytest.raises(EpisodeOver):
        player.act("navigate", url=url)
    assert player.info["score"] == 0.0


def test_the_clock_of_a_page_ends_nothing(env: MiniWobEnv) -> None:
    player = Player(env, "click-test/1")
    player.act("wait_for", seconds=11)
    with pytest.raises(EpisodeOver):
        player.click(player.page.one("button"))
    assert player.info["outcome"] == "resolved"


@pytest.mark.parametrize("page", sorted(POLICIES))
def test_a_script_solves_it_by_what_an_agent_sees(env: MiniWobEnv, page: str) -> None:
    assert solved(env, page, INSTANCES[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", sorted(POLICIES))
def test_a_script_solves_other_instances_too(env: MiniWobEnv, page: str) -> None:
    assert all(solved(env, page, instance) for instance in INSTANCES[1:])


def test_an_observation_is_read_as_it_is_written() -> None:
    page = read(
        'page "x" at http://x.test/\n- [e1] clickable "A\\"b" "text" [e2] textbox "" = "v" focused\n  "L" | "R"'
    )
    assert [(item.role, item.name, item.ref) for item in page.items] == [
        ("clickable", 'A"b', "e1"),
        ("text", "text", ""),
        ("textbox", "", "e2"),
        ("text", "L", ""),
        ("text", "R", ""),
    ]
    assert page.one("textbox").value == "v"
