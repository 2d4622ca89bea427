"""Sealed expectations: what a test expects is kept on the trusted side, and the code under test cannot look it up.

`assert f(2) == 4` becomes a report of what `f(2)` is; the comparison happens here. Nothing in the sandbox holds the 4,
no answer can be tried out, and an object that equals everything is only a value of the wrong kind.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_envs.verifiers.swe.conditions import Compared, Condition, Said, Told, holds
from agent_envs.verifiers.swe.contradictions import SEALED, TestFunction, tests_in
from agent_envs.verifiers.swe.expectations import Expectation
from agent_envs.verifiers.swe.settled import Definition, Scope, file_scope, scope_of
from agent_envs.verifiers.swe.values import read

CALL = SEALED
"""The function that a sealed test calls; the runner puts it among the builtins."""
RAISES = "_raises_"
"""The same for a block that raises; what it takes besides is for the tests of unittest."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Report:
    """What one sealed expectation got."""

    key: str
    values: tuple[object, ...]
    recorded: tuple[Any, ...] = ()
    """What it expects, as the runner tells it; only where that is to be found out."""
    said: tuple[Said | None, ...] = ()
    """What each of the values has answered about the next one; see `holds`."""


@dataclass(frozen=True, slots=True)
class Site:
    """One expectation that can be sealed."""

    key: str
    function: str
    condition: Condition
    whole: Span
    told: tuple[tuple[tuple[Span, ...], str], ...] = field(repr=False)
    """What is told, and the form in which it is."""
    recorded: tuple[Span, ...] = ()
    hidden: tuple[Span, ...] = ()
    bare: frozenset[str] = frozenset()
    """Names that are expected as they are: no secret, unless their values can be taken out of the source."""
    call: str = CALL

    @property
    def is_equality(self) -> bool:
        """Whether it wants two reported values to be equal."""
        match self.condition:
            case Compared(operator="Eq", left=Told(), right=Told()):
                return True
        return False

    def accepts(self, report: Report, recorded: Sequence[Any] = ()) -> bool:
        """Whether what was reported is what is expected."""
        if len(report.values) != max(len(self.told), 1) or len(recorded) != len(self.recorded):
            return False
        return holds(self.condition, report.values, [read(told, wanted=True) for told in recorded], report.said)


