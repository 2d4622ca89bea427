"""A test without the block that waits for its exception does not show that there was one, and is asked for it still."""

from __future__ import annotations

import pytest
from agent_envs.verifiers.swe.bare import bared, blocks_of
from agent_envs.verifiers.swe.mixture import plan, sources_of
from agent_envs.verifiers.swe.runs import Seen
from agent_envs.verifiers.swe.sealing import read_report
from agent_envs.verifiers.swe.seals import RAISED, Seals
from agent_envs.verifiers.swe.task import Controls, SweTask

from agent_envs.sandboxes.images import TreeFile

SOURCE = """import pytest


def test_refused():
    made = f(1)  # nothing is wrong with this

    with pytest.raises(KeyError, match="no 2"):
        made.g(2)
    assert made == 1


def test_twice(x):
    with pytest.raises(ValueError) as caught:
        f(x)
    with pytest.raises(KeyError):
        f(x + 1)
"""
PATH, REFUSED, TWICE = "tests/test_f.py", "tests/test_f.py::test_refused", "tests/test_f.py::test_twice[1]"
BLOCKS = ("1", "3", "4")
TASK = SweTask(
    hidden_tests={PATH: TreeFile(SOURCE.encode())},
    controls=Controls(seals={PATH: BLOCKS}, bare={PATH: {"1": {REFUSED: ()}, "3": {TWICE: ()}, "4": {TWICE: ()}}}),
)
SEALED = Seals.of(TASK).sources(TASK)[PATH]


def test_a_block_that_is_gone_leaves_no_gap() -> None:
    source = bared(SEALED, ("1", "4"))
    assert "    made = f(1)\n    made.g(2)\n    assert made == 1\n" in source
    assert "    with _raises_('3') as caught:\n        f(x)\n    f(x + 1)" in source


def test_a_file_has_the_same_layout_whatever_is_taken_away() -> None:
    assert bared(bared(SEALED), ("1",)) == bared(SEALED, ("1",))
    assert "nothing is wrong" not in bared(SEALED)


def test_the_blocks_of_each_function_are_known_in_their_order() -> None:
    assert blocks_of(SEALED) == {"test_refused": ["1"], "test_twice": ["3", "4"]}
    assert blocks_of(SOURCE) == {}


def test_each_test_waits_in_one_run_and_not_in_the_other() -> None:
    seals = Seals.of(TASK)
    taken = set()
    for draw in range(20):
        runs = plan(TASK, draw)
        sources = [sources_of(TASK, seals.sources(TASK), run)[PATH] for run in runs]
        for test in (REFUSED, TWICE):
            (key,) = {run.raising[test] for run in runs if test in run.raising}
            assert [run.is_real(test) for run in runs].count(True) == 1
            assert [f"_raises_('{key}')" in source for source in sources] == [run.is_real(test) for run in runs]
            taken.add(key)
    assert taken == set(BLOCKS)


@pytest.mark.parametrize(
    ("status", "names", "said", "ended"),
    [
        ("failed", ["KeyError", "LookupError"], "'no 2 here'", RAISED),
        ("failed", ["KeyError", "LookupError"], "'no 3 here'", "failed"),
        ("failed", ["ValueError"], "no 2", "failed"),
        ("passed", ["KeyError"], "no 2", "passed"),
        ("error", ["KeyError"], "no 2", "error"),
    ],
)
def test_only_the_exception_that_was_waited_for_is_the_right_end(
    status: str, names: list[str], said: str, ended: str
) -> None:
    told = ["t", [["l", [["s", name] for name in names]], ["s", said]]]
    seen = Seen(statuses={REFUSED: status}, raised={REFUSED: read_report("", [told])})
    assert Seals.of(TASK).judged(seen, {REFUSED: "1"}).statuses[REFUSED] == ended
    assert Seals.of(TASK).judged(Seen(statuses={REFUSED: status}), {REFUSED: "1"}).statuses[REFUSED] != RAISED


def test_blocks_that_are_asked_about_stand_in_the_order_of_the_others() -> None:
    source = "def test():\n" + "".join(f"    with _raises_('{key}'):\n        f()\n" for key in ("2", "10?", "11"))
    assert blocks_of(source) == {"test": ["2", "10?", "11"]}
