"""Rows of public data sets of programming tasks as tasks: one function for each shape; nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from agent_envs.envs.python_sandbox.tasks._asserts import Checks, checks_of
from agent_envs.envs.python_sandbox.tasks._calls import submit
from agent_envs.envs.python_sandbox.tasks._cases import (
    Row,
    call_asserts,
    json_value,
    packed_text,
    required_text,
    text_of,
    texts_of,
)

from agent_envs.errors import TaskError
from agent_envs.tasks import Task
from agent_envs.tools import ToolCall

_IMPORTS = """
import bisect, collections, functools, heapq, itertools, math, operator, re, string
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict, defaultdict, deque
from functools import cache, lru_cache, reduce
from heapq import heapify, heappop, heappush
from itertools import accumulate, combinations, permutations, product
from math import ceil, comb, floor, gcd, inf, sqrt
from typing import *
"""
"""What solutions on the sites where these tasks come from may use without importing it."""
_METHOD = """
def {name}(*args):
    return Solution().{name}(*args)
"""
_PROGRAM_FORM = (
    "Write a Python program that reads standard input and writes standard output. Submit its complete source."
)


def import_mbpp(row: Row) -> Task:
    """A row of MBPP, in its full or its sanitized form."""
    tests = [*texts_of(row, "test_list"), *texts_of(row, "challenge_test_list")]
    setup = "\n".join([text_of(row, "test_setup_code"), *texts_of(row, "test_imports")]).strip()
    code = required_text(row, "code")
    checks: Checks = checks_of(code, setup, tests)
    name = checks.shown
    question = required_text(row, "text" if row.get("text") else "prompt")
    return Task(
        id=f"mbpp/{row['task_id']}",
        prompt=(
            f"{question.strip()}\n\nSubmit the complete Python source that defines `{name}`. It must satisfy, for"
            f" example:\n\n```python\n{tests[0].strip()}\n```"
        ),
        kind="function",
        secret=checks.secret,
        solution=(submit(code.replace("\r\n", "\n")),),
        wrong=((submit("pass\n"),),),
        tags=("function",),
    )


def import_apps(row: Row) -> Task:
    """A row of APPS."""
    name = next((str(row[key]) for key in ("problem_id", "id") if row.get(key) is not None), "")
    return _stdin_or_calls(row, "apps", name)


def import_taco(row: Row) -> Task:
    """A row of TACO; one without an id is named by the hash of its question."""
    name = next((str(row[key]) for key in ("problem_id", "id", "task_id") if row.get(key) is not None), "")
    return _stdin_or_calls(row, "taco", name or sha256(required_text(row, "question").encode()).hexdigest()[:16])


def import_livecodebench(row: Row) -> Task:
    """A row of LiveCodeBench; packed private tests are read without unpickling anything."""
    tests = [*_tests(text_of(row, "public_test_cases")), *_tests(packed_text(text_of(row, "private_test_cases")))]
    if not tests:
        raise TaskError("public_test_cases and private_test_cases hold no test; expected at least one")
    kinds = {str(test.get("testtype", "stdin")) for test in tests}
    if len(kinds) != 1 or not kinds <= {"stdin", "functional"}:
        raise TaskError(f"the tests have the types {sorted(kinds)}; expected all stdin or all functional")
    question, starter = required_text(row, "question_content"), text_of(row, "starter_code")
    label = f"livecodebench/{required_text(row, 'question_id')}"
    solution = text_of(row, "solution")
    if kinds == {"stdin"}:
        cases = [{"stdin": str(test["input"]), "stdout": str(test["output"])} for test in tests]
        return _program(label, question, cases, solution, row)
    metadata = row.get("metadata") or {}
    metadata = json_value(metadata, "metadata") if isinstance(metadata, str) else metadata
    calls = [
        ([json_value(line, "input") for line in str(test["input"]).splitlines() if line.strip()], test["output"])
        for test in tests
    ]
    pairs = [(arguments, json_value(str(output), "output")) for arguments, output in calls]
    asserts, prelude = call_asserts(required_text(metadata, "func_name"), pairs, either=False)
    return _function(label, (question, starter), (str(metadata["func_name"]), asserts, prelude), solution, row)


def _stdin_or_calls(row: Row, family: str, name: str) -> Task:
    if not name:
        raise TaskError("the row has no problem_id; add one, so that its task has a name")
    packed = row.get("input_output")
    tests = json_value(packed, "input_output") if isinstance(packed, str) and packed else packed
    if not isinstance(tests, Mapping) or not tests.get("inputs"):
        raise TaskError("input_output holds no inputs, and without them nothing can be judged; remove this row")
    inputs, outputs = tests["inputs"], tests.get("outputs") or []
    if len(inputs) != len(outputs):
        raise TaskError(f"input_output holds {len(inputs)} inputs and {len(outputs)} outputs; expected pairs")
    question, label, solution = required_text(row, "question"), f"{family}/{name}", _first_solution(row)
    if not tests.get("fn_name"):
        cases = [
            {"stdin": _joined(given), "stdout": _joined(wanted)} for given, wanted in zip(inputs, outputs, strict=True)
        ]
        return _program(label, question, cases, solution, row)
    entry = str(tests["fn_name"])
    pairs = list(zip(inputs, outputs, strict=True))
    asserts, prelude = call_asserts(entry, pairs, either=True)
    return _function(label, (question, text_of(row, "starter_code")), (entry, asserts, prelude), solution, row)


def _program(label: str, question: str, cases: list[dict[str, str]], solution: str, row: Row) -> Task:
    return Task(
        id=label,
        prompt=f"{question.strip()}\n\n{_PROGRAM_FORM}",
        kind="program",
        secret={"cases": cases, "checker": "tokens"},
        solution=_submitted(solution),
        wrong=((submit("pass\n"),),),
        difficulty=text_of(row, "difficulty"),
        tags=("program",),
    )


def _function(label: str, asked: tuple[str, str], checks: tuple[str, list[str], str], solution: str, row: Row) -> Task:
    (question, starter), (entry, asserts, prelude) = asked, checks
    shown = f"\n\nIt begins as follows:\n\n```python\n{starter.strip()}\n```" if starter.strip() else ""
    what = (
        f"the class `Solution` with the method `{entry}`" if "class Solution" in starter else f"the function `{entry}`"
    )
    return Task(
        id=label,
        prompt=f"{question.strip()}{shown}\n\nSubmit the complete Python source of {what}.",
        kind="function",
        # A function of this name in the submitted source takes the place of the one that calls a method.
        secret={
            "entry_point": entry,
            "asserts": asserts,
            "prelude": prelude,
            "preamble": _IMPORTS + _METHOD.format(name=entry),
        },
        solution=_submitted(solution),
        wrong=((submit("pass\n"),),),
        difficulty=text_of(row, "difficulty"),
        tags=("function",),
    )


def _submitted(solution: str) -> tuple[ToolCall, ...]:
    return (submit(solution),) if solution else ()


def _first_solution(row: Row) -> str:
    solutions = row.get("solutions")
    if isinstance(solutions, str):
        solutions = json_value(solutions, "solutions") if solutions.strip() else []
    return str(solutions[0]) if solutions else ""


def _joined(lines: object) -> str:
    """Standard input or output, which some rows hold as a list of lines."""
    if isinstance(lines, list):
        return "".join(f"{line}\n" for line in lines)
    if not isinstance(lines, str):
        raise TaskError(f"an input or output is {type(lines).__name__}; expected text or a list of lines")
    return lines


def _tests(text: str) -> list[dict[str, object]]:
    tests = json_value(text, "the tests") if text.strip() else []
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise TaskError("the tests are no list of objects; expected input, output and testtype in each")
    return tests
