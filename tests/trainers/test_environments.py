"""Two steps of training in each of our environments, and in one that a stranger wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from agent_envs.envs.swe import SweEnv
from agent_envs.trainers import TrainConfig, train

from agent_envs.browser import BrowserOptions, open_window
from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.testing.notes import notes_tasks

AGENT_ENVS = str(Path(sys.executable).with_name("agent-envs"))
TWO_STEPS = {
    "steps": 2,
    "groups": 1,
    "group_size": 4,
    "seats": 2,
    "prompts": 4,
    "eval_prompts": 1,
    "eval_samples": 1,
    "max_new_tokens": 2,
    "max_turns": 2,
    "learning_rate": 1e-2,
    "lora_rank": 0,
    "bf16": "off",
    "probe": "off",
}


class Menu(gymnasium.ActionWrapper[str, str, str]):
    """What a random model types chooses from a menu, so that episodes of a group differ."""

    def __init__(self, env: gymnasium.Env[str, str], *menu: dict[str, Any]) -> None:
        super().__init__(env)
        self.menu = menu

    def action(self, action: str) -> Any:
        return self.menu[sum(map(ord, action)) % len(self.menu)]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def two_steps(make_env: Any, folder: Path, **options: Any) -> list[dict[str, float]]:
    config = TrainConfig(**{**TWO_STEPS, **options})
    metrics = train(make_env, model="tiny", out=folder, config=config).metrics
    assert [line["step"] for line in metrics] == [0, 1, 2]
    assert any(line.get("grad_norm", 0.0) > 0.0 for line in metrics)
    # What breaks on a busy machine is played again; what may not happen is that it breaks again.
    assert all("dropped_groups" not in line for line in metrics)
    return metrics


def test_python_sandbox(tmp_path: Path) -> None:
    def make() -> gymnasium.Env[str, str]:
        env = gymnasium.make("AgentRL/PythonSandbox-v0", reward={"execution_bonus": 0.1})
        return Menu(env, call("python", code="1 + 1"), call("submit", answer="no"))

    assert two_steps(make, tmp_path)[0]["parsed"] == 1.0


def test_repositories(tmp_path: Path) -> None:
    ahead = SweEnv(sandbox="namespaces")
    try:
        # A machine that has run no container yet needs minutes for the first image, and a turn of training has two.
        ahead.prepare("depot/half-an-import")
    except (SandboxUnavailable, MissingExtra) as reason:
        pytest.skip(f"namespaces cannot be used here: {reason}")
    ahead.close()

    def make() -> gymnasium.Env[str, str]:
        env = gymnasium.make("AgentRL/SWE-v0", sandbox="namespaces", reward={"execution_bonus": 0.1})
        return Menu(env, call("bash", command="ls"), call("submit"))

    assert two_steps(make, tmp_path, task_ids=("depot/half-an-import",), eval_prompts=1)[0]["parsed"] == 1.0


def test_web_pages(tmp_path: Path) -> None:
    try:
        open_window(BrowserOptions(), visits={}, now="2026-03-10T09:00:00", seed=0).close()
    except (SandboxUnavailable, MissingExtra) as reason:
        pytest.skip(f"no browser can be used here: {reason}")

    def make() -> gymnasium.Env[str, str]:
        env = gymnasium.make(
            "AgentRL/Web-v0", task_set=notes_tasks(), reward={"format_bonus": 0.1, "format_per": "turn"}
        )
        return Menu(env, call("scroll", direction="down"), call("submit"))

    assert two_steps(make, tmp_path)[0]["turns"] > 0


def test_a_strangers_environment_with_plain_text_spaces_trains_unchanged(levers: Any, tmp_path: Path) -> None:
    gymnasium.register("Stranger/Levers-v0", entry_point=levers)
    result = train(
        "Stranger/Levers-v0",
        model="tiny",
        out=tmp_path,
        config=TrainConfig(**{**TWO_STEPS, "group_size": 32, "max_new_tokens": 1}),
    )
    assert result.metrics[0]["grad_norm"] > 0


def test_the_command_line_trains_and_says_what_came_of_it(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("".join(f"{n} = {json.dumps(v)}\n" for n, v in TWO_STEPS.items()))
    given = "--model tiny --config run.toml --option steps=1 --set single_turn=true --out out --json"
    done = subprocess.run(
        [AGENT_ENVS, "train", "PythonSandbox-v0", *given.split()],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["last"]["step"] == 1
    assert (tmp_path / "out" / "model" / "config.json").exists()


def test_every_option_of_a_run_is_listed_with_what_it_does() -> None:
    done = subprocess.run([AGENT_ENVS, "train", "--options"], capture_output=True, text=True, check=True)
    for name in TrainConfig.__dataclass_fields__:
        assert name[:10] in done.stdout
