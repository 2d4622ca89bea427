"""The web environment as its users meet it: episodes, threads, event loops, faults, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from agent_envs.envs.web import WebEnv
from gymnasium.wrappers import AddRenderObservation

from agent_envs.errors import ConfigError, ResetNeeded, SandboxDied, SandboxUnavailable, TaskError
from agent_envs.options import CommonOptions
from agent_envs.tasks import Task, TaskSet
from agent_envs.testing import check_agent_env
from agent_envs.testing.notes import notes_tasks


def act(name: str, /, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


ADD = (act("type", text="buy 1 eggs", element_id='textbox "New note"'), act("click", element_id='button "Add"'))


pytestmark = pytest.mark.usefixtures("a_browser")


@pytest.fixture
def env() -> Iterator[WebEnv]:
    made = WebEnv(task_set=notes_tasks(), dialect="json")
    yield made
    made.close()


def begun(env: WebEnv, task: int = 1) -> str:
    return env.reset(seed=0, options={"task_id": f"notes/{task}"})[0]


def played(env: WebEnv, *actions: str) -> tuple[list[str], dict[str, Any]]:
    """What was shown, and the last info."""
    shown, info = [], {}
    for action in actions:
        observation, _, _, _, info = env.step(action)
        shown.append(observation)
    return shown, info


def solved(env: WebEnv, task: int = 1) -> list[str]:
    """A whole episode played by the task's own solution; everything that was shown."""
    first, _ = env.reset(seed=0, options={"task_id": f"notes/{task}"})
    shown, info = played(env, *(call.to_json() for call in env.task.solution))
    assert info["outcome"] == "resolved"
    return [first, *shown]


# What an agent sees


def test_the_first_observation_holds_the_task_and_the_page(env: WebEnv) -> None:
    shown = begun(env)
    assert "Write a note that says: buy 1 eggs" in shown
    assert 'textbox "New note"' in shown
    assert "Ada, Tuesday 10 March 2026" in shown


def test_an_action_shows_what_it_changed(env: WebEnv) -> None:
    begun(env)
    shown, _ = played(env, *ADD)
    assert "buy 1 eggs" in shown[-1]
    assert 'button "Tick buy 1 eggs"' in shown[-1]


def test_what_the_agent_does_wrong_is_told_and_costs_nothing_but_a_step(env: WebEnv) -> None:
    begun(env)
    (shown,), info = played(env, act("click", element_id="e999"))
    assert info["error"] == "tool_failed"
    assert "e999" in shown
    _, info = played(env, *ADD, act("submit"))
    assert info["score"] == 1.0


@pytest.mark.parametrize("look", [act("find", text="note 1"), act("read_more")])
def test_whoever_looks_is_told_first_what_the_page_did_meanwhile(env: WebEnv, look: str) -> None:
    begun(env, 2)
    assert env._run is not None
    env._run.session._window.evaluate("void open('/')")
    (shown, later), _ = played(env, look, act("hover", element_id='button "Add"'))
    assert shown.startswith("tab 2 was opened and is in front\n")
    assert "note 1" in shown
    assert "was opened" not in later


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "chrome://version", "data:text/html,x", ""]
)
def test_only_the_web_can_be_visited(env: WebEnv, url: str) -> None:
    begun(env)
    (shown,), info = played(env, act("navigate", url=url))
    assert info["error"] == "tool_failed"
    assert "root:" not in shown


def test_there_is_no_network_behind_the_sites(env: WebEnv) -> None:
    begun(env)
    shown, _ = played(env, act("navigate", url="http://example.com/"))
    assert "not part of the task" in shown[0]


def test_pixels_come_on_request() -> None:
    bare = WebEnv(task_set=notes_tasks(), width=400, height=300, render_mode="rgb_array")
    env = AddRenderObservation(bare, render_only=False, render_key="pixels", obs_key="text")
    observation, _ = env.reset(seed=0)
    assert observation["pixels"].shape == (300, 400, 3)
    assert observation["pixels"].dtype == np.uint8
    assert "Write a note" in observation["text"]
    env.close()
    with pytest.raises(ResetNeeded):
        bare.render()


def test_the_mouse_is_offered_on_request_only() -> None:
    assert "mouse_click" not in WebEnv(task_set=notes_tasks()).toolbox.names
    assert "mouse_click" in WebEnv(task_set=notes_tasks(), mouse=True).toolbox.names


