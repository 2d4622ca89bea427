"""What a page of a site shows in the end: on a fresh page, in a fresh window, over a database rebuilt from the record.

The agent's own page is never asked: it shows whatever its scripts, or the agent, have made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from urllib.parse import urldefrag

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._check import Check, End, Finding, Stage
from agent_envs.verifiers.web._page_text import Content, read_line
from agent_envs.verifiers.web._urls import is_at, pattern_contradictions

from agent_envs.browser import Window, open_window
from agent_envs.errors import ToolFailed, VerifierFailed
from agent_envs.json_lines import JsonObject
from agent_envs.sites import Visit, apply, untouched


class Page(Check, frozen=True, tag="page"):
    """A page that is opened for the verdict shows this, and does not show that."""

    url: str
    """The whole address, with its query."""
    user: str | None = None
    """Who is signed in; without it, whom the task signed in."""
    status: int = 200
    """How the site answers for the page."""
    contains: list[Content] = msgspec.field(default_factory=list)
    lacks: list[Content] = msgspec.field(default_factory=list)

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        yield from pattern_contradictions(self.url.partition("?")[0], stage)
        if "*" in self.url.partition("?")[0]:
            yield f"`url` is {self.url!r}; it is opened, so it cannot have a *"
        if not self.contains and not self.lacks:
            yield "it needs `contains` or `lacks`; otherwise nothing is asked of the page"
        for name, items in (("contains", self.contains), ("lacks", self.lacks)):
            for number, item in enumerate(items, start=1):
                yield from (f"`{name}` {number}: {problem}" for problem in item.contradictions())

    def demands(self, stage: Stage) -> bool:
        """Whether the page must show anything."""
        return bool(self.contains)

    def judge(self, end: End) -> Finding:
        """Whether the page is as it should be; raises `InfraError` where it could not be looked at."""
        visits = _visits(end, self.user)
        try:
            window = open_window(end.browser, visits=visits, now=end.stage.world.now, seed=end.stage.world.seed)
            try:
                return self._look(window)
            finally:
                window.close()
        finally:
            for visit in visits.values():
                visit.close()

    def _look(self, window: Window) -> Finding:
        try:
            window.navigate(self.url)
        except ToolFailed as problem:
            return Finding(False, f"the page could not be opened: {problem}", {"url": self.url})
        if window.gateway.faults:
            raise VerifierFailed(f"a site failed over the rebuilt database: {window.gateway.faults[0]}")
        snapshot = window.look()
        status = _status(window, snapshot.url)
        if status != self.status or not is_at(snapshot.url, self.url.partition("?")[0]):
            why = f"the page answered {status} at {clipped(snapshot.url, 200)}, expected {self.status} at {self.url}"
            return Finding(False, why, _seen(snapshot.lines))
        lines = [read_line(line) for line in snapshot.lines]
        missing = [_shown(item) for item in self.contains if not item.is_on(lines)]
        unwanted = [_shown(item) for item in self.lacks if item.is_on(lines)]
        if not missing and not unwanted:
            return Finding(True, evidence={"url": self.url})
        problems = [f"the page lacks {item}" for item in missing] + [f"the page shows {item}" for item in unwanted]
        why = "; ".join(problems[:3])
        return Finding(False, why, {"missing": missing, "unwanted": unwanted} | _seen(snapshot.lines))


def _visits(end: End, user: str | None) -> dict[str, Visit]:
    """The sites as the agent left them, with somebody signed in anew."""
    world = end.stage.world if user is None else replace(end.stage.world, user=user)
    visits = {}
    for host, site in end.stage.sites.items():
        database = untouched(site, end.stage.world)
        apply(database, end.raw_changes(host))
        visits[host] = Visit(site, world, database, Random(world.seed), site.cookies(database, world))
    return visits


def _status(window: Window, url: str) -> int:
    """How the document that is shown was answered; 0 where it was not asked for."""
    found = [one.status for one in window.gateway.log if urldefrag(one.url).url == urldefrag(url).url]
    return found[-1] if found else 0


def _shown(item: Content) -> JsonObject:
    plain: JsonObject = msgspec.to_builtins(item)
    return {name: value for name, value in plain.items() if value not in (None, "", [])}


def _seen(lines: tuple[str, ...]) -> JsonObject:
    return {"page": clipped("\n".join(lines), 2000)}
