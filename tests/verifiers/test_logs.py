"""Logs of tests are read in the few forms that are known."""

from __future__ import annotations

import pytest
from agent_envs.verifiers.swe.logs import logged

PYTEST = """\
=========== short test summary info ===========
PASSED tests/a.py::test_one[a b]
FAILED tests/a.py::test_two - AssertionError: 1 - 2
SKIPPED [1] tests/a.py:3: no reason
XFAIL tests/a.py::test_four
ERROR tests/a.py::test_two
"""
UNITTEST = """\
  Applying contenttypes.0001_initial... OK
test_add (sums.tests.SumTests) ... ok
test_sub (sums.tests.SumTests)
Subtracts what should be subtracted. ... FAIL
test_loud (sums.tests.SumTests) ... Testing against what is installed
ok
test_quiet (sums.tests.SumTests) ... printed ok
test_db (sums.tests.SumTests) ... skipped 'no database'
test_old (sums.tests.SumTests) ... expected failure
test_odd (sums.tests.SumTests) ... unexpected success
test_bad (sums.tests.SumTests) ... ERROR
ok
"""
SYMPY = "sums/tests/test_sums.py[4]\ntest_add ok\ntest_sub F\ntest_mul E\ntest_div f  [FAIL]\nnot a test ok\n"


@pytest.mark.parametrize(
    ("parser", "log", "statuses"),
    [
        (
            "pytest",
            PYTEST,
            {
                "tests/a.py::test_one[a b]": "passed",
                "tests/a.py::test_two": "error",
                "[1] tests/a.py:3: no reason": "skipped",
                "tests/a.py::test_four": "xfailed",
            },
        ),
        (
            "unittest",
            UNITTEST,
            {
                "test_add (sums.tests.SumTests)": "passed",
                "Subtracts what should be subtracted.": "failed",
                "test_loud (sums.tests.SumTests)": "passed",
                "test_quiet (sums.tests.SumTests)": "passed",
                "test_db (sums.tests.SumTests)": "skipped",
                "test_old (sums.tests.SumTests)": "xfailed",
                "test_odd (sums.tests.SumTests)": "failed",
                "test_bad (sums.tests.SumTests)": "error",
            },
        ),
        ("sympy", SYMPY, {"test_add": "passed", "test_sub": "failed", "test_mul": "error", "test_div": "xfailed"}),
    ],
)
def test_every_test_of_a_log_has_the_worst_that_is_said_of_it(parser: str, log: str, statuses: dict[str, str]) -> None:
    assert logged(parser, log) == statuses
