"""The command line as a user calls it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AGENT_ENVS = str(Path(sys.executable).with_name("agent-envs"))


def agent_envs(*arguments: str, stdin: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [AGENT_ENVS, *arguments], input=stdin, capture_output=True, text=True, timeout=900, check=False, cwd=folder
    )


def as_json(*arguments: str) -> Any:
    done = agent_envs(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_environments_are_listed_with_their_tools() -> None:
    row = next(row for row in as_json("list") if row["id"] == "AgentRL/PythonSandbox-v0")
    assert "python" in row["tools"]
    assert "humaneval" in row["task_sets"]


def test_the_oracle_scores_one_and_silence_scores_zero() -> None:
    for agent, score in (("oracle", 1.0), ("nop", 0.0)):
        summary = as_json("run", "PythonSandbox-v0", "--agent", agent, "--tasks", "3")
        assert (summary["score"], summary["tasks"], summary["error"]) == (score, 3, 0)


def test_the_random_agent_ends_every_episode_with_a_verdict() -> None:
    summary = as_json("run", "PythonSandbox-v0", "--agent", "random", "--tasks", "2", "--set", "max_steps=4")
    assert (summary["tasks"], summary["error"]) == (2, 0)


def test_a_script_is_played_and_every_episode_recorded(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"name": "submit", "arguments": {"answer": "5050"}}\n', encoding="utf-8")
    record = tmp_path / "episodes.jsonl"
    task = ("--task-id", "arithmetic/sum-1-100", "--script", str(script), "--record", str(record))
    assert as_json("run", "PythonSandbox-v0", "--agent", "scripted", *task)["score"] == 1.0
    assert len(record.read_text(encoding="utf-8").splitlines()) == 1


def test_the_demo_proves_its_claim_and_fits_80_columns() -> None:
    done = subprocess.run(
        [AGENT_ENVS, "demo", "--tasks", "3"],
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
        env={"COLUMNS": "80", "PATH": "/usr/bin:/bin"},
    )
    assert "3/3" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_doctor_names_every_tier_and_what_is_used_here() -> None:
    tiers = as_json("doctor")
    assert [tier["name"] for tier in tiers] == [
        "namespaces+cgroup",
        "namespaces",
        "landlock",
        "none",
        "docker",
        "browser",
    ]
    assert "Environments here use: namespaces" in agent_envs("doctor").stdout


def test_clean_says_what_it_removed() -> None:
    assert set(as_json("clean")) == {
        "control groups",
        "folders",
        "half-made images",
        "containers",
        "volumes",
        "copies of containers",
    }


def test_a_person_can_play() -> None:
    done = agent_envs(
        "play",
        "PythonSandbox-v0",
        "--task-id",
        "arithmetic/sum-1-100",
        stdin='{"name": "submit",\n"arguments": {"answer": "5050"}}\n\n',
    )
    assert done.returncode == 0, done.stderr
    assert "resolved" in done.stdout


def test_a_blank_line_inside_a_block_of_code_does_not_send() -> None:
    program = "```python\ndef f():\n    return 21\n\nprint(2 * f())\n```\n\n"
    done = agent_envs("play", "PythonSandbox-v0", "--seed", "1", stdin=f"{program}.quit\n")
    assert "42" in done.stdout


def test_a_run_without_a_verdict_is_no_success(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('"too short"\n', encoding="utf-8")
    done = agent_envs("run", "PythonSandbox-v0", "--agent", "scripted", "--script", str(script), "--tasks", "1")
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("run", "NoSuchEnv-v0"), "PythonSandbox-v0"),
        (("run", "PythonSandbox-v0", "--agent", "orakel"), "oracle"),
        (("run", "PythonSandbox-v0", "--task-id", "nowhere"), "arithmetic"),
        (("run", "PythonSandbox-v0", "--set", "max_step=3"), "max_steps"),
        (("run", "PythonSandbox-v0", "--set", "task_set=humanevil"), "humaneval"),
        (("run", "PythonSandbox-v0", "--set", "nonsense"), "NAME=VALUE"),
        (("run", "PythonSandbox-v0", "--set", "task_set=jsonl", "--set", "path=/no/such/file"), "/no/such/file"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_the_remedy_and_exit_status_2(
    arguments: tuple[str, ...], named: str
) -> None:
    done = agent_envs(*arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert named in done.stderr
