"""What pages asked the sites for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._check import Check, End, Finding, Request, Stage
from agent_envs.verifiers.web._matchers import contradictions, matches
from agent_envs.verifiers.web._urls import fields_differ, is_at, pattern_contradictions, query_contradictions, query_of

from agent_envs.json_lines import JsonObject
from agent_envs.sites import MOST_LOGGED

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Requests(Check, frozen=True, tag="requests"):
    """Pages asked for this, so many times."""

    url: str
    method: str = "GET"
    query: dict[str, Any] = msgspec.field(default_factory=dict)
    query_exact: bool = False
    form: dict[str, Any] = msgspec.field(default_factory=dict)
    """Fields that the form (or the JSON object) must have. One that was sent twice has both values, in a list."""
    form_exact: bool = False
    status: int | dict[str, Any] = msgspec.field(default_factory=lambda: {"any": True})
    """How it was answered: a number or another matcher."""
    count: int | dict[str, Any] = 1
    """How many times: a number or another matcher; 0 where it must not have been asked for."""

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        yield from pattern_contradictions(self.url, stage)
        if self.method not in _METHODS:
            yield f"`method` is {self.method!r}; expected one of {', '.join(_METHODS)}"
        for name in ("query", "form"):
            yield from (f"`{name}`: {problem}" for problem in query_contradictions(getattr(self, name)))
        for name in ("status", "count"):
            yield from (f"`{name}` {problem}" for problem in contradictions(getattr(self, name)))
        if isinstance(self.count, int) and self.count < 0:
            yield f"`count` is {self.count}; expected 0 or more"

    def demands(self, stage: Stage) -> bool:
        """Whether anything must have been asked for."""
        return not matches(self.count, 0)

    def judge(self, end: End) -> Finding:
        """Whether it was asked for as often as it should be."""
        if len(end.requests) >= MOST_LOGGED:
            return Finding(False, f"pages made {MOST_LOGGED} requests or more, and the later ones were not kept")
        found = [request for request in end.requests if self._is_meant(request)]
        if matches(self.count, 0):  # A form too large to be kept may have been the one that is forbidden.
            found += [one for one in end.requests if self.form and not one.form and self._is_meant(one, form=False)]
        if matches(self.count, len(found)):
            return Finding(True, evidence={"requests": [_shown(request) for request in found[:10]]})
        near = [one for one in end.requests if one.method == self.method and is_at(one.url, self.url)]
        why = f"asked for {len(found)} time(s), expected {self.count}: {self.method} {self.url}"
        return Finding(False, why, {"requests": [_shown(request) for request in (found or near)[:10]]})

    def _is_meant(self, request: Request, *, form: bool = True) -> bool:
        return (
            request.method == self.method
            and is_at(request.url, self.url)
            and not fields_differ(self.query, query_of(request.url), exact=self.query_exact)
            and not (form and fields_differ(self.form, request.form, exact=self.form_exact))
            and matches(self.status, request.status)
        )


def _shown(request: Request) -> JsonObject:
    form = {clipped(name, 80): clipped(str(value), 200) for name, value in list(request.form.items())[:20]}
    return {"method": request.method, "url": clipped(request.url), "status": request.status, "form": form}
