"""Sealed tests hold no answers, say the same as the tests they were made of, and take only what was told."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import pytest
from agent_envs.verifiers.swe.conditions import pins
from agent_envs.verifiers.swe.sealing import CALL, Site, in_sight, read_report, recording, sealed, sites_of
from agent_envs.verifiers.swe.seals import Seals
from agent_envs.verifiers.swe.task import Controls, SweTask

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import TreeFile

HEAD = "import pytest\nfrom datetime import date\nfrom shop import Price, State, f, g\nfrom unittest import TestCase\n"
BODY = "def test(x, y):\n    assert f(x) == y\n"
ROWS = f"@pytest.mark.parametrize('x, y', [(1, 1234), (2, 12345)])\n{BODY}"
NAMED_ROWS = f"@pytest.mark.parametrize('x, y', [pytest.param(1, 1234, id='a')])\n{BODY}"
MADE_ROWS = f"@pytest.mark.parametrize('x, y', [(1, Price(1234))])\n{BODY}"


@pytest.mark.parametrize(
    "body",
    [
        "def test():\n    assert f(2) == 1234\n",
        "def test():\n    assert 1234 == f(2)\n",
        "def test():\n    assert (f(2)) == ([1234])\n",
        "def test():\n    assert f(2) == {\n        'a': 1234,\n    }, 'why'\n",
        "def test():\n    assert f(2) != 1234\n",
        "def test():\n    assert 1 < f(2) <= 1234\n",
        "def test():\n    assert '1234' in f(2)\n",
        "def test():\n    assert f(2) not in (3, 1234)\n",
        "def test():\n    assert not f(2) == 1234\n",
        "def test():\n    assert f(2) == 1234 and f(3) == 12345\n",
        "def test():\n    assert f(2).startswith('1234')\n",
        "def test():\n    assert f(2) == pytest.approx(1234)\n",
        "def test():\n    assert f(2) == [Price(1234)]\n",
        "def test():\n    assert f(2) == {'a': date(1234, 1, 1)}\n",
        "def test():\n    assert f(2) == '1234' * 3 + 'x'\n",
        "def test():\n    wanted = [1234]\n    assert f(2) == wanted\n",
        "def test():\n    for x, y in [(1, 1234), (2, 12345)]:\n        assert f(x) == y\n",
        "def price(x):\n    return Price(x)\n\n\ndef test():\n    assert f(2) == price(1234)\n",
        "WANTED = {'a': 1234}\n\n\ndef test():\n    assert f(2) == WANTED\n",
        "def test():\n    with pytest.raises(Error1234, match='no 1234'):\n        f(2)\n",
        "def test():\n    assert isinstance(f(2), Kind1234)\n",
        "def test():\n    TestCase().assertEqual(f(2), 1234)\n",
        "def test():\n    wanted = [1234]\n    TestCase().assertEqual(f(2), wanted)\n",
        "def test():\n    TestCase().assertIn('1234', f(2))\n",
        "def test():\n    TestCase().assertNotEqual(f(2), [1234])\n",
        "def test():\n    with TestCase().assertRaises(Error1234):\n        f(2)\n",
        *(ROWS, NAMED_ROWS, MADE_ROWS),
        "@pytest.mark.parametrize('y', [1234, 12345])\ndef test(y):\n    assert f() == y\n",
        "async def test():\n    assert await f() == 'ü1234'\n",
    ],
)
def test_what_is_expected_leaves_the_source_and_its_lines_stay(body: str) -> None:
    sites = sites_of(HEAD + body)
    source = sealed(HEAD + body, sites)
    assert [site.function for site in sites] == ["test"]
    assert "1234" not in source
    assert source.count("\n") == (HEAD + body).count("\n")
    for kind in (source, recording(HEAD + body, sites)):
        compile(kind, "sealed", "exec")


@pytest.mark.parametrize(
    "body",
    [
        "def test():\n    assert 1 == 1\n",
        "def test():\n    assert f(2) is g(2)\n",
        "def test():\n    assert f(2) == 3 or f(2) == 4\n",
        "def helper():\n    assert f(2) == 3\n",
        "def test(error):\n    with pytest.raises(error):\n        f(2)\n",
        "def test(:\n",
    ],
)
def test_what_cannot_be_sealed_is_left_alone(body: str) -> None:
    assert sites_of(HEAD + body) == []


def test_a_question_about_what_cannot_be_told_does_not_say_which_answer_is_right() -> None:
    sources = set()
    for operator in ("in", "not in"):
        body = f"{HEAD}def test():\n    assert 3 {operator} f(2)\n"
        (site,) = sites_of(body, asked=["0?"])
        sources.add(sealed(body, [site]))
        yes = site.accepts(read_report("0?", [["B", True]]))
        assert (yes, site.accepts(read_report("0?", [["B", False]]))) == (operator == "in", operator != "in")
    assert len(sources) == 1


def test_the_exceptions_of_a_table_are_kept_back_too() -> None:
    rows = "@pytest.mark.parametrize('error', [KeyError, (OSError, Fault)])\n"
    body = f"from shop import Fault\n{HEAD}{rows}def test(error):\n    with pytest.raises(error):\n        f(2)\n"
    (site,) = sites_of(body)
    assert "[0, 1]" in sealed(body, [site])
    fault, told = (
        ["o", [["is", ["s", "Fault"]]], "type"],
        ["t", [["l", [["s", "Fault"], ["s", "Exception"]]], ["s", ""]]],
    )
    assert site.accepts(read_report("0", [told]), [["t", [fault, fault]]])
    assert not site.accepts(read_report("0", [told]), [["o", [["is", ["s", "KeyError"]]], "type"]])


@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.parametrize('x', [1234])\ndef test(x):\n    assert f(x) == x\n",
        "def test():\n    x = [1234]\n    g(x)\n    assert f(2) == x\n",
        "X = [1234]\n\n\ndef test():\n    assert f(X) == X\n",
    ],
)
def test_a_value_that_stays_in_sight_is_no_secret(body: str) -> None:
    """It is told like all others, and compared on the trusted side."""
    (site,) = sites_of(HEAD + body)
    assert (site.recorded, len(site.told)) == ((), 2)


def test_a_name_that_is_used_elsewhere_too_is_secret_only_with_all_of_its_uses() -> None:
    body = "@pytest.mark.parametrize('y', [1234])\ndef test(y):\n    assert f() == y\n    assert g() == y\n"
    first, second = sites_of(HEAD + body)
    assert in_sight(HEAD + body, [first, second]) == set()
    assert in_sight(HEAD + body, [first]) == {"0"}


@dataclasses.dataclass
class Price:
    """Of the repository in these tests."""

    cents: int
    currency: str = "EUR"


def reports(body: str, *, record: bool = False, **names: object) -> list[tuple[str, list[object]]]:
    """What the sealed form of a test reports."""
    found: list[tuple[str, list[object]]] = []

    def report(key: str, values: list[object], wanted: list[object] | None = None) -> bool:
        found.append((key, values if wanted is None else wanted))
        return True

    source = (recording if record else sealed)(HEAD + body, sites_of(HEAD + body))
    scope: dict[str, Any] = {**names, CALL: report}
    exec(source.replace("from shop import Price, State, f, g\n", ""), scope)
    scope["test"]()
    return found


def test_a_sealed_test_reports_what_it_got_and_goes_on() -> None:
    body = "def test():\n    assert f(2) == 4\n    x = 3\n    assert f(x) == 9\n"
    assert reports(body, f=lambda x: x + 2) == [("0", [4]), ("1", [5])]
    first, second = sites_of(HEAD + body)
    assert first.accepts(read_report("0", [["i", "4"]]))
    assert not second.accepts(read_report("1", [["i", "5"]]))


def test_what_is_no_literal_is_recorded_with_the_reference() -> None:
    body = "def test():\n    for n in [1, 2]:\n        assert f(n) == [Price(n * 100)]\n"
    recorded = reports(body, record=True, f=lambda n: None, Price=Price)
    assert recorded == [("0", [[Price(100)]]), ("0", [[Price(200)]])]
    assert reports(body, f=lambda n: n) == [("0", [1]), ("0", [2])]


def site_of(condition: str) -> Site:
    (site,) = sites_of(f"{HEAD}def test():\n    assert {condition}\n")
    return site


ONE, TWO, WORD = ["i", "1"], ["i", "2"], ["s", "a word"]
OPAQUE, FALSE = ["?", "Everything", True], ["?", "Nothing", False]


@pytest.mark.parametrize(
    ("condition", "right", "wrong"),
    [
        ("f() != 1", [TWO], [ONE]),
        ("f() != 1", [WORD], [OPAQUE]),
        ("f() <= 1", [ONE], [TWO]),
        ("0 < f() <= 1", [ONE], [["i", "0"]]),
        ("f() > 1", [TWO], [WORD]),
        ("'wo' in f()", [WORD], [OPAQUE]),
        ("'x' not in f()", [WORD], [["s", "x"]]),
        ("'x' not in f()", [["l", []]], [OPAQUE]),
        ("f() in (1, 3)", [ONE], [TWO]),
        ("f() is None", [["n"]], [["i", "0"]]),
        ("f() is not None", [OPAQUE], [["n"]]),
        ("f() is True", [["B", True]], [ONE]),
        ("f()", [OPAQUE], [FALSE]),
        ("not f()", [FALSE], [["?", "Undecided"]]),
        ("not f() == 1", [TWO], [OPAQUE]),
        ("f() and g()", [ONE, TWO], [ONE, ["i", "0"]]),
        ("f().endswith('word')", [WORD], [["s", "a wolf"]]),
        ("f() == pytest.approx(1.0, abs=0.1)", [["f", "1.05"]], [["f", "1.2"]]),
        ("f() == pytest.approx([1.0])", [["l", [["f", "1.0000001"]]]], [["l", []]]),
        ("isinstance(f(), (int, Price))", [["l", [["s", "Price"], ["s", "object"]]]], [["l", [["s", "object"]]]]),
        ("f() == g()", [ONE, ONE], [ONE, TWO]),
        ("f() == g()", [["o", [], "Rule"], ["o", [], "Rule"]], [OPAQUE, OPAQUE]),
    ],
)
def test_the_trusted_side_asks_what_the_test_asked(condition: str, right: list[Any], wrong: list[Any]) -> None:
    site = site_of(condition)
    assert site.accepts(read_report("0", right))
    assert not site.accepts(read_report("0", wrong))
    assert not site.accepts(read_report("0", []))


PRICE = ["o", [["cents", ["i", "5"]]], "Price"]


@pytest.mark.parametrize(
    ("told", "accepted"),
    [
        (PRICE, True),
        (["o", [["cents", ["i", "5"]], ["note", ["s", ""]]], "Price"], True),
        (["p", [["cents", ["i", "5"]]], "Price"], True),
        (["o", [["cents", ["i", "6"]]], "Price"], False),
        (["o", [["cents", ["i", "5"]]], "Cost"], False),
        (["o", [], "Price"], False),
        (["i", "5"], False),
        (OPAQUE, False),
    ],
)
def test_an_object_is_known_by_the_name_of_its_type_and_by_the_fields_that_were_recorded(
    told: list[Any], accepted: bool
) -> None:
    assert site_of("f() == Price(5)").accepts(read_report("0", [told]), [PRICE]) is accepted


OWN, OTHER = ["p", PRICE[1], "Price"], ["p", [["cents", ["i", "6"]]], "Price"]
HANDLED = ["p", [*PRICE[1], ["handle", ["?", "socket"]]], "Price"]
YES, NO = [[True, True]], [[False, False]]


@pytest.mark.parametrize(
    ("condition", "told", "said", "accepted"),
    [
        ("f() == g()", [OWN, OWN], YES, True),
        ("f() == g()", [HANDLED, HANDLED], YES, True),
        ("f() == g()", [["l", [OWN]], ["l", [OWN]]], YES, True),
        ("f() == g()", [OWN, OWN], NO, False),
        ("f() == g()", [OWN, OWN], [], False),
        ("f() == g()", [OWN, OTHER], YES, False),
        ("f() == g()", [OWN, ["l", [OWN]]], YES, False),
        ("f() == g()", [["p", [], "All"], ["p", [], "All"]], YES, False),
        ("f() == g()", [OWN, ["p", OWN[1], "All"]], YES, False),
        ("f() != g()", [OWN, OWN], YES, False),
        ("f() != g()", [OWN, OWN], NO, True),
        ("f() != g()", [OWN, OTHER], NO, True),
        ("f() in g()", [OWN, ["l", [OTHER, OWN]]], YES, True),
        ("f() in g()", [OWN, ["l", [OTHER]]], YES, False),
        ("f() not in g()", [OWN, ["l", [OTHER, OWN]]], YES, False),
        ("f() not in g()", [OWN, ["l", [OTHER]]], NO, True),
        ("f() and g() == f()", [ONE, OWN, OWN], [None, *YES], True),
    ],
)
def test_of_objects_with_an_idea_of_their_own_of_equality_both_the_fields_and_the_answer_must_agree(
    condition: str, told: list[Any], said: list[Any], *, accepted: bool
) -> None:
    assert site_of(condition).accepts(read_report("0", told, said=said)) is accepted


def test_a_member_of_an_enumeration_may_be_a_text_besides() -> None:
    told = ["e", ["s", "ready"], "READY", "State"]
    recorded = ["o", [["is", ["s", "READY"]]], "State", True]
    for condition in ("f() is State.READY", "f() == State.READY"):
        assert site_of(condition).accepts(read_report("0", [told]), [recorded])
        assert not site_of(condition).accepts(read_report("0", [["s", "ready"]]), [recorded])
    for condition in ("f() == 'ready'", "'ea' in f()", "f().startswith('re')", "f() in ('ready', 'done')", "f() > 'a'"):
        assert site_of(condition).accepts(read_report("0", [told]))


@pytest.mark.parametrize(
    ("names", "text", "accepted"),
    [
        (["ShopError", "ValueError", "Exception"], "too dear: 5", True),
        (["ValueError", "Exception"], "too dear: 5", True),
        (["ValueError", "Exception"], "too cheap", False),
        (["KeyError", "Exception"], "too dear: 5", False),
    ],
)
def test_an_exception_is_known_by_the_names_of_its_types_and_by_its_text(
    names: list[str], text: str, accepted: bool
) -> None:
    (site,) = sites_of(HEAD + "def test():\n    with pytest.raises(ValueError, match='too dear'):\n        f(2)\n")
    told = ["t", [["l", [["s", name] for name in names]], ["s", text]]]
    assert site.accepts(read_report("0", [told])) is accepted
    assert not site.accepts(read_report("0", [["n"]]))


def test_a_method_says_by_its_name_what_it_wants() -> None:
    source = HEAD + "def test():\n    TestCase().assertIsNone(f(2))\n"
    (site,) = sites_of(source)
    assert "assertIsNone" not in sealed(source, [site])
    assert [site.accepts(read_report("0", [told])) for told in (["n"], ONE)] == [True, False]


def test_a_sealed_block_does_not_say_what_it_waits_for() -> None:
    source = (
        HEAD + "def test():\n    with pytest.raises(KeyError) as info:\n        f(2)\n    assert info.value.x == 3\n"
    )
    tree = ast.parse(sealed(source, sites_of(source)))
    assert "KeyError" not in ast.unparse(tree)
    assert "_raises_('1') as info" in ast.unparse(tree)


@pytest.mark.parametrize(
    ("body", "pinned"),
    [
        ("assert f(2) == 1234", True),
        ("assert f(2) is None", True),
        ("assert 0 < f(2) and f(3) == 1234", True),
        ("assert f(2) == pytest.approx(1234)", True),
        ("with pytest.raises(KeyError):\n        f(2)", True),
        ("assert f(2) <= 1234", False),
        ("assert '1234' in f(2)", False),
        ("assert f(2) in (3, 1234)", False),
        ("assert f(2) == f(3)", False),
        ("assert f(2)", False),
    ],
)
def test_an_expectation_that_many_answers_meet_is_known_as_such(body: str, *, pinned: bool) -> None:
    (site,) = sites_of(f"{HEAD}def test():\n    {body}\n")
    assert pins(site.condition) == pinned


def test_seals_of_tests_that_have_changed_since_are_refused() -> None:
    tests = {"tests/test_f.py": TreeFile((HEAD + BODY).encode())}
    task = SweTask(id="shop/one", hidden_tests=tests, controls=Controls(seals={"tests/test_f.py": ("0", "7")}))
    with pytest.raises(TaskError, match=r"shop/one.*has no expectation '7'.*run `agent-envs validate` again"):
        Seals.of(task)