# How it is judged


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_solution_passes_and_nothing_else_does(env: WebEnv, number: int) -> None:
    solved(env, number)
    for wrong in env.tasks.task(f"notes/{number}").wrong:
        begun(env, number)
        _, info = played(env, *(call.to_json() for call in wrong))
        assert (info["outcome"], info["score"], info["reward_valid"]) == ("unresolved", 0.0, True)


def test_an_episode_that_runs_out_of_steps_is_judged_too() -> None:
    env = WebEnv(task_set=notes_tasks(), dialect="json", max_steps=2)
    begun(env)
    _, info = played(env, *ADD)
    assert (info["end_reason"], info["outcome"]) == ("max_steps", "resolved")
    env.close()


# Where it works


def test_the_contract_holds(tmp_path: Path) -> None:
    tasks = tmp_path / "notes.jsonl"
    tasks.write_text("".join(f"{one.to_json()}\n" for one in notes_tasks()))
    check_agent_env(gymnasium.make("AgentRL/Web-v0", task_set="jsonl", path=str(tasks)))


def test_the_same_actions_show_the_same_bytes(env: WebEnv) -> None:
    assert solved(env) == solved(env)
    other = WebEnv(task_set=notes_tasks(), dialect="json")
    assert solved(other) == solved(env)
    other.close()


def test_it_works_inside_a_running_event_loop(env: WebEnv) -> None:
    async def inside() -> list[str]:
        return solved(env)

    assert "submitted" in asyncio.run(inside())[-1]


def test_eight_threads_work_at_once(env: WebEnv) -> None:
    expected = solved(env)

    def episode(_: int) -> list[str]:
        mine = WebEnv(task_set=notes_tasks(), dialect="json")
        try:
            return solved(mine)
        finally:
            mine.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(episode, range(8))) == [expected] * 8


def test_spawned_workers_see_what_one_process_sees(env: WebEnv) -> None:
    make = partial(WebEnv, task_set=notes_tasks(), dialect="json")
    vector = gymnasium.vector.AsyncVectorEnv([make, make], shared_memory=False, context="spawn")
    try:
        observations, _ = vector.reset(seed=[5, 5])
        alone, _ = env.reset(seed=5)
        assert list(observations) == [alone, alone]
        observations, *_ = vector.step((ADD[0], ADD[1]))
        assert observations[0] != observations[1]
    finally:
        vector.close()


# Faults


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    children: list[int] = []
    # Threads and processes end while they are looked at.
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(OSError):
                children += map(int, (task / "children").read_text().split())
    return children + [below for child in children for below in descendants(child)]


def test_a_site_that_breaks_is_no_fault_of_the_agent(env: WebEnv) -> None:
    begun(env)
    _, info = played(env, act("navigate", url="http://notes.test/fault"))
    assert (info["end_reason"], info["reward_valid"], info["score"]) == ("infra_error", False, -1.0)
    solved(env)


@pytest.mark.parametrize("part", [b"", b"--type=renderer", b"=network.mojom.NetworkService"])
def test_a_browser_that_dies_is_no_fault_of_the_agent_whole_or_in_part(env: WebEnv, part: bytes) -> None:
    begun(env)
    kill_browser(part)
    _, info = played(env, ADD[0])
    if not info["end_reason"]:
        # That needs no more than what was there still.
        _, info = played(env, ADD[1])
    assert (info["end_reason"], info["reward_valid"]) == ("infra_error", False)
    solved(env)


@pytest.mark.parametrize("part", [b"--type=renderer", b"=network.mojom.NetworkService"])
def test_an_episode_begins_after_a_part_of_the_browser_has_died_between_two(env: WebEnv, part: bytes) -> None:
    solved(env)
    kill_browser(part)
    solved(env)


def kill_browser(part: bytes) -> None:
    """Kill the processes of our browser that have this on their command line."""
    for pid in descendants(os.getpid()):
        # Those of a browser end with one another.
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"chrom" in line.partition(b"\0")[0] and part in line:
                os.kill(pid, signal.SIGKILL)


