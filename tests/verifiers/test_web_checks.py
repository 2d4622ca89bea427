"""Addresses, requests, reports of infeasibility and their combinations are judged from the record alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_envs.verifiers.web import WebVerifier, checks_of

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.episode import Episode, append_episode
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

Judge = Callable[..., Verdict]
HOST = "http://stall.test"
ANSWER = {"check": "answer", "type": "text", "expected": "pan"}
UNTOUCHED = {"check": "rows", "host": "stall.test", "wanted": []}


def at(url: str, **fields: Any) -> dict[str, Any]:
    return {"check": "url", "url": HOST + url, **fields}


def passed(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    ("check", "url"),
    [
        (at("/orders/1"), "/orders/1"),
        (at("/orders/1"), "/orders/1?sort=up#top"),
        (at("/orders/*"), "/orders/27"),
        (at("/orders/**"), "/orders/27/items"),
        (at("/orders/**"), "/orders"),
        (at("/caf\u00e9"), "/caf%C3%A9"),
        (at(""), "/"),
        (at("/s", query={"q": "pan", "page": 2}), "/s?page=2&q=pan&x="),
        (at("/s", query={"q": {"matches": "pans?"}}, query_exact=True), "/s?q=pans"),
        (at("/s", query={"price": {"between": [10, 20]}}), "/s?price=12.5"),
        (at("/s", query={"tag": ["a", "b"]}), "/s?tag=a&tag=b"),
    ],
)
def test_the_address_that_is_meant_passes(web_verdict: Judge, check: Any, url: str) -> None:
    assert passed(web_verdict(check, urls=[HOST + url]))


@pytest.mark.parametrize(
    ("check", "url"),
    [
        (at("/view"), HOST + "/viewedasdf"),
        (at("/orders/*"), HOST + "/orders/"),
        (at("/orders/*"), HOST + "/orders/1/items"),
        (at("/orders/*"), HOST + "/orders/1%2Fitems/x"),
        (at("/a/b"), HOST + "/a%2Fb"),
        (at("/"), "http://other.test/"),
        (at("/"), "http://stall.test@other.test/"),
        (at("/"), "http://stall.test.other.test/"),
        (at("/"), "http://ada@stall.test/"),
        (at("/"), "http://stall.test:8080/"),
        (at("/"), "https://stall.test/"),
        (at("/"), "http://other.test/?http://stall.test/"),
        (at("/"), "about:blank"),
        (at("/"), "http://[bad/"),
        (at("/"), HOST + "/" + "a" * 10**6),
        (at("/s", query={"q": "pan"}), HOST + "/s?q=pans"),
        (at("/s", query={"q": "pan"}), HOST + "/s?q=pot&q=pan"),
        (at("/s", query={"q": "pan"}), HOST + "/s#?q=pan"),
        (at("/s", query={"q": "pan"}, query_exact=True), HOST + "/s?q=pan&x=1"),
    ],
)
def test_an_address_that_only_looks_alike_fails(web_verdict: Judge, check: Any, url: str) -> None:
    assert not passed(web_verdict(check, urls=[url]))


def test_the_tab_that_counts_is_the_one_the_agent_looked_at(web_verdict: Judge) -> None:
    tabs: dict[str, Any] = {"urls": [HOST + "/a", HOST + "/b"], "active": 1}
    assert passed(web_verdict(at("/b"), **tabs))
    assert not passed(web_verdict(at("/a"), **tabs))
    assert passed(web_verdict(at("/a", tab="any"), **tabs))
    assert not passed(web_verdict(at("/a"), urls=[], active=0))


def asked(form: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"method": "POST", "url": HOST + "/cart", "status": 303, "form": form} | fields


POST = {"check": "requests", "method": "POST", "url": HOST + "/cart", "form": {"item": "pan", "n": 2}, "status": 303}


@pytest.mark.parametrize("form", [{"item": "pan", "n": "2"}, {"item": "pan", "n": 2, "x": "y"}])
def test_a_request_with_the_wanted_fields_counts(web_verdict: Judge, form: dict[str, Any]) -> None:
    assert passed(web_verdict(POST, requests=[asked({}, method="GET"), asked(form)]))


@pytest.mark.parametrize(
    "requests",
    [
        [],
        [asked({"item": "pan", "n": "2"})] * 2,
        [asked({"item": "pan"})],
        [asked({"item": ["pot", "pan"], "n": "2"})],
        [asked({"item": "pan", "n": ["2", "2"]})],
        [asked({"item": "p\u0430n", "n": "2"})],
        [asked({"item": "pan' OR '1'='1", "n": "2"})],
        [asked({"item": "pan", "n": "1e99999999"})],
        [asked({"item": {"in": ["pan"]}, "n": "2"})],
        [asked({"item": "pan", "n": "2"}, status=422)],
        [asked({"item": "pan", "n": "2"}, method="GET")],
        [asked({"item": "pan", "n": "2"}, url="http://other.test/cart")],
        [asked({"item": "pan", "n": "2"}), *[asked({})] * 2000],
    ],
    ids=lambda requests: f"{len(requests)} {str(requests)[40:90]}",
)
def test_requests_that_are_not_the_wanted_one_do_not_count(web_verdict: Judge, requests: Any) -> None:
    assert not passed(web_verdict(POST, requests=requests))


def test_a_request_can_be_forbidden(web_task: Callable[..., Task], web_end: Callable[..., Artifact]) -> None:
    task = web_task(ANSWER, POST | {"count": 0})
    assert passed(WebVerifier().verify(task, web_end(answer="pan")))
    for form in ({"item": "pan", "n": "2"}, {}):  # nothing is known of a form that was too large to be kept
        assert not passed(WebVerifier().verify(task, web_end(answer="pan", requests=[asked(form)])))


def test_only_a_report_passes_where_the_task_cannot_be_done(web_verdict: Judge) -> None:
    report = {"check": "infeasible"}
    assert passed(web_verdict(report, infeasible="there is no such pan"))
    assert not passed(web_verdict(report, answer="there is no such pan"))
    assert not passed(web_verdict(report, answer="12", infeasible="there is no such pan"))
    assert not passed(web_verdict(report))


def test_a_report_never_passes_where_the_task_can_be_done(web_verdict: Judge) -> None:
    verdict = web_verdict(ANSWER, answer="pan", infeasible="no")
    assert verdict.evidence["why"] == "the task can be done, and was reported as infeasible"


def test_checks_combine(web_verdict: Judge) -> None:
    either = {"check": "any", "of": [ANSWER, {"check": "all", "of": [at("/pan"), {"check": "not", "of": UNTOUCHED}]}]}
    assert passed(web_verdict(either, answer="pan"))
    assert passed(web_verdict(either, "DELETE FROM cart", urls=[HOST + "/pan"]))
    assert not passed(web_verdict(either, urls=[HOST + "/pan"]))
    assert not passed(web_verdict(either, "DELETE FROM cart"))


def test_every_check_must_hold_and_the_first_that_does_not_is_named(
    web_task: Callable[..., Task], web_end: Callable[..., Artifact]
) -> None:
    verdict = WebVerifier().verify(web_task(ANSWER, UNTOUCHED, at("/")), web_end("DELETE FROM cart", answer="pan"))
    assert verdict.evidence["why"] == "check 2 (rows): 1 change(s) that nobody asked for"
    assert [found["passed"] for found in verdict.evidence["checks"]] == [True, False, True]


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ([], "needs 'checks'"),
        (["url"], "check 1: 'url' is no check"),
        ([ANSWER, {"check": "ulr"}], "check 2 (ulr): `check` is 'ulr'; did you mean 'url'?"),
        ([at("/") | {"qeury": {}}], "check 1 (url): Object contains unknown field `qeury`; did you mean `query`?"),
        ([at("/?q=a")], "put what follows the ? into `query`"),
        ([at("/a*")], "* stands for one whole segment"),
        ([{"check": "url", "url": "/orders"}], "expected the whole address"),
        ([{"check": "url", "url": "http://shop.test/"}], "'shop.test' is no site of the task"),
        ([at("/", query={"q": {"like": "a"}})], "a matcher is a literal or exactly one of"),
        ([at("/", query={"q": {"matches": "("}})], "cannot be read"),
        ([at("/", query={"q": {"matches": "(a|b)*"}})], "keep it busy"),
        ([at("/", query={"q": {"between": [2, 1]}})], "the smaller first"),
        ([POST | {"method": "post"}], "`method` is 'post'"),
        ([UNTOUCHED], "is passed by doing nothing"),
        ([at("/*")], "is passed by doing nothing"),
        ([{"check": "not", "of": ANSWER}], "is passed by doing nothing"),
        ([{"check": "any", "of": [ANSWER, UNTOUCHED]}], "is passed by doing nothing"),
        ([{"check": "any", "of": []}], "`of` is empty"),
        ([{"check": "any", "of": [ANSWER, at("/a*")]}], "`of` 2: `url`"),
        ([{"check": "any", "of": [ANSWER, {"check": "x"}]}], "`of` 2: `check` is 'x'"),
        ([UNTOUCHED | {"wanted": [{"table": "order", "kind": "added"}]}], "did you mean 'orders'?"),
        ([UNTOUCHED | {"wanted": [{"table": "sessions", "kind": "added"}]}], "does not judge"),
        (
            [UNTOUCHED | {"wanted": [{"table": "orders", "kind": "added", "where": {"itme": 1}}]}],
            "did you mean 'item'?",
        ),
        ([UNTOUCHED | {"wanted": [{"table": "orders", "kind": "new"}]}], "$.wanted[0].kind"),
        ([UNTOUCHED | {"wanted": [{"table": "orders", "kind": "added", "where_before": {"id": 1}}]}], "use `where`"),
        ([UNTOUCHED | {"wanted": [{"table": "orders", "kind": "changed"}]}], "needs `where`"),
        ([UNTOUCHED | {"wanted": [{"table": "orders", "kind": "added", "count": 0}]}], "`count` is 0"),
        ([UNTOUCHED | {"wanted": [{"table": "orders", "kind": "added", "where": {"id": [1]}}]}], 'did you mean {"in"'),
        (
            [UNTOUCHED | {"wanted": [{"table": "orders", "kind": "added", "where": {"id": {"same": "a"}}}]}],
            "`{\"same\": 'a'}` is there once",
        ),
        ([UNTOUCHED | {"free": [{"table": "orders", "columns": ["nots"]}]}], "did you mean 'note'?"),
        ([UNTOUCHED | {"host": "shop.test"}], "'shop.test' is no site"),
        (
            [UNTOUCHED | {"wanted": [{"table": "cart", "kind": "added"}], "free": [{"table": "cart"}]}],
            "free as a whole",
        ),
    ],
)
def test_a_check_that_cannot_be_meant_is_named_before_anybody_plays(
    web_task: Callable[..., Task], checks: Any, message: str
) -> None:
    with pytest.raises(TaskError, match="task 'buy'") as caught:
        checks_of(web_task(*checks))
    assert message in str(caught.value)


def test_a_secret_that_nothing_reads_is_named(web_task: Callable[..., Task]) -> None:
    with pytest.raises(TaskError, match="has 'anwser', which nothing reads"):
        checks_of(web_task(ANSWER, anwser="pan"))


def test_a_secret_that_is_none_is_named() -> None:
    with pytest.raises(TaskError, match="secret of task 'x' is 5; expected a dict"):
        checks_of(Task(id="x", prompt="x", secret=5))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "state", [{"urls": None}, {"urls": "x"}, {"urls": [1]}, {"active": 7}, {"active": "0"}, {"infeasible": 1}]
)
def test_a_garbled_record_is_no_verdict(web_verdict: Judge, state: dict[str, Any]) -> None:
    assert web_verdict(at("/"), **state).outcome is Outcome.ERROR


def test_the_record_of_another_kind_of_episode_is_no_verdict(web_task: Callable[..., Task]) -> None:
    verdict = WebVerifier().verify(web_task(at("/")), Artifact(answer="x", submitted=True))
    assert (verdict.outcome, "no 'urls'" in verdict.evidence["why"]) == (Outcome.ERROR, True)


REVERIFY = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from agent_envs.episode import read_episodes
from agent_envs.tasks import Task
from agent_envs.verifiers.web import WebVerifier
name, conftest, episodes, tasks = sys.argv[1:]
spec = spec_from_file_location(name, conftest)
sys.modules[name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
for episode, task in zip(read_episodes(episodes), open(tasks), strict=True):
    assert WebVerifier().verify(Task.from_json(task), episode.artifact) == episode.verdict, episode.verdict
"""


