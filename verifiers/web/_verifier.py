"""The verifier of web tasks, and how the checks of a task are read.

What a task means is settled before anybody plays it.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, get_args

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._answer import Answer, AnyKind, Infeasible
from agent_envs.verifiers.web._changes import Free, Wanted
from agent_envs.verifiers.web._check import Check, Contradiction, End, Finding, GarbledState, Stage
from agent_envs.verifiers.web._combined import AllOf, AnyOf, Not, parts_of, shown
from agent_envs.verifiers.web._page import Page
from agent_envs.verifiers.web._page_text import Content
from agent_envs.verifiers.web._requests import Requests
from agent_envs.verifiers.web._rows import Rows
from agent_envs.verifiers.web._urls import Url

from agent_envs.artifact import Artifact, Verdict
from agent_envs.browser import BrowserOptions
from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.tasks import Task

_PLAIN: dict[str, type[Check]] = {
    "url": Url,
    "rows": Rows,
    "page": Page,
    "requests": Requests,
    "infeasible": Infeasible,
}
_INSIDE: dict[str, list[Any]] = {"rows": [Wanted, Free], "page": [Content]}
_COMBINED: dict[str, type[AnyOf] | type[AllOf]] = {"any": AnyOf, "all": AllOf}
_NAMES = ("answer", *_PLAIN, *_COMBINED, "not")


class WebVerifier:
    """Judges what an agent did on web sites by the checks of the task, all of which must hold.

    The secret holds `checks`, a list of JSON objects; docs/web-verdicts.md describes them. It reads the artifact and
    the task alone: what a page check looks at is a fresh window over a database rebuilt from the record.
    """

    def __init__(self, *, browser: BrowserOptions | None = None) -> None:
        """`browser`: with what page checks look; by default with whatever is found on this machine."""
        self.browser = browser or BrowserOptions()

    def verify(self, task: Task, artifact: Artifact) -> Verdict:
        """Whether every check holds; `Outcome.ERROR` where the artifact does not say, which no agent can cause."""
        checks = checks_of(task)
        try:
            end = End.of(Stage.of(task), artifact, self.browser)
            return _judged(checks, end)
        except GarbledState as problem:
            return Verdict.error(str(problem))


def checks_of(task: Task) -> tuple[Check, ...]:
    """The checks of a task; raises `TaskError` naming task, check, field and remedy where they cannot be meant.

    An environment calls it when a task is opened, so that a misspelt column is not found out after the episode.
    """
    task.check_dicts()
    items = task.secret.get("checks")
    if not isinstance(items, list) or not items:
        raise TaskError(f"the secret of task {task.id!r} needs 'checks', a list of at least one check")
    if unknown := sorted(task.secret.keys() - {"checks"}):
        raise TaskError(f"the secret of task {task.id!r} has {unknown[0]!r}, which nothing reads; it holds 'checks'")
    stage = Stage.of(task)
    checks = tuple(_checked(task, number, item, stage) for number, item in enumerate(items, start=1))
    if not any(check.demands(stage) for check in checks):
        raise TaskError(
            f"task {task.id!r} is passed by doing nothing: no check asks for an answer, an address, a page, a request"
            " or a change; add one that does"
        )
    return checks


def _checked(task: Task, number: int, item: object, stage: Stage) -> Check:
    name = item.get("check") if isinstance(item, dict) else None
    where = f"task {task.id!r}, check {number}" + (f" ({name})" if isinstance(name, str) else "")
    try:
        check = _read(item)
    except Contradiction as problem:
        raise TaskError(f"{where}: {problem}") from None
    if problems := list(check.contradictions(stage)):
        raise TaskError(f"{where}: {'; '.join(problems)}")
    return check


def _read(item: object) -> Check:
    if not isinstance(item, dict):
        raise Contradiction(f'{item!r} is no check; expected an object such as {{"check": "url", "url": "..."}}')
    name = item.get("check")
    try:
        if name == "answer":
            return Answer.of(item)
        if name in _COMBINED:
            return _COMBINED[name](of=tuple(_read_part(n, part) for n, part in enumerate(_parts(item), start=1)))
        if name == "not":
            return Not(of=_read(_only(item)))
        if name in _PLAIN:
            return msgspec.convert(item, _PLAIN[name])
    except msgspec.ValidationError as cause:
        raise Contradiction(_explained(item, str(cause))) from None
    near = get_close_matches(str(name), _NAMES, n=1)
    raise Contradiction(f"`check` is {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"one of {_NAMES}"))


def _read_part(number: int, part: object) -> Check:
    try:
        return _read(part)
    except Contradiction as problem:
        raise Contradiction(f"`of` {number}: {problem}") from None


def _parts(item: JsonObject) -> list[Any]:
    parts = _only(item)
    if not isinstance(parts, list):
        raise Contradiction("`of` must be a list of checks")
    return parts


def _only(item: JsonObject) -> Any:
    if item.keys() != {"check", "of"}:
        raise Contradiction(f"it has {sorted(item)}; expected 'check' and 'of' alone")
    return item["of"]


def _explained(item: JsonObject, problem: str) -> str:
    """msgspec's message, with the nearest field where a name is unknown."""
    if "unknown field" not in problem:
        return problem
    name = problem.split("`")[1]
    near = get_close_matches(name, _fields(item), n=1, cutoff=0.5)
    return f"{problem}; did you mean `{near[0]}`?" if near else problem


def _fields(item: JsonObject) -> list[str]:
    kinds: list[Any] = [_PLAIN.get(str(item.get("check")))]
    if item.get("check") == "answer":
        kinds = [kind for kind in get_args(AnyKind) if kind.__struct_config__.tag == item.get("type")]
    kinds += _INSIDE.get(str(item.get("check")), [])
    return [name for kind in kinds if kind for name in kind.__struct_fields__]


def _judged(checks: tuple[Check, ...], end: End) -> Verdict:
    expects_report = any(isinstance(part, Infeasible) for check in checks for part in parts_of(check))
    if end.state.infeasible and not expects_report:
        return Verdict.unresolved(
            "the task can be done, and was reported as infeasible", reported=clipped(end.state.infeasible)
        )
    findings = [None if _opens_a_page(check) else check.judge(end) for check in checks]
    failed = any(finding is not None and not finding.passed for finding in findings)
    skipped = Finding(False, "not looked at, because another check had failed")
    return _verdict(
        checks,
        [finding or (skipped if failed else check.judge(end)) for check, finding in zip(checks, findings, strict=True)],
    )


def _opens_a_page(check: Check) -> bool:
    """Whether it needs a browser, which what has failed already can do without."""
    return any(isinstance(part, Page) for part in parts_of(check))


def _verdict(checks: tuple[Check, ...], findings: list[Finding]) -> Verdict:
    listed = [
        {"check": check.__struct_config__.tag, "passed": finding.passed} | shown(finding)
        for check, finding in zip(checks, findings, strict=True)
    ]
    failed = [(n, check, one) for n, (check, one) in enumerate(zip(checks, findings, strict=True), 1) if not one.passed]
    if not failed:
        return Verdict.resolved(checks=listed)
    number, check, first = next((row for row in failed if not _opens_a_page(row[1])), failed[0])
    return Verdict.unresolved(f"check {number} ({check.__struct_config__.tag}): {first.why}", checks=listed)
