"""Rows of public data sets, in the shapes in which they are published, as tasks; the content is ours."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from agent_envs.envs.python_sandbox.env import judges
from agent_envs.envs.python_sandbox.tasks import load_task_set

from agent_envs.artifact import Artifact
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

MBPP = {
    "task_id": 9001,
    "text": "Write a function that counts the vowels of a word.",
    "code": "def vowels(word):\r\n    return sum(letter in 'aeiou' for letter in word)",
    "test_list": ["assert vowels('audio') == 4", "assert vowels('rhythm') == 0"],
    "test_setup_code": "",
    "challenge_test_list": ["assert vowels('') == 0"],
}
MBPP_SANITIZED = {
    "task_id": 9002,
    "prompt": "Write a function that returns the area of a circle.",
    "code": "import math\ndef area(radius):\n    return math.pi * radius**2",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(area(1), math.pi)", "assert area(0) == 0"],
}
MBPP_CLASS = {
    "task_id": 9003,
    "text": "Write a function that sums the left ends of spans.",
    "code": "class Span:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\ndef lefts(spans):\n"
    "    return sum(span.a for span in spans)",
    "test_list": ["assert lefts([Span(1, 5), Span(2, 9)]) == 3", "assert lefts(none) == 0"],
    "test_setup_code": "none = [Span(0, 1)]",
}
APPS_PROGRAM = {
    "problem_id": 7,
    "question": "Read two whole numbers and print their sum.",
    "solutions": json.dumps(["a, b = map(int, input().split())\nprint(a + b)"]),
    "input_output": json.dumps({"inputs": ["1 2\n", ["3 4"]], "outputs": ["3\n", ["7"]]}),
    "difficulty": "introductory",
    "starter_code": "",
}
APPS_CALLS = {
    "problem_id": 8,
    "question": "Return the number doubled.",
    "solutions": json.dumps(["class Solution:\n    def double(self, number: int) -> int:\n        return 2 * number"]),
    "input_output": json.dumps({"fn_name": "double", "inputs": [[3], [10**30]], "outputs": [[6], 2 * 10**30]}),
    "difficulty": "interview",
    "starter_code": "class Solution:\n    def double(self, number: int) -> int:\n        ",
}
TACO = {key: value for key, value in APPS_PROGRAM.items() if key != "problem_id"} | {"difficulty": "EASY"}
LCB_TESTS = [{"input": "[1, 2, 3]\n2", "output": "[2, 3, 1]", "testtype": "functional"}]
LCB_SOLUTION = (
    "class Solution:\n    def turn(self, values: List[int], by: int) -> List[int]:\n"
    "        return [values[i - by] for i in range(len(values))]\n"
)


def packed(content: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(content))).decode()


def livecodebench(private: str) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_content": "Turn the list to the right by some places.",
        "starter_code": "class Solution:\n    def turn(self, values: List[int], by: int) -> List[int]:\n        ",
        "public_test_cases": json.dumps(LCB_TESTS),
        "private_test_cases": private,
        "metadata": json.dumps({"func_name": "turn"}),
        "difficulty": "easy",
    }


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Task]:
    def load(name: str, row: Mapping[str, Any]) -> Task:
        path = tmp_path / "rows.jsonl"
        path.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
        (task,) = load_task_set(name, path=str(path))
        return task

    return load


def score(task: Task, answer: str) -> float | None:
    return judges().verify(task, Artifact(answer=answer, submitted=True)).score


def accepted(task: Task) -> bool:
    """Whether the row's own solution passes, and the wrong one does not."""
    (call,), ((wrong,),) = task.solution, task.wrong
    return score(task, call.arguments["answer"]) == 1.0 and score(task, wrong.arguments["answer"]) == 0.0


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("mbpp", MBPP),
        ("mbpp", MBPP_SANITIZED),
        ("mbpp", MBPP_CLASS),
        ("apps", APPS_PROGRAM),
        ("apps", APPS_CALLS),
        ("taco", TACO),
        ("taco", {**APPS_CALLS, "input_output": json.loads(APPS_CALLS["input_output"])}),
    ],
    ids=["mbpp", "sanitized", "own-class", "stdin", "method", "taco", "unpacked"],
)
def test_the_solution_of_a_row_passes_its_own_checks(
    load: Callable[..., Task], name: str, row: Mapping[str, Any]
) -> None:
    assert accepted(load(name, row))


def test_a_task_of_mbpp_shows_one_test_and_hides_the_others(load: Callable[..., Task]) -> None:
    task = load("mbpp", MBPP)
    assert "vowels('audio')" in task.prompt
    assert "rhythm" not in task.prompt
    assert len(task.secret["asserts"]) == 3


def test_a_value_that_exists_in_the_program_only_is_built_next_to_it(load: Callable[..., Task]) -> None:
    task = load("mbpp", MBPP_CLASS)
    wrong = (
        "class Span:\n    def __init__(self, a, b):\n        self.a = b\n"
        "def lefts(spans):\n    return sum(span.a for span in spans)"
    )
    assert score(task, wrong) == 0.0
    assert "== 3" not in task.secret["preamble"]