def sites_of(source: str, *, asked: Collection[str] = ()) -> list[Site]:
    """The expectations of a test file that can be sealed, in their order; none where it is no Python.

    For the keys in `asked`, which end in a question mark, the sandbox is asked for an answer instead of for values.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    text = _Text(source)
    scopes = _scopes(tree)
    exposed: set[tuple[str, str]] = set()
    while True:
        sites = [
            site
            for number, (test, scope, node) in enumerate(_places(scopes))
            for key in (f"{number}?" if f"{number}?" in asked else str(number),)
            for site in _site(key, test, node, text, Expectation(scope, _named(exposed, test.name), asked="?" in key))
        ]
        seen = {(site.function, name) for site, name in _in_sight(text, scopes, sites)}
        if seen <= exposed:
            return sites
        exposed |= seen


def sealed(source: str, sites: Collection[Site]) -> str:
    """The source with these expectations sealed, and what only they use taken out; its lines stay where they are."""
    text = _Text(source)
    edits = [text.sealing(site) for site in sites]
    for definition in _taken_out(text, _scopes(ast.parse(source)), sites):
        for number, value in enumerate(definition.values):
            edits.append(text.blank(value, str(number)))
    return text.edited(edits)


def recording(source: str, sites: Collection[Site]) -> str:
    """The source in which each of these expectations also tells what it expects."""
    text = _Text(source)
    return text.edited([text.sealing(site, recording=True) for site in sites])


def in_sight(source: str, sites: Collection[Site]) -> set[str]:
    """The keys of expectations that would be no secret if these were sealed and no others."""
    text = _Text(source)
    return {site.key for site, _ in _in_sight(text, _scopes(ast.parse(source)), sites)}


def read_report(key: str, told: Sequence[Any], recorded: Sequence[Any] = (), said: Sequence[Any] = ()) -> Report:
    """A report as the runner tells it; the process that told it is nobody to be trusted."""
    answers = tuple(Said(*map(bool, one)) if isinstance(one, list) and len(one) == 2 else None for one in said)
    return Report(key, tuple(map(read, told)), tuple(recorded), answers)


_Scopes = list[tuple[TestFunction, Scope]]


def _scopes(tree: ast.Module) -> _Scopes:
    file = file_scope(tree)
    return [(test, scope_of(test, file)) for test in tests_in(tree)]


def _named(exposed: Collection[tuple[str, str]], function: str) -> set[str]:
    return {name for where, name in exposed if where == function}


def _in_sight(text: _Text, scopes: _Scopes, sites: Collection[Site]) -> Iterator[tuple[Site, str]]:
    """The names that are expected as they are although their values stay where they can be seen."""
    uses = {(one.name, text.span(use)) for one in _taken_out(text, scopes, sites) for use in one.uses}
    for site in sites:
        for name in site.bare:
            if not any((name, span) in uses for span in site.hidden):
                yield site, name


def _taken_out(text: _Text, scopes: _Scopes, sites: Collection[Site]) -> list[Definition]:
    """The definitions of which every use is a part of what these sites expect."""
    hidden = [span for site in sites for span in site.hidden]
    found = []
    for _, scope in scopes:
        for definition in scope.definitions:
            spans = [text.span(use) for use in definition.uses]
            if spans and all(any(start <= at and end <= stop for start, stop in hidden) for at, end in spans):
                found.append(definition)
    return found


class _Text:
    """Positions of the source as bytes."""

    def __init__(self, source: str) -> None:
        self.content = source.encode("utf-8")
        self._starts = [0]
        for line in self.content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def sealing(self, site: Site, *, recording: bool = False) -> tuple[int, int, str]:
        """The edit that reports what is told in the place of the whole, over as many lines as before."""
        told = ", ".join(form.format(*(self._of(*span) for span in spans)) for spans, form in site.told)
        extra = ", ".join(f"({self._of(*span)})" for span in site.recorded) if recording else ""
        words = f'"{site.key}"' + (f", [{told}]" if site.told else "") + (f", wanted=[{extra}]" if recording else "")
        start, end = site.whole
        lines = self.content[start:end].count(b"\n") - words.count("\n")
        return start, end, f"{site.call}({words}" + "\n" * max(lines, 0) + ")"

    def blank(self, value: ast.expr, instead: str) -> tuple[int, int, str]:
        """The edit that takes a value out of the source."""
        start, end = self.span(value)
        lines = self.content[start:end].count(b"\n")
        return start, end, f"({instead}" + "\n" * lines + ")" if lines else instead

    def edited(self, edits: Collection[tuple[int, int, str]]) -> str:
        content = self.content
        for start, end, piece in sorted(set(edits), reverse=True):
            content = content[:start] + piece.encode("utf-8") + content[end:]
        return content.decode("utf-8")

    def _of(self, start: int, end: int) -> str:
        return self.content[start:end].decode("utf-8")


def _places(scopes: _Scopes) -> Iterator[tuple[TestFunction, Scope, ast.Assert | ast.Call | ast.withitem]]:
    """Wherever an expectation may be, in an order that does not depend on whether it can be sealed."""
    for test, scope in scopes:
        for node in ast.walk(test):
            match node:
                case ast.Assert() | ast.withitem():
                    yield test, scope, node
                case ast.Expr(value=ast.Call(func=ast.Attribute()) as call):
                    yield test, scope, call


def _site(
    key: str, test: TestFunction, node: ast.Assert | ast.Call | ast.withitem, text: _Text, found: Expectation
) -> Iterator[Site]:
    match node:
        case ast.Assert(test=whole):
            condition, call = found.condition(whole), CALL
        case ast.withitem(context_expr=whole):
            condition, call = found.raised(whole), RAISES
        case ast.Call() as whole:
            condition, call = found.called(whole), CALL
    if condition is None:
        return
    yield Site(
        key=key,
        function=test.name,
        condition=condition,
        whole=text.span(whole),
        told=tuple((tuple(map(text.span, nodes)), form) for nodes, form in found.told),
        recorded=tuple(map(text.span, found.recorded)),
        hidden=tuple(map(text.span, found.hidden)),
        bare=frozenset(found.bare),
        call=call,
    )
