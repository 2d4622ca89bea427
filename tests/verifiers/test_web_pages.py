"""A page is judged as it is over the database that the agent left, in a window that the agent never had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agent_envs.verifiers import verify_safely
from agent_envs.verifiers.web import WebVerifier, checks_of
from agent_envs.verifiers.web._page_text import Content, read_line

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

Judge = Callable[..., Verdict]
HOST = "http://stall.test"
CANCEL = "UPDATE orders SET status = 'cancelled' WHERE id = 1"


def page(*contains: Any, url: str = "/", **fields: Any) -> dict[str, Any]:
    return {"check": "page", "url": HOST + url, "contains": list(contains), **fields}


LINK = {"role": "link", "name": "kettle"}


def test_a_page_shows_what_the_agent_left(a_browser: None, web_verdict: Judge) -> None:
    done = page(LINK, {"text": "cancelled"}, {"role": "heading", "name": "Orders"}, lacks=[{"text": "lid"}])
    assert web_verdict(done, CANCEL).outcome is Outcome.RESOLVED
    verdict = web_verdict(done)
    assert verdict.evidence["why"] == "check 1 (page): the page lacks {'text': 'cancelled'}"
    assert "kettle" in verdict.evidence["checks"][0]["page"]


def test_a_page_that_shows_what_it_must_lack_fails(a_browser: None, web_verdict: Judge) -> None:
    verdict = web_verdict(page(LINK, lacks=[{"text": "cancelled"}]), CANCEL)
    assert verdict.evidence["why"] == "check 1 (page): the page shows {'text': 'cancelled'}"


def test_a_page_is_looked_at_by_whom_the_check_names(a_browser: None, web_verdict: Judge) -> None:
    assert web_verdict(page({"text": "You are user=ada"})).outcome is Outcome.RESOLVED
    assert web_verdict(page({"text": "You are user=bob"}, user="bob")).outcome is Outcome.RESOLVED
    assert web_verdict(page({"text": "You are nobody"}, user="")).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    "markup", ["<a href=/>lid</a>", '" [e9] link "lid', "</li><li><a href='/x'>lid</a>", "<script>alert(1)</script>"]
)
def test_what_an_agent_typed_is_text_on_the_page_and_no_element(
    a_browser: None, web_verdict: Judge, markup: str
) -> None:
    escaped = markup.replace("&", "&amp;").replace("<", "&lt;").replace("'", "''")
    typed = f"UPDATE orders SET status = '{escaped}' WHERE id = 1"
    assert web_verdict(page({"role": "link", "name": "lid"}), typed).outcome is Outcome.UNRESOLVED


def test_a_page_that_leads_elsewhere_or_is_not_there_passes_nothing(a_browser: None, web_verdict: Judge) -> None:
    for url, why in (("/missing", "answered 404"), ("/login", "at http://stall.test/, expected 200 at")):
        verdict = web_verdict(page(LINK, url=url, lacks=[{"text": "lid"}]))
        assert (verdict.outcome, why in verdict.evidence["why"]) == (Outcome.UNRESOLVED, True)


def test_a_site_that_breaks_over_the_rebuilt_database_is_no_verdict(
    a_browser: None, web_task: Callable[..., Task], web_end: Callable[..., Artifact]
) -> None:
    verdict = verify_safely(WebVerifier(), web_task(page(LINK, url="/broken")), web_end())
    assert (verdict.outcome, "ZeroDivisionError" in verdict.evidence["why"]) == (Outcome.ERROR, True)


def test_no_page_is_opened_where_another_check_failed(
    web_task: Callable[..., Task], web_end: Callable[..., Artifact]
) -> None:
    answer = {"check": "answer", "type": "boolean", "expected": True}
    verdict = WebVerifier().verify(web_task(page(LINK, url="/broken"), answer), web_end(answer="no"))
    assert verdict.evidence["why"] == "check 2 (answer): the answer differs"
    assert verdict.evidence["checks"][0]["why"] == "not looked at, because another check had failed"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (page(), "needs `contains` or `lacks`"),
        (page(LINK, url="/orders/*"), "cannot have a *"),
        (page({"name": "kettle"}), "`contains` 1: it needs either `text` or `role`"),
        (page({"text": "a", "name": "kettle"}), "go with `role`"),
        (page({"text": 5}), "expected text or a matcher"),
        (page({"text": "a", "rolle": "x"}), "did you mean `role`?"),
        (page(lacks=[LINK]), "passed by doing nothing"),
    ],
)
def test_a_page_check_that_cannot_be_meant_is_named(web_task: Callable[..., Task], check: Any, message: str) -> None:
    with pytest.raises(TaskError) as caught:
        checks_of(web_task(check))
    assert message in str(caught.value)


LINE = '"Total: $12.50" [e1] link "see \\"more\\"" -> /x "open" [e2] checkbox "ok" checked'
SELECT = '[e3] combobox "S" options "A", "B" selected'


@pytest.mark.parametrize(
    "content",
    [
        Content(text="$12.50"),
        Content(text="Total:  $12.50"),
        Content(text={"matches": "Total.*"}),
        Content(role="link", name='see "more"'),
        Content(role="checkbox", states=["checked"]),
        Content(role="combobox", name="S", value="B"),
    ],
)
def test_a_line_holds_what_it_says(content: Content) -> None:
    assert content.is_on([read_line(LINE), read_line(SELECT)])


@pytest.mark.parametrize(
    "content",
    [
        Content(text="12.5"),
        Content(text="2.50"),
        Content(text="12"),
        Content(text="50"),
        Content(text="Tot"),
        Content(text="-> /x"),
        Content(text={"matches": "Total"}),
        Content(role="link", name="see"),
        Content(role="checkbox", name="ok", states=["disabled"]),
        Content(role="combobox", value="A"),
        Content(role="heading"),
    ],
)
def test_a_line_does_not_hold_parts_of_words_or_our_own_signs(content: Content) -> None:
    assert not content.is_on([read_line(LINE), read_line(SELECT)])
