"""A change of a database passes where the wanted rows changed and nothing else did."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from agent_envs.verifiers.web import WebVerifier
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.tasks import Task

Judge = Callable[..., Verdict]
HOST = "stall.test"
CANCEL = "UPDATE orders SET status = 'cancelled' WHERE id = 1"


def rows(*wanted: Any, **fields: Any) -> dict[str, Any]:
    return {"check": "rows", "host": HOST, "wanted": list(wanted), **fields}


def changed(table: str = "orders", /, **where: Any) -> dict[str, Any]:
    return {"table": table, "kind": "changed", "where": where}


def added(table: str = "orders", count: int = 1, /, **where: Any) -> dict[str, Any]:
    return {"table": table, "kind": "added", "count": count, "where": where}


CANCELLED = changed(id=1, status="cancelled")


def test_exactly_the_wanted_change_passes(web_verdict: Judge) -> None:
    assert web_verdict(rows(CANCELLED), CANCEL).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    "surplus",
    [
        "UPDATE orders SET status = 'cancelled' WHERE id = 2",
        "UPDATE orders SET note = 'hurry' WHERE id = 1",
        "INSERT INTO orders VALUES (3, 'lid', 1, 'open', NULL)",
        "DELETE FROM cart",
        "UPDATE cart SET quantity = 2",
    ],
)
def test_a_surplus_change_fails_and_is_shown(web_verdict: Judge, surplus: str) -> None:
    verdict = web_verdict(rows(CANCELLED), CANCEL, surplus)
    assert (verdict.outcome, len(verdict.evidence["checks"][0]["unexpected"])) == (Outcome.UNRESOLVED, 1)


@pytest.mark.parametrize(
    "edit",
    [
        "SELECT 1",
        "UPDATE orders SET status = 'canceled' WHERE id = 1",
        "UPDATE orders SET status = 'cancelled' WHERE id = 2",
        "DELETE FROM orders WHERE id = 1",
        "UPDATE orders SET status = 'c\u0430ncelled' WHERE id = 1",
        "UPDATE orders SET status = '''cancelled'' OR 1=1' WHERE id = 1",
    ],
)
def test_what_is_not_the_wanted_change_fails(web_verdict: Judge, edit: str) -> None:
    assert web_verdict(rows(CANCELLED), edit).outcome is Outcome.UNRESOLVED


def test_the_evidence_says_what_is_missing_and_how_the_nearest_change_differs(web_verdict: Judge) -> None:
    verdict = web_verdict(rows(CANCELLED), "UPDATE orders SET status = 'lost' WHERE id = 1")
    (found,) = verdict.evidence["checks"]
    assert found["why"] == "1 wanted change(s) did not happen, 1 change(s) that nobody asked for"
    assert found["missing"][0]["where"] == {"id": 1, "status": "cancelled"}
    assert found["unexpected"][0]["changed"] == {"status": ["open", "lost"]}
    assert found["unexpected"][0]["differs"] == {"status": "cancelled"}


def test_a_changed_row_is_chosen_by_what_it_was(web_verdict: Judge) -> None:
    wanted = changed(status="cancelled") | {"where_before": {"item": "pan", "status": "open"}}
    assert web_verdict(rows(wanted), "UPDATE orders SET status = 'cancelled' WHERE id = 2").outcome is Outcome.RESOLVED
    assert web_verdict(rows(wanted), CANCEL).outcome is Outcome.UNRESOLVED


def test_free_columns_and_free_tables_may_change_as_they_like(web_verdict: Judge) -> None:
    free = [{"table": "orders", "columns": ["note"]}, {"table": "cart"}]
    others = ("UPDATE orders SET note = 'x'", "DELETE FROM cart")
    assert web_verdict(rows(CANCELLED, free=free), CANCEL, *others).outcome is Outcome.RESOLVED
    assert web_verdict(rows(CANCELLED, free=free), CANCEL, "DELETE FROM orders WHERE id = 2").score == 0.0


def test_wanted_rows_that_overlap_are_placed_in_the_one_way_that_works(web_verdict: Judge) -> None:
    anything, kettle = added("orders", 2), added(item="kettle")
    new = "INSERT INTO orders VALUES (3, 'kettle', 1, 'x', NULL), (4, 'pan', 1, 'x', NULL), (5, 'pan', 1, 'x', NULL)"
    assert web_verdict(rows(anything, kettle), new).outcome is Outcome.RESOLVED
    assert web_verdict(rows(anything, added(item="pot")), new).outcome is Outcome.UNRESOLVED


def test_rows_can_share_a_value_that_the_task_does_not_know(web_verdict: Judge) -> None:
    link = {"same": "new"}
    wanted = [
        added(id=link, item="lid"),
        added("cart", user="bob", weight=link),
        added("cart", user="eve", weight=link),
    ]
    orders = "INSERT INTO orders VALUES (7, 'box', 1, 'x', NULL), (8, 'lid', 1, 'x', NULL)"
    for bob, outcome in ((8, Outcome.RESOLVED), (7, Outcome.UNRESOLVED)):
        carts = f"INSERT INTO cart VALUES ('bob', 'a', 1, {bob}), ('eve', 'a', 1, 8)"
        assert web_verdict(rows(*wanted, added(item="box")), orders, carts).outcome is outcome
    assert web_verdict(rows(*wanted)).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    ("weight", "matcher"),
    [
        ("1250", 1250),
        ("1250", 1250.0),
        ("NULL", None),
        ("1250", {"between": [1000, 1300]}),
        ("1250", {"in": [3, 1250]}),
        ("1250", {"any": True}),
        ("'ab'", {"matches": "a."}),
        ("'2026-03-04'", {"between": ["2026-03-01", "2026-03-31"]}),
    ],
)
def test_a_value_that_its_matcher_means_passes(web_verdict: Judge, weight: str, matcher: Any) -> None:
    edit = f"INSERT INTO cart VALUES ('eve', 'lid', 1, {weight})"
    assert web_verdict(rows(added("cart", weight=matcher)), edit).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    ("weight", "matcher"),
    [
        ("'1250'", "1250 "),
        ("'12e2'", 1200),
        ("NULL", 0),
        ("0", None),
        ("''", None),
        ("NULL", {"between": [0, 10]}),
        ("'5'", {"between": [0, 10]}),
        ("9e999", {"between": [0, 10]}),
        ("'abc'", {"matches": "a."}),
        ("NULL", {"matches": ".*"}),
        ("'" + "a" * 100_000 + "'", {"matches": ".*"}),
    ],
)
def test_a_value_that_its_matcher_does_not_mean_fails(web_verdict: Judge, weight: str, matcher: Any) -> None:
    edit = f"INSERT INTO cart VALUES ('eve', 'lid', 1, {weight})"
    assert web_verdict(rows(added("cart", weight=matcher)), edit).outcome is Outcome.UNRESOLVED


def test_ten_thousand_unwanted_rows_are_judged_in_time(web_verdict: Judge) -> None:
    flood = (
        "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10009)"
        " INSERT INTO orders SELECT i, 'x', 1, 'x', NULL FROM n"
    )
    verdict = web_verdict(rows(added("orders", 5000, item="x")), flood)
    assert verdict.evidence["why"] == "check 1 (rows): 10000 rows changed, expected 5000"


def test_a_record_that_says_nothing_about_a_site_is_no_verdict(web_verdict: Judge) -> None:
    for state in ({"changes": {}}, {"changes": None}, {"changes": {HOST: {"orders": {"added": "x"}}}}):
        verdict = web_verdict(rows(CANCELLED), **state)
        assert (verdict.outcome, verdict.score) == (Outcome.ERROR, None)


EDITS = {
    "cancel 1": (CANCEL, CANCELLED),
    "cancel 2": ("UPDATE orders SET status = 'cancelled' WHERE id = 2", changed(id=2, status="cancelled")),
    "add": ("INSERT INTO orders VALUES (3, 'lid', 5, 'open', NULL)", added(item="lid", cents=5)),
    "empty": ("DELETE FROM cart WHERE item = 'pot'", {"table": "cart", "kind": "removed", "where": {"item": "pot"}}),
    "put": ("INSERT INTO cart VALUES ('bob', 'pan', 2, 0.5)", added("cart", user="bob", quantity=2.0)),
}


NAMES = st.lists(st.sampled_from(sorted(EDITS)), unique=True)


@settings(max_examples=100, deadline=None)
@given(done=NAMES, wanted=NAMES.filter(bool))
def test_among_random_edits_exactly_the_wanted_set_passes(
    web_task: Callable[..., Task], web_end: Callable[..., Artifact], done: list[str], wanted: list[str]
) -> None:
    check = json.loads(json.dumps(rows(*(EDITS[name][1] for name in wanted))))
    verdict = WebVerifier().verify(web_task(check), web_end(*(EDITS[name][0] for name in done)))
    assert (verdict.outcome is Outcome.RESOLVED) == (sorted(done) == sorted(wanted))


WHO = st.sampled_from(["ada", "bob"])
WHAT = st.sampled_from(["pot", "pan"])
STATEMENTS = st.one_of(
    st.builds("INSERT OR REPLACE INTO cart VALUES ('{}', '{}', {}, 1.5)".format, WHO, WHAT, st.integers(1, 3)),
    st.builds("DELETE FROM cart WHERE user = '{}' AND item = '{}'".format, WHO, WHAT),
    st.builds("UPDATE cart SET quantity = {} WHERE user = '{}'".format, st.integers(1, 3), WHO),
    st.builds("UPDATE orders SET note = {} WHERE id = {}".format, st.sampled_from(["NULL", "''"]), st.integers(1, 2)),
)


def described(changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Every change as a wanted row, named in full."""
    return [
        {"table": table, "kind": kind, "where": row.get("after", row), "where_before": row.get("before", {})}
        for table, kinds in changes.items()
        for kind, rows_ in kinds.items()
        for row in rows_
    ]


@settings(max_examples=150, deadline=None)
@given(done=st.lists(STATEMENTS, max_size=5), more=STATEMENTS)
def test_what_happened_passes_as_described_and_one_edit_more_or_less_does_not(
    web_task: Callable[..., Task], web_end: Callable[..., Artifact], done: list[str], more: str
) -> None:
    here, there = (web_end(*statements).state["changes"][HOST] for statements in (done, [*done, more]))
    assume(here)
    task = web_task(rows(*described(here)))
    assert WebVerifier().verify(task, web_end(*done)).outcome is Outcome.RESOLVED
    assert (WebVerifier().verify(task, web_end(*done, more)).outcome is Outcome.RESOLVED) == (here == there)
    assert WebVerifier().verify(task, web_end()).outcome is Outcome.UNRESOLVED
