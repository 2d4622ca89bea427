"""`AgentRL/Web-v0`: reach a goal on web sites through a real browser, judged by what is in the end."""

from __future__ import annotations

import io
from contextlib import ExitStack
from typing import Any, ClassVar, Unpack
from urllib.parse import urlsplit

import numpy as np
from agent_envs.envs.web.session import WebSession
from agent_envs.envs.web.tasks import TASK_SETS, load_task_set
from agent_envs.envs.web.window import View
from agent_envs.verifiers import Verifier
from agent_envs.verifiers.web import WebVerifier, checks_of

from agent_envs.browser import BrowserOptions, open_window
from agent_envs.env import AgentEnv
from agent_envs.errors import ConfigError, MissingExtra, ResetNeeded, TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.options import CommonOptions
from agent_envs.session import Session
from agent_envs.sites import Visit, World, begin, find_site
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import Toolbox


class WebOptions(CommonOptions, total=False):
    """The keyword arguments that web environments share."""

    view: str
    page_chars: int
    mouse: bool
    marks: bool
    executable: str
    channel: str
    locale: str
    timezone: str
    ready: int
    render_mode: str | None


_STEPS = 100
"""Actions per episode by default: a booking takes up to forty of them."""
_BROWSER = ("executable", "channel", "locale", "timezone", "ready")


class WebEnv(AgentEnv):
    """Reach a goal on web sites: see the page as text, act on its elements, submit.

    Args:
        task_set: A name of `TASK_SETS` (`jsonl` also needs `path`), or a task set of your own.
        path: The file of an imported task set.
        view: `diff` (what has changed, where that is shorter) or `full` (always the whole page).
        page_chars: Longest view of a page; what is left out is stated and can be read on.
        mouse: Whether there are also `mouse_click` and `mouse_drag`, for agents that see the rendered window.
        marks: Whether rendered windows have the references of elements drawn onto them.
        executable: The browser to start; empty: the one that is found (see `agent-envs doctor`).
        channel: A branded browser instead, such as `chrome`.
        width: Of the window, in pixels.
        height: Of the window, in pixels.
        locale: What the browser says it reads, such as `en-US`.
        timezone: Where the browser is, such as `Europe/Berlin`.
        ready: Windows kept ready, for a faster `reset`.
        render_mode: None, `"ansi"`, or `"rgb_array"`: the window as pixels, an array of height x width x 3.
        options: See `agent_envs.options.Options`; here the default of `max_steps` is 100.
    """

    task_sets = TASK_SETS
    session_class: ClassVar[type[WebSession]] = WebSession
    metadata: ClassVar[dict[str, object]] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        *,
        task_set: str | TaskSet = "shop",
        path: str = "",
        verifier: Verifier | None = None,
        width: int = 1280,
        height: int = 720,
        **options: Unpack[WebOptions],
    ) -> None:
        rest: dict[str, Any] = {"max_steps": _STEPS, **options}
        mouse, self.marks = (_truth(name, rest.pop(name, False)) for name in ("mouse", "marks"))
        self.view = View(rest.pop("view", "diff"), rest.pop("page_chars", 12_000))
        given = {name: rest.pop(name) for name in _BROWSER if name in rest}
        self.browser = BrowserOptions(width=width, height=height, **given)
        if not mouse and not rest.get("tools"):
            rest["tools"] = [name for name in Toolbox(self.session_class).names if not name.startswith("mouse_")]
        super().__init__(
            tasks=task_set if isinstance(task_set, TaskSet) else load_task_set(task_set, path=path),
            session=self.session_class,
            verifier=verifier or WebVerifier(browser=self.browser),
            **rest,
        )

    def pick_task(self, options: JsonObject) -> Task:
        """The task, whose checks somebody must be able to make: better known before it is played."""
        task = super().pick_task(options)
        if task.kind == "web":
            checks_of(task)
        _require_sites(task)
        return task

    def open_session(self, task: Task) -> Session:
        """A window of its own, on untouched copies of the task's sites."""
        world = World(**task.setup.get("world", {}))
        with ExitStack() as undone:
            visits: dict[str, Visit] = {}
            for site in map(find_site, task.setup["sites"]):
                visits[site.host] = begin(site, world)
                undone.callback(visits[site.host].close)
            window = open_window(self.browser, visits=visits, now=world.now, seed=world.seed)
            undone.callback(window.close)
            session = self.session_class(window, visits, task, view=self.view)
            undone.pop_all()
        return session

    def render(self) -> str | np.ndarray | None:
        """The episode so far as text (`"ansi"`), or the window as pixels (`"rgb_array"`).

        Raises:
            ResetNeeded: no episode is running, so there is no window.
        """
        if self.render_mode != "rgb_array":
            return super().render()
        if self._run is None or not isinstance(self._run.session, WebSession):
            raise ResetNeeded("there is a window only while an episode is running; call reset() first")
        return pixels(self._run.session.screenshot(marks=self.marks))


def pixels(png: bytes) -> np.ndarray:
    """A picture as an array of height x width x 3 bytes."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("pillow", extra="web") from error
    with Image.open(io.BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGB"))


def _require_sites(task: Task) -> None:
    """Raise `TaskError` where a task does not begin on one of its own sites."""
    names, start = task.setup.get("sites"), task.setup.get("start")
    if not isinstance(names, list) or not names or not isinstance(start, str):
        raise TaskError(
            f"the setup of task {task.id!r} needs 'sites', a list of names such as 'my.sites:SHOP', and 'start', the"
            " address where it begins"
        )
    hosts = [find_site(name).host for name in names]
    if _host(start) not in hosts:
        raise TaskError(
            f"task {task.id!r} begins at {start[:200]!r}, which is no address of its sites; expected such as"
            f" {', '.join(f'http://{host}/' for host in hosts)}"
        )


def _host(address: str) -> str | None:
    """The host that a browser asks for an address; None where it asks nobody."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname if parts.scheme == "http" else None


def _truth(name: str, value: object) -> bool:
    if type(value) is not bool:
        raise ConfigError(f"{name} is {value!r}; expected True or False")
    return value
