"""Wrong twins contradict their tests, keep their lines, and look as plausible as they can."""

from __future__ import annotations

import ast
import re

import pytest
from agent_envs.verifiers.swe.sealing import sealed, sites_of
from agent_envs.verifiers.swe.twins import changed_lines, twin_of, with_lines

HEAD = "import pytest\nfrom unittest import TestCase\n"


def twin(body: str, *, seed: int = 1) -> str:
    """The twin of a test with this body, without the head."""
    return twin_of(HEAD + body, seed=seed).removeprefix(HEAD)


def passes(source: str, **names: object) -> bool:
    """Whether `test` in this source passes when its names mean this."""
    scope: dict[str, object] = {**names}
    exec(HEAD + source, scope)
    try:
        scope["test"]()  # type: ignore[operator]
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    "body",
    [
        "def test():\n    assert f(2) == 4\n",
        "def test():\n    assert (f(2)) == (4)\n",
        "def test():\n    assert 4 == f(2)\n",
        "def test():\n    assert f(2) > 3\n",
        "def test():\n    assert f(2) != 3 and f(2) == 4\n",
        "def test():\n    assert not f(0)\n",
        "def test():\n    assert f(2) == 4 or f(2) == 90\n",
        "def test():\n    assert f(2)\n",
        "def test():\n    assert f(2) is not None\n",
        "def test():\n    assert [f(1), f(2)] == [1, 4]\n",
        "def test():\n    assert {'a': f(2)} == {'a': 4}\n",
        "def test():\n    assert f(1.5) == 2.25\n",
        "def test():\n    assert f(2) == f(-2)\n",
        "def test():\n    assert f(2) in (4, 5)\n",
        "def test():\n    assert 9 in [f(3)]\n",
        "def test():\n    'ünïcödé'; assert f(2) == 4, 'é'\n",
        "def test():\n    TestCase().assertEqual(f(2), 4)\n",
        "def test():\n    TestCase().assertTrue(f(2))\n",
        "def test():\n    TestCase().assertIn(f(2), [4])\n",
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_passes_a_test_fails_its_twin(body: str, seed: int) -> None:
    def square(x: float) -> float:
        return x * x

    assert passes(body, f=square)
    assert not passes(twin(body, seed=seed), f=square)


class Everything:
    """What claims to equal whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "body",
    [
        "def test():\n    assert f(2) == 4\n",
        "def test():\n    assert f(2) == wanted\n",
        "def test():\n    TestCase().assertEqual(f(2), wanted)\n",
    ],
)
def test_an_object_that_equals_everything_passes_the_twin_and_is_unmasked(body: str) -> None:
    assert passes(twin(body), f=lambda x: Everything(), wanted=4)


def test_the_rows_of_a_parametrised_test_get_wrong_values() -> None:
    body = "@pytest.mark.parametrize('x, y', [(1, 2), (2, 4)])\ndef test(x, y):\n    assert f(x) == y\n"
    rows = twin(body).splitlines()[0]
    names, values = ast.literal_eval(rows.removeprefix("@pytest.mark.parametrize"))
    assert names == "x, y"
    assert [x for x, _ in values] == [1, 2]
    assert all(y != wrong for y, (_, wrong) in zip([2, 4], values, strict=True))


def test_a_parameter_that_is_an_input_too_stays_as_it_is() -> None:
    body = "@pytest.mark.parametrize('x', [1, 2])\ndef test(x):\n    assert f(x) == x\n"
    assert "[1, 2]" in twin(body)
    assert "f(x) == [x]" in twin(body)


def test_an_expected_exception_becomes_another_one() -> None:
    body = "def test():\n    with pytest.raises(KeyError):\n        f(2)\n"
    assert "KeyError" not in twin(body)


RELATION = HEAD + "def test():\n    assert f(2) == 4\n    assert f(3) == f(-x)\n"


def test_what_is_sealed_has_no_twin_but_a_relation() -> None:
    half = sealed(RELATION, sites_of(RELATION))
    for equal, wrong in (([], '    assert _sealed_("1", [(f(3)), ([f(-x)])])'), (["1"], '"1", [(f(N)), (f(-x))])')):
        twins = {twin_of(half, seed=seed, equal=equal).splitlines()[4] for seed in range(9)}
        assert all(wrong in re.sub(r"f\([1245]\)", "f(N)", twin) for twin in twins)


@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_text_looks_like_a_right_one(seed: int) -> None:
    for body in ("assert 'is not there' in f(2)", "with pytest.raises(E, match='is not there'):\n        f(2)"):
        wrong = twin(f"def test():\n    {body}\n", seed=seed)
        assert "is not there" not in wrong
        assert len(wrong.splitlines()[1]) == len(body.splitlines()[0]) + 4


def test_different_seeds_give_different_twins() -> None:
    body = "def test():\n    assert f(2) == [1, 2, 3, 4]\n"
    assert len({twin(body, seed=seed) for seed in range(20)}) > 5


@pytest.mark.parametrize("source", ["def test(:\n", "x = 1\n", "def helper():\n    assert f(2) == 4\n", ""])
def test_what_holds_no_test_stays_as_it_is(source: str) -> None:
    assert twin_of(source, seed=1) == source


def test_a_twin_is_told_by_its_lines_alone() -> None:
    source = HEAD + "def test():\n    assert f(2) == 4\n\n\ndef test_more():\n    assert f(3) == (\n        9\n    )\n"
    wrong = twin_of(source, seed=1)
    lines = changed_lines(source, wrong)
    assert sorted(lines) == ["4", "9"]
    assert with_lines(source, lines) == wrong
