"""What the trackers themselves have stored when a run has ended. A step of .ci/run installs them for this."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

for tracker in ("tensorboard", "trackio", "wandb"):
    pytest.importorskip(tracker, reason="on purpose: pip install 'agent-envs[tracking]' for this file alone")

CONFIG = """
groups = 2
group_size = 2
max_new_tokens = 3
steps = 2
lora_rank = 0
eval_prompts = 1
eval_samples = 2
dynamic_rounds = 0
probe = "off"
trackers = ["tensorboard", "trackio", "wandb"]
"""
STEPS = [0, 1]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run of two steps has ended; without a network, as machines that train often are."""
    folder = tmp_path_factory.mktemp("tracked")
    (folder / "run.toml").write_text(CONFIG)
    options = "--model tiny --set single_turn=true --set dialect=fenced --config run.toml --out first-run"
    command = [str(Path(sys.executable).with_name("agent-envs")), "train", "PythonSandbox-v0", *options.split()]
    env = os.environ | {"TRACKIO_DIR": str(folder / "trackio"), "WANDB_MODE": "offline"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def test_tensorboard_has_every_step(stored: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(stored / "first-run"))
    events.Reload()
    assert [event.step for event in events.Scalars("reward")] == STEPS
    assert events.Scalars("eval/pass@1")[-1].step == 2


def test_trackio_has_every_step_under_the_name_of_the_folder(stored: Path) -> None:
    with sqlite3.connect(stored / "trackio" / "agent-envs.db") as database:
        rows = database.execute("SELECT run_name, step, metrics FROM metrics ORDER BY step").fetchall()
    assert {name for name, _, _ in rows} == {"first-run"}
    assert [step for _, step, metrics in rows if "reward" in json.loads(metrics)] == STEPS


def test_wandb_has_every_step(stored: Path) -> None:
    (path,) = (stored / "first-run" / "wandb").glob("offline-run-*/run-*.wandb")
    content = path.read_bytes()
    assert b"first-run" in content
    assert content.count(b"useful_groups") >= len(STEPS)
