"""No run of a verdict is the real one: each test is real in one of them and contradicted in the others."""

from __future__ import annotations

import pytest
from agent_envs.verifiers.swe.mixture import REAL, RUNS, plan, unit_of
from agent_envs.verifiers.swe.task import Controls, SweTask

from agent_envs.sandboxes.images import TreeFile

SOURCE = "".join(f"def test_{n}():\n    assert f({n}) == {n}\n\n\n" for n in range(8))
CLASS = """import pytest


class TestX:
    @pytest.mark.parametrize('a', [1, 2])
    def test_p(self, a):
        assert f(a) == 1
"""
TESTS = {"tests/test_a.py": SOURCE, "tests/test_b.py": CLASS}
WRONG = {str(4 * n + 2): f"    assert f({n}) == {n + 1}" for n in range(8)}
IDS = tuple(f"tests/test_a.py::test_{n}" for n in range(8))
TASK = SweTask(
    hidden_tests={path: TreeFile(source.encode()) for path, source in TESTS.items()},
    controls=Controls(
        twins={
            "a": {"tests/test_a.py": WRONG, "tests/test_b.py": {"5": "    @pytest.mark.parametrize('a', [3, 4])"}},
            "b": {"tests/test_a.py": {"2": "    assert f(0) == 7"}},
        },
        twin_tests={
            "a": (*IDS[1:], "tests/test_b.py::TestX::test_p[3]", "tests/test_b.py::TestX::test_p[4]"),
            "b": IDS[:1],
        },
        sabotage=("m:f",),
        sabotage_tests=IDS,
    ),
)


@pytest.mark.parametrize("draw", range(5))
def test_every_test_is_real_once_and_contradicted_otherwise(draw: int) -> None:
    *runs, sabotage = plan(TASK, draw)
    assert len(runs) == RUNS
    for test in (*IDS, "tests/test_b.py::TestX::test_p[1]"):
        assert sum(run.is_real(test) for run in runs) == 1
    failing = [test for run in runs for test in run.must_fail]
    assert sorted(failing) == sorted((*IDS, "tests/test_b.py::TestX::test_p[3]", "tests/test_b.py::TestX::test_p[4]"))
    assert (sabotage.must_fail, sabotage.is_real(IDS[0])) == (IDS, False)


@pytest.mark.parametrize("draw", range(5))
def test_no_run_is_all_real(draw: int) -> None:
    assert all(3 <= len(run.mutated) <= 6 for run in plan(TASK, draw)[:RUNS])


def test_only_the_lines_of_contradicted_tests_are_wrong() -> None:
    for run in plan(TASK, 1)[:RUNS]:
        numbers = run.twins.get("tests/test_a.py", {})
        assert {("tests/test_a.py", f"test_{(int(number) - 2) // 4}") for number in numbers} == {
            unit for unit in run.mutated if unit[0] == "tests/test_a.py"
        }


def test_a_twin_that_is_not_known_to_fail_is_never_used() -> None:
    """The first test has no twin in set `a` that fails, so it is always contradicted by set `b`."""
    for draw in range(10):
        lines = [run.twins.get("tests/test_a.py", {}).get("2") for run in plan(TASK, draw)[:RUNS]]
        assert [line for line in lines if line] == ["    assert f(0) == 7"]


def test_draws_differ_and_repeat() -> None:
    assert plan(TASK, 7) == plan(TASK, 7)
    assert len({frozenset(plan(TASK, draw)[0].mutated) for draw in range(20)}) > 10


def test_without_controls_there_is_one_run() -> None:
    assert plan(SweTask(hidden_tests=TASK.hidden_tests), 1) == [REAL]


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/test_a.py::test_x", ("tests/test_a.py", "test_x")),
        ("tests/test_a.py::TestX::test_y[a::b]", ("tests/test_a.py", "test_y")),
        ("a.py", ("a.py", "")),
    ],
)
def test_a_unit_is_a_function_of_a_file(test: str, unit: tuple[str, str]) -> None:
    assert unit_of(test) == unit