def test_a_plain_function_is_accepted_where_a_method_is_asked_for(load: Callable[..., Task]) -> None:
    task = load("apps", APPS_CALLS)
    assert score(task, "def double(number):\n    return number + number\n") == 1.0
    assert score(task, "def double(number):\n    return float(number + number)\n") == 0.0


def test_a_row_of_taco_without_an_id_is_named_by_its_question(load: Callable[..., Task]) -> None:
    assert load("taco", TACO).id == load("taco", TACO).id
    assert load("taco", {**TACO, "question": "Another one."}).id != load("taco", TACO).id


@pytest.mark.parametrize("private", [json.dumps(LCB_TESTS), packed(json.dumps(LCB_TESTS)), ""])
def test_private_tests_are_read_plain_or_packed(load: Callable[..., Task], private: str) -> None:
    task = load("livecodebench", livecodebench(private))
    assert len(task.secret["asserts"]) == (2 if private else 1)
    assert score(task, LCB_SOLUTION) == 1.0
    assert score(task, LCB_SOLUTION.replace("i - by", "i + by")) == 0.0


def test_a_program_of_livecodebench_is_judged_by_its_output(load: Callable[..., Task]) -> None:
    tests = json.dumps([{"input": "5\n", "output": "25\n", "testtype": "stdin"}])
    task = load("livecodebench", {**livecodebench(""), "public_test_cases": tests, "starter_code": ""})
    assert score(task, "print(int(input()) ** 2)") == 1.0
    assert score(task, "print(25 - 1)") == 0.0


class Bomb:
    """A pickle that would run code."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (self.path, "w")


def test_a_packed_pickle_is_never_unpickled(load: Callable[..., Task], tmp_path: Path) -> None:
    trap = tmp_path / "opened"
    with pytest.raises(TaskError, match="only a pickled text is read"):
        load("livecodebench", livecodebench(packed(Bomb(str(trap)))))
    assert not trap.exists()


@pytest.mark.parametrize("content", [["a list"], 5, ("a", "b"), b"bytes"])
def test_a_pickle_of_anything_but_text_is_refused(load: Callable[..., Task], content: object) -> None:
    with pytest.raises(TaskError, match="pickle"):
        load("livecodebench", livecodebench(packed(content)))


@pytest.mark.parametrize("cell", ["not base64!", base64.b64encode(b"no zlib").decode(), packed("[]")[:-8] + "AAAA"])
def test_a_broken_packed_cell_is_an_error(load: Callable[..., Task], cell: str) -> None:
    with pytest.raises(TaskError, match="private_test_cases"):
        load("livecodebench", livecodebench(cell))


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("mbpp", {**MBPP, "test_list": [], "challenge_test_list": []}, "test_list is empty"),
        ("mbpp", {**MBPP, "code": "def ("}, "code is not Python"),
        ("mbpp", {**MBPP, "test_list": ["print(1)"]}, "no single assert"),
        ("mbpp", {**MBPP, "test_list": ["assert len('a') == 1"], "challenge_test_list": []}, "no test calls"),
        ("mbpp", {"task_id": 1}, "code is missing"),
        ("apps", {**APPS_PROGRAM, "input_output": ""}, "holds no inputs"),
        ("apps", {**APPS_PROGRAM, "input_output": "{"}, "not JSON"),
        ("apps", {**APPS_PROGRAM, "input_output": '{"inputs": ["1"], "outputs": []}'}, "expected pairs"),
        ("apps", {**APPS_CALLS, "input_output": '{"fn_name": "a b", "inputs": [[1]], "outputs": [1]}'}, "no name"),
        ("apps", {**APPS_PROGRAM, "problem_id": None}, "no problem_id"),
        ("livecodebench", {**livecodebench(""), "public_test_cases": ""}, "hold no test"),
        ("livecodebench", {**livecodebench(""), "metadata": "{}"}, "func_name is missing"),
    ],
)
def test_a_malformed_row_is_an_error_with_its_file_and_line(
    load: Callable[..., Task], name: str, row: Mapping[str, Any], why: str
) -> None:
    with pytest.raises(TaskError, match=f"rows.jsonl, line 1: .*{why}"):
        load(name, row)


def test_rows_are_read_from_parquet_and_from_folders(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist([MBPP])
    pyarrow.parquet.write_table(table, tmp_path / "test.parquet")
    assert load_task_set("mbpp", path=str(tmp_path / "test.parquet")).task("mbpp/9001").kind == "function"
    assert load_task_set("mbpp", path=str(tmp_path)).splits == ("test",)


def test_tasks_of_our_own_shape_are_read_from_jsonl(tmp_path: Path) -> None:
    task = Task(id="own/1", prompt="Compute 6 times 7.", kind="number", secret={"answer": 42})
    path = tmp_path / "own.jsonl"
    path.write_text(task.to_json() + "\n", encoding="utf-8")
    assert load_task_set("jsonl", path=str(path)).task("own/1") == task
