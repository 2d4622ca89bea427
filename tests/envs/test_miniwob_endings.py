"""Whatever an agent does to the page of a MiniWoB task, the episode goes on or ends; it earns nothing by leaving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from agent_envs.envs.web.miniwob import MiniWobEnv

from agent_envs.browser import Done
from agent_envs.errors import SandboxUnavailable, ToolFailed

PAGE = "http://miniwob.test/miniwob/click-button.html"


@pytest.fixture
def env() -> Iterator[MiniWobEnv]:
    pytest.importorskip("miniwob")
    made = MiniWobEnv()
    try:
        made.reset(options={"task_id": "click-button/7"})
    except SandboxUnavailable as reason:
        pytest.skip(f"no browser can be used here: {reason}")
    yield made
    made.close()


def act(env: MiniWobEnv, name: str, **arguments: Any) -> tuple[float, bool]:
    _, reward, terminated, _, _ = env.step({"name": name, "arguments": arguments})
    return float(reward), terminated


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("navigate", {"url": PAGE}),
        ("tabs", {"action": "new", "url": PAGE}),
        ("tabs", {"action": "close"}),
        ("go_back", {}),
    ],
)
def test_leaving_the_page_ends_it_without_a_reward(env: MiniWobEnv, name: str, arguments: dict[str, Any]) -> None:
    assert act(env, name, **arguments) == (0.0, True)


def test_a_page_that_goes_away_under_the_last_question_is_one_that_was_left(env: MiniWobEnv, monkeypatch) -> None:
    def away(window: object, expression: str) -> None:
        raise ToolFailed("the page did not do it: Execution context was destroyed")

    monkeypatch.setattr("agent_envs.browser.Window.evaluate", away)
    assert act(env, "submit") == (0.0, True)


def test_what_the_page_decides_during_an_action_that_fails_counts_at_once(env: MiniWobEnv, monkeypatch) -> None:
    session = env._run.session  # type: ignore[union-attr]
    click = session._window.click  # type: ignore[attr-defined]

    def half(element: str, **options: Any) -> Done:
        click(element, **options)
        raise ToolFailed("it was clicked, and then something went wrong")

    monkeypatch.setattr(session._window, "click", half)  # type: ignore[attr-defined]
    assert act(env, "click", element_id='button "Yes"') == (1.0, True)
