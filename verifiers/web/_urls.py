"""Patterns of addresses: host and path exactly, where `*` stands for one segment and a final `**` for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._check import Check, Contradiction, End, Finding, Stage
from agent_envs.verifiers.web._matchers import contradictions, matches_text

_LONGEST = 20_000


def pattern_contradictions(pattern: str, stage: Stage) -> Iterator[str]:
    """What is wrong with the pattern of an address."""
    parts = _split(pattern)
    if parts is None or parts.scheme != "http" or not parts.hostname:
        yield f"`url` is {pattern!r}; expected the whole address, such as 'http://shop.test/orders/*'"
        return
    if parts.query or parts.fragment or "?" in pattern:
        yield f"`url` is {pattern!r}; put what follows the ? into `query`, and leave out what follows a #"
    segments = _segments(parts)
    if "**" in segments[:-1] or any("*" in segment and segment not in {"*", "**"} for segment in segments):
        yield f"`url` is {pattern!r}; * stands for one whole segment, ** (at the end only) for all the rest"
    try:
        stage.site(parts.hostname)
    except Contradiction as problem:
        yield f"`url`: {problem}"


def query_contradictions(query: Mapping[str, Any] | None) -> Iterator[str]:
    """What is wrong with the matchers of a query or a form."""
    for name, matcher in (query or {}).items():
        yield from (f"`{name}` {problem}" for problem in contradictions(matcher))


def is_at(url: str, pattern: str) -> bool:
    """Whether an address has the host and the path of a pattern."""
    found, wanted = _split(url), _split(pattern)
    if found is None or wanted is None or _place(found) != _place(wanted):
        return False
    have, want = _segments(found), _segments(wanted)
    if want[-1] == "**":
        want, have = want[:-1], have[: len(want) - 1]
    return len(have) == len(want) and all(
        (mask == "*" and segment) or unquote(mask) == unquote(segment) for mask, segment in zip(want, have, strict=True)
    )


def fields_differ(wanted: Mapping[str, Any], found: Mapping[str, Any], *, exact: bool) -> list[str]:
    """The names of a query or form that will not do; where it must be exact, also those that nobody asked for."""
    wrong = [name for name, matcher in wanted.items() if name not in found or not matches_text(matcher, found[name])]
    return wrong + ([name for name in found if name not in wanted] if exact else [])


def query_of(url: str) -> dict[str, Any]:
    """The fields of an address; of a repeated one a list, which no single value equals."""
    parts = _split(url)
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(parts.query if parts else "", keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


class Url(Check, frozen=True, tag="url"):
    """The agent ended at this address."""

    url: str
    query: dict[str, Any] = msgspec.field(default_factory=dict)
    """Fields that the address must have."""
    query_exact: bool = False
    """Whether it may have no others."""
    tab: Literal["active", "any"] = "active"

    def contradictions(self, stage: Stage) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        yield from pattern_contradictions(self.url, stage)
        yield from query_contradictions(self.query)

    def demands(self, stage: Stage) -> bool:
        """Whether it is elsewhere than where the agent begins."""
        return bool(self._problem(stage.start))

    def judge(self, end: End) -> Finding:
        """Whether the active tab (or any) is there."""
        tabs = end.urls if self.tab == "any" else [end.active_url]
        problems = [problem for url in tabs if (problem := self._problem(url))]
        seen = {"found": [clipped(url) for url in tabs[:10]], "expected": self.url}
        if len(problems) < len(tabs):
            return Finding(True, evidence=seen)
        return Finding(False, problems[0] if problems else "no tab is open", {**seen, "query": self.query})

    def _problem(self, url: str) -> str:
        if not is_at(url, self.url):
            return "the agent ended at another address"
        differ = fields_differ(self.query, query_of(url), exact=self.query_exact)
        return f"the address has another query: {', '.join(map(clipped, differ[:10]))}" if differ else ""


def _split(url: str) -> SplitResult | None:
    if len(url) > _LONGEST:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _place(parts: SplitResult) -> tuple[str, str, int, str | None]:
    return parts.scheme, parts.hostname or "", parts.port or 80, parts.username


def _segments(parts: SplitResult) -> list[str]:
    return (parts.path or "/").split("/")[1:]
