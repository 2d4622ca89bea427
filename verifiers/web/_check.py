"""What a check is, and the end of an episode as checks see it: data that the agent cannot write."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from agent_envs.artifact import Artifact
from agent_envs.browser import BrowserOptions
from agent_envs.errors import TaskError, VerifierFailed
from agent_envs.json_lines import JsonObject
from agent_envs.sites import Changes, Site, World, find_site, untouched
from agent_envs.tasks import Task

T = TypeVar("T")


class Contradiction(ValueError):
    """A check that cannot mean anything; the message names the field and the remedy."""


class GarbledState(VerifierFailed):
    """The record of an episode's end lacks what a check reads, or holds something else there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    passed: bool
    why: str = ""
    """The reason a reader sees first; empty where the check passed."""
    evidence: JsonObject = field(default_factory=dict)


class Request(msgspec.Struct, frozen=True):
    """One request that a page made, as `agent_envs.sites.Exchange` writes it."""

    method: str
    url: str
    status: int = 0
    form: JsonObject = {}


class Pair(msgspec.Struct, frozen=True):
    """One row before and after."""

    before: JsonObject
    after: JsonObject


class TableChanges(msgspec.Struct, frozen=True):
    """What became of one table, as `agent_envs.sites.changes` writes it."""

    added: list[JsonObject] = []
    removed: list[JsonObject] = []
    changed: list[Pair] = []


class _EndState(msgspec.Struct, frozen=True):
    """The part of `Artifact.state` that checks read; a session may write more."""

    urls: list[str] | None = None
    active: int = 0
    infeasible: str = ""
    changes: dict[str, dict[str, TableChanges]] | None = None
    requests: list[Request] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """The sites of a task and the world they began in: what is the same for every episode of it."""

    sites: Mapping[str, Site] = field(default_factory=dict)
    """By host."""
    world: World = field(default_factory=World)
    start: str = ""
    """Where the agent begins."""

    @classmethod
    def of(cls, task: Task) -> Stage:
        """The stage that `setup` describes; raises `TaskError` where it describes none."""
        names = task.setup.get("sites", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TaskError(f"setup['sites'] of task {task.id!r} is {names!r}; expected a list of 'module:attribute'")
        try:
            world = msgspec.convert(task.setup.get("world", {}), World)
        except msgspec.ValidationError as cause:
            raise TaskError(f"setup['world'] of task {task.id!r} is no world: {cause}") from cause
        if unknown := sorted(task.setup.get("world", {}).keys() - World.__dataclass_fields__.keys()):
            raise TaskError(
                f"setup['world'] of task {task.id!r} has {unknown[0]!r}, which nothing reads; a world has"
                f" {', '.join(World.__dataclass_fields__)}"
            )
        return cls({site.host: site for site in map(find_site, names)}, world, str(task.setup.get("start", "")))

    def site(self, host: str) -> Site:
        """The site of this host; raises `Contradiction` where the task has none."""
        if host not in self.sites:
            known = ", ".join(sorted(self.sites)) or "none; name them in setup['sites']"
            raise Contradiction(f"{host!r} is no site of the task (its hosts: {known})")
        return self.sites[host]

    def columns(self, host: str) -> Mapping[str, tuple[str, ...]]:
        """The judged tables of a site, each with its columns."""
        site: Any = self.site(host)
        return _columns(site)


@lru_cache(maxsize=64)
def _columns(site: Any) -> dict[str, tuple[str, ...]]:
    database = untouched(site, World())  # which tables a site has does not depend on the world
    try:
        found = database.execute(
            "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
        ).fetchall()
    finally:
        database.close()
    tables: dict[str, tuple[str, ...]] = {}
    for table, column in found:
        if table not in site.unjudged:
            tables[table] = (*tables.get(table, ()), column)
    return tables


@dataclass(frozen=True, slots=True)
class End:
    """The end of one episode."""

    stage: Stage
    answer: str
    submitted: bool
    state: _EndState
    browser: BrowserOptions = field(default_factory=BrowserOptions)
    """With what pages are looked at."""

    @classmethod
    def of(cls, stage: Stage, artifact: Artifact, browser: BrowserOptions) -> End:
        """The end that an artifact records; raises `GarbledState` where it is none."""
        try:
            state = msgspec.convert(_plain(artifact.state), _EndState)
        except msgspec.ValidationError as cause:
            raise GarbledState(f"the recorded end of the episode cannot be read: {cause}") from cause
        return cls(stage, artifact.answer, artifact.submitted, state, browser)

    @property
    def urls(self) -> list[str]:
        """The addresses of all tabs."""
        return _present(self.state.urls, "urls")

    @property
    def requests(self) -> list[Request]:
        """What pages asked for, in order."""
        return _present(self.state.requests, "requests")

    @property
    def active_url(self) -> str:
        """The address of the tab that the agent last looked at; empty where none is open."""
        if not self.urls:
            return ""
        if not 0 <= self.state.active < len(self.urls):
            raise GarbledState(f"the recorded end says that tab {self.state.active} of {len(self.urls)} is active")
        return self.urls[self.state.active]

    def changes(self, host: str) -> Mapping[str, TableChanges]:
        """What became of the tables of a site."""
        found = _present(self.state.changes, "changes")
        if host not in found:
            raise GarbledState(f"the recorded end says nothing about the database of {host}")
        return found[host]

    def raw_changes(self, host: str) -> Changes:
        """The same as `agent_envs.sites.apply` takes it."""
        plain: Changes = msgspec.to_builtins(dict(self.changes(host)))
        return plain


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="check"):
    """One condition on the end of an episode."""

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Everything about it that cannot be meant, each with its remedy."""
        yield from ()

    def demands(self, stage: Stage) -> bool:
        """Whether an agent that does nothing fails it, as far as the data tell."""
        return True

    def judge(self, end: End) -> Finding:
        """Whether it holds; raises `GarbledState` where the record does not say."""
        raise NotImplementedError


def _present(value: T | None, name: str) -> T:
    if value is None:
        raise GarbledState(f"the recorded end of the episode has no {name!r}; it is not that of a web episode")
    return value


def _plain(value: Any) -> Any:
    """What a live artifact says once it was written and read: of bytes base64 text, of infinity nothing."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