def test_a_stored_episode_has_the_same_verdict_in_another_process(
    web_task: Callable[..., Task], web_end: Callable[..., Artifact], tmp_path: Path
) -> None:
    bytes_, infinity = ({"table": "cart", "kind": "added", "where": {"weight": value}} for value in ("AAE=", None))
    task = web_task(ANSWER, at("/"), UNTOUCHED | {"wanted": [bytes_, infinity]}, POST)
    put = "INSERT INTO cart VALUES ('\ue000', 'lid', 2, x'0001'), ('bob', 'lid', 2, 9e999)"
    lone = asked({"item": "\ud800"})
    runs = [((put,), [asked({"item": "pan", "n": "2"})]), ((put, "DELETE FROM orders"), [lone])]
    for statements, requests in runs:
        artifact = web_end(*statements, answer="pan", requests=requests)
        verdict = WebVerifier().verify(task, artifact)
        append_episode(
            tmp_path / "e.jsonl",
            Episode(id="e", task_id=task.id, task_hash=task.content_hash, verdict=verdict, artifact=artifact),
        )
    (tmp_path / "t.jsonl").write_text(f"{task.to_json()}\n" * 2)
    name = task.setup["sites"][0].partition(":")[0]
    conftest = str(Path(__file__).with_name("conftest.py"))
    script = [sys.executable, "-c", REVERIFY, name, conftest, tmp_path / "e.jsonl", tmp_path / "t.jsonl"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
