"""One episode in a browser: how it begins, what is shown after each action, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_envs.artifact import Artifact
from agent_envs.browser import Done, Snapshot, Window
from agent_envs.errors import ConfigError, SandboxDied, ToolFailed
from agent_envs.session import Session
from agent_envs.sites import MOST_LOGGED, Visit, changes, untouched
from agent_envs.tasks import Task
from agent_envs.tools import ToolResult


@dataclass(frozen=True, slots=True)
class View:
    """How pages are shown to the agent."""

    mode: str = "diff"
    """`diff`: after an action what has changed, where that is shorter; `full`: always the whole page."""
    chars: int = 12_000
    """Longest view of a page; what is left out is stated and can be read on."""

    def __post_init__(self) -> None:
        if self.mode not in ("diff", "full"):
            raise ConfigError(f"view is {self.mode!r}; expected 'diff' or 'full'")
        if type(self.chars) is not int or self.chars < 200:
            raise ConfigError(f"page_chars is {self.chars!r}; expected a whole number of at least 200")


class WindowSession(Session):
    """One browser window on sites that nobody else visits, from its first page to what it leaves."""

    def __init__(self, window: Window, visits: Mapping[str, Visit], task: Task, *, view: View) -> None:
        self._window = window
        self._visits = visits
        self._view = view
        self._seen: Snapshot | None = None
        self._answer = self._infeasible = ""
        self._submitted = False
        try:
            self.opening = self._begin(task)
        except ToolFailed as failure:
            # Nobody has acted yet: it is not an agent whom this concerns.
            raise SandboxDied(f"the task does not begin: {failure}") from failure

    def _begin(self, task: Task) -> str:
        """Go where the task begins, and say what is there."""
        return self._after(lambda: self._window.navigate(task.setup["start"])).text

    def screenshot(self, *, marks: bool = False) -> bytes:
        """What the window shows, as a PNG; `marks`: with the references of elements drawn onto them."""
        return self._window.screenshot(marks=marks)

    def freeze(self) -> Artifact:
        """Where the tabs ended, what was asked of the sites, and which rows of their databases have changed."""
        state: dict[str, Any] = dict(self._window.end_state())
        asked = self._window.gateway.log
        # Before anything is compared: a page that still asks would change what is.
        self._window.close()
        self._require_intact()
        state["changes"] = {host: _changed(visit) for host, visit in self._visits.items()}
        state["requests"] = [one.to_json() for one in asked[:MOST_LOGGED]]
        state["infeasible"] = self._infeasible
        return Artifact(answer=self._answer, submitted=self._submitted, state=state)

    def close(self) -> None:
        """Close the window and forget the databases."""
        self._window.close()
        for visit in self._visits.values():
            visit.close()

    @property
    def isolation(self) -> str:
        """What separates the agent from this machine."""
        return "browser context, no network"

    def _after(self, act: Callable[[], Done]) -> ToolResult:
        """Act, and show what there is to see afterwards."""
        former = self._seen if self._view.mode == "diff" else None
        done, now = self._show(act)
        return ToolResult("\n".join(part for part in (done.note, now.diff(former, self._view.chars)) if part))

    def _show(self, act: Callable[[], Done]) -> tuple[Done, Snapshot]:
        """Act, and look where that ends."""
        try:
            done = self._window.shown(lambda: self._act(act))
        except ToolFailed:
            # What could not be done on a page that has died was not the agent's to do.
            self._require_intact()
            raise
        self._require_intact()
        self._seen = done.seen or self._window.look()
        return done, self._seen

    def _act(self, act: Callable[[], Done]) -> Done:
        """Act in the window."""
        return act()

    def _look(self, reading: Callable[[Snapshot], str]) -> ToolResult:
        """Read what there is to see, after what the page did until it could be seen."""
        done = self._window.shown(self._window.wait_for)
        self._require_intact()
        self._seen = done.seen or self._window.look()
        return ToolResult("\n".join(part for part in (done.note, reading(self._seen)) if part))

    def _require_intact(self) -> None:
        if self._window.crashed:
            raise SandboxDied("the process of a page has died")
        if self._window.gateway.faults:
            raise SandboxDied(f"a site has failed: {self._window.gateway.faults[0]}")


def _changed(visit: Visit) -> dict[str, Any]:
    before = untouched(visit.site, visit.world)
    try:
        return dict(changes(before, visit.database, but=visit.site.unjudged))
    finally:
        before.close()
