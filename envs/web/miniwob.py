"""`AgentRL/MiniWoB-v0`: the 125 page tasks of MiniWoB++, from the `miniwob` package, played with our tools.

A task is a page and a number, from which the page itself makes its instance; success is what the page says, and only a
full one counts (its raw reward is at least 1). The page's own clock, which ends an episode after ten seconds, is off.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack

from agent_envs.envs.web.env import WebEnv, WebOptions
from agent_envs.envs.web.session import WebSession

from agent_envs.artifact import Artifact, Verdict
from agent_envs.browser import Done
from agent_envs.errors import ConfigError, MissingExtra, TaskError, ToolFailed, UnknownTask
from agent_envs.json_lines import JsonObject
from agent_envs.sites import FolderSite
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import ToolResult

HOST = "miniwob.test"
_INSTANCES = 2**31
_LONGEST_MS = 2_000_000_000
"""The page's clock would end an episode; this is as late as a browser's timer can be set."""

_PAUSE_FRAMES, _PAUSES = 12, 50
_START = """(([seed, mine]) => {
    core.EPISODE_MAX_TIME = %d;
    core.countdownTimer = () => {};
    if (window.jQuery) jQuery.fx.off = true;
    Math.seedrandom(seed);
    core.startEpisodeReal();
    // What only serves a person who plays many episodes in a row: what is asked for is told in the prompt.
    core.startEpisode = () => {};
    document.body.removeEventListener('click', core.canvasDrawClick);
    const needless = ['reward-display', 'click-canvas', 'sync-task-cover'];
    // Some pages ask by a picture or a colour; some of those put it into words as well.
    const pictured = [...document.querySelectorAll('#query *')].some(part => !part.textContent.trim());
    if (!pictured || !/query.textContent/.test(core.getUtterance)) needless.push('query');
    for (const id of needless) {
        const found = document.getElementById(id);
        if (found) found.style.visibility = 'hidden';
    }
    Object.defineProperty(core, mine, {value: true});
    const said = core.getUtterance();
    return [typeof said === 'string' ? said : said.utterance, !!window.Raphael];
})(%s)"""
_STATE = """(mine => {
    if (typeof core === 'undefined' || !core[mine]) return {done: true, raw: 0, reason: 'the task was left'};
    return {done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, reason: String(WOB_REWARD_REASON || '')};
})(%s)"""


class MiniWobSession(WebSession):
    """One agent at one page task, which ends as soon as the page says so."""

    _state: JsonObject

    def _begin(self, task: Task) -> str:
        # A page that is opened again makes an instance of its own choice: it lacks the mark of this episode.
        self._mark = f"episode-{secrets.token_hex(8)}"
        done = self._window.navigate(task.setup["start"])
        start = json.dumps([str(task.setup["world"]["seed"]), self._mark])
        said = self._window.evaluate(_START % (_LONGEST_MS, start))
        if not isinstance(said, list) or not said[0]:
            raise TaskError(f"the page of task {task.id!r} states no task: {done.note or said!r}")
        self._state = {"done": False, "raw": 0, "reason": ""}
        self._moves = said[1]
        _, seen = self._show(self._window.wait_for)
        return f"Task: {said[0]}\n\n{seen.full(self._view.chars)}"

    def _act(self, act: Callable[[], Done]) -> Done:
        # The drawings of one library move for longer than a page is waited for.
        done = act()
        for _ in range(_PAUSES if self._moves else 0):
            later = self._window.wait_for(frames=_PAUSE_FRAMES)
            if done.seen and later.seen and done.seen.lines == later.seen.lines:
                break
            done = replace(done, seen=later.seen)
        return done

    def _after(self, act: Callable[[], Done]) -> ToolResult:
        try:
            result = super()._after(act)
        except ToolFailed as failure:
            # An action may have been half of one: what the page makes of it counts all the same.
            self._state = self._read_state()
            if not self._state["done"]:
                raise
            return ToolResult(f"error: {failure}", error="tool_failed", ends=True)
        self._state = self._read_state()
        return replace(result, ends=True) if self._state["done"] else result

    def freeze(self) -> Artifact:
        """What the page says of the end, besides what any window leaves."""
        if not self._state["done"]:
            self._state = self._read_state()
        artifact = super().freeze()
        artifact.state["miniwob"] = self._state
        return artifact

    def _read_state(self) -> JsonObject:
        try:
            state = self._window.evaluate(_STATE % json.dumps(self._mark))
        except ToolFailed:
            # The document went away under the question: nothing that comes after it has the mark of this episode.
            return {"done": True, "raw": 0, "reason": "the page of the task was left"}
        return state if isinstance(state, dict) else {"done": True, "raw": 0, "reason": "the page does not answer"}


class MiniWobVerifier:
    """Passes exactly where the page gave its full raw reward; no part of one counts."""

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """The verdict on what the page said."""
        state = artifact.state.get("miniwob")
        if not isinstance(state, dict) or not isinstance(raw := state.get("raw"), int | float):
            return Verdict.unresolved("the episode ended without a word from the page", state=state)
        evidence = {"raw_reward": raw, "reason": state.get("reason", ""), "done": bool(state.get("done"))}
        if state.get("done") and raw >= 1:
            return Verdict.resolved(**evidence)
        return Verdict.unresolved("the page did not give its full reward", **evidence)


class MiniWobEnv(WebEnv):
    """MiniWoB++: one small page, one instruction, one reward.

    `reset(seed=...)` picks a page and an instance of it; `options={"task_id": "click-button"}` names the page, and
    `"click-button/7"` the instance too. `info["task_id"]` always has both, so that a group can repeat it.

    Args:
        width: Of the window, in pixels.
        height: Of the window, in pixels.
        options: Those of `WebEnv`, without its task sets.
    """

    task_sets = ("miniwob",)
    session_class = MiniWobSession

    def __init__(self, *, width: int = 480, height: int = 360, **options: Unpack[WebOptions]) -> None:
        if given := {"task_set", "path", "verifier"} & set(options):
            raise ConfigError(
                f"{min(given)!r} cannot be chosen: the pages are the tasks and say what counts; pick one with"
                " reset(options={'task_id': 'click-button'})"
            )
        super().__init__(
            task_set=TaskSet.lazy("miniwob", _tasks, split="test"),
            verifier=MiniWobVerifier(),
            width=width,
            height=height,
            **options,
        )

    def pick_task(self, options: JsonObject) -> Task:
        """The page that is asked for or drawn, and the instance of it."""
        wanted = options.get("task_id") if isinstance(options, Mapping) else None
        name, given, number = wanted.partition("/") if isinstance(wanted, str) else ("", "", "")
        if given and not (number.isascii() and number.isdigit() and str(int(number)) == number):
            raise UnknownTask(f"there is no instance {number!r} of {name!r}; expected a number, as in {name}/7")
        task = super().pick_task({"task_id": name} if name else options)
        seed = int(number) if number else int(self.np_random.integers(_INSTANCES))
        return replace(task, id=f"{task.id}/{seed}", setup={**task.setup, "world": {"seed": seed}})


@lru_cache(maxsize=1)
def _folder() -> Path:
    found = find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("miniwob", extra="miniwob")
    return Path(found.submodule_search_locations[0])


SITE = FolderSite(HOST, lambda: _folder() / "html")
"""The pages as the package ships them."""


def _tasks() -> list[Task]:
    """One task for each page that the package registers; which instance of it is said when it is played."""
    # Read as text: importing the package would import a driver for browsers that nothing here uses.
    registered = (_folder() / "registration.py").read_text(encoding="utf-8")
    return [
        Task(
            id=name,
            prompt="Do what this page asks for. The episode ends as soon as the page has decided.",
            kind="miniwob",
            setup={"sites": [f"{__name__}:SITE"], "start": f"http://{HOST}/miniwob/{name}.html"},
        )
        for name in re.findall(r'id="miniwob/([a-z0-9-]+)-v\d+"', registered)
    ]