def test_a_start_that_does_not_open_is_no_fault_of_the_agent() -> None:
    env = WebEnv(task_set=task(setup={"sites": ["agent_envs.testing.notes:NOTES"], "start": "http://notes.test:1/"}))
    with pytest.raises(SandboxDied, match=r"the task does not begin: .*did not open"):
        env.reset(seed=0)
    env.close()


ODD = [
    'button "\\u{110000}\\u{10ffff}"', "e" + "9" * 5000, "e٣", "[e1", "//[", "//]", "//user:[@notes.test/", "//℀/", "http://[",
    "http:", "http://notes.test:99999/", "\x00", "x" * 9000, "\u2028", "1e5000",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_nothing_that_an_agent_writes_ends_an_episode(env: WebEnv, odd: str) -> None:
    begun(env)
    named = ("click", "check", "uncheck", "hover", "scroll", "select_text", "press", "drag", "upload_file", "type")
    more = {"scroll": {"direction": "down"}, "press": {"keys": "a"}, "upload_file": {"name": odd, "content": odd}}
    calls = [act(name, element_id=odd, **more.get(name, {"text": odd} if name == "type" else {})) for name in named]
    calls += [act("select_option", element_id=odd, options=[odd]), act("press", keys=odd), act("find", text=odd)]
    calls += [act("navigate", url=odd), act("tabs", action="new", url=odd), act("wait_for", text=odd, seconds=0)]
    for call in calls:
        shown, info = played(env, call)
        assert (info["end_reason"], info["reward_valid"]) == ("", True), (call, shown)
    solved(env)


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"view": "all"}, "view"),
        ({"page_chars": 0}, "page_chars"),
        ({"mouse": "yes"}, "mouse"),
        ({"width": -1}, "-1 x 720"),
        ({"height": "720"}, "height is '720'"),
        ({"ready": True}, "ready is True"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"locale": "en US"}, "en US"),
        ({"task_set": "shopp"}, "shop"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"verifier": 5}, "the verifier is 5"),
        ({"task_set": "jsonl", "path": 5}, "not 5"),
    ],
)
def test_a_wrong_option_is_named(option: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        WebEnv(**{"task_set": notes_tasks(), **option}).reset(seed=0)


def test_a_browser_that_is_not_there_is_named_with_a_remedy() -> None:
    with pytest.raises(SandboxUnavailable, match=r"/nowhere.*install"):
        WebEnv(task_set=notes_tasks(), executable="/nowhere").reset(seed=0)


NOTES = {"sites": ["agent_envs.testing.notes:NOTES"], "start": "http://notes.test/"}


def task(**changes: Any) -> TaskSet:
    parts = {
        "id": "x",
        "prompt": "x",
        "kind": "web",
        "setup": NOTES,
        "secret": {"checks": [{"check": "infeasible"}]},
    }
    return TaskSet.of("mine", [Task(**{**parts, **changes})])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"secret": {}}, "checks"),
        ({"secret": {"checks": [{"check": "rowz"}]}}, "rowz"),
        ({"setup": {}}, "sites"),
        ({"setup": {"sites": ["nowhere:SITE"], "start": "http://x.test/"}}, "nowhere:SITE"),
        ({"setup": {**NOTES, "start": "http://other.test/"}}, "other.test"),
        ({"setup": {**NOTES, "start": "http://["}}, r"begins at 'http://\[', .* such as http://notes.test/"),
        ({"setup": {**NOTES, "start": "http://notes.test:99999/"}}, "99999"),
        ({"setup": {**NOTES, "start": "ftp://notes.test/"}}, "ftp:"),
        ({"setup": {**NOTES, "world": {"sed": 1}}}, "has 'sed', which nothing reads"),
        ({"secret": 5}, "secret of task 'x' is 5; expected a dict"),
        ({"secret": []}, r"secret of task 'x' is \[\]; expected a dict"),
        ({"setup": None}, "setup of task 'x' is None; expected a dict"),
    ],
)
def test_a_task_that_cannot_be_played_says_why(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(TaskError, match=named):
        WebEnv(task_set=task(**changes)).reset(seed=0)


def test_options_survive_json() -> None:
    options: CommonOptions = {"max_steps": 3}
    env = gymnasium.make("AgentRL/Web-v0", page_chars=5000, **options)
    assert env.spec is not None
    assert gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())).spec == env.spec
