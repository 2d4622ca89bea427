"""Whole runs with a tiny random model: they learn, resume to the same curve, and fail with a reason."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from agent_envs.trainers import NothingToLearn, Result, TrainConfig, TrainingFailed, train
from agent_envs.trainers.checkpoint import newest

from agent_envs.errors import ConfigError, MissingExtra
from agent_envs.sampling import tiny_model

QUICK = {
    "groups": 2,
    "group_size": 4,
    "max_new_tokens": 3,
    "max_turns": 3,
    "learning_rate": 1e-2,
    "warmup": 1,
    "lora_rank": 0,
    "bf16": "off",
    "eval_prompts": 2,
    "eval_samples": 2,
    "eval_every": 2,
    "dynamic_rounds": 0,
    "probe": "off",
}


def quick(**options: Any) -> TrainConfig:
    return TrainConfig(**{**QUICK, **options})


def weights(result: Result) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in result.model.parameters()])


def curve(result: Result) -> list[dict[str, float]]:
    """What a curve shows, without what a clock says."""
    return [{n: v for n, v in line.items() if not n.endswith(("_s", "seconds"))} for line in result.metrics]


def test_a_tiny_random_model_learns_to_pull_the_right_lever(levers: Any, tmp_path: Path) -> None:
    config = quick(steps=30, group_size=16, max_new_tokens=1, max_turns=1, eval_prompts=16, eval_every=100)
    result = train(levers, model="tiny", out=tmp_path, config=config)
    before, after = result.curve("eval/pass@1")
    assert before < 0.6
    assert after > 0.9


def test_a_run_leaves_metrics_samples_curves_and_a_model_that_loads(corridor: Any, tmp_path: Path) -> None:
    result = train(corridor, model="tiny", out=tmp_path, config=quick(steps=2))
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1, 2]
    assert {"reward", "loss", "entropy", "grad_norm", "sampler_gap", "sample_s", "learn_s"} <= set(lines[0])
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "You see door" in (tmp_path / "samples.md").read_text()
    again = train(corridor, model=str(tmp_path / "model"), out=tmp_path / "more", config=quick(steps=1))
    assert again.metrics[0]["eval/reward"] == pytest.approx(result.metrics[-1]["eval/reward"])


@pytest.mark.parametrize("options", [{}, {"lora_rank": 4}, {"curriculum": True, "kl": 0.1, "updates_per_batch": 2}])
def test_a_run_that_was_interrupted_resumes_to_the_same_curve(
    corridor: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    config = quick(steps=4, checkpoint_every=2, **options)
    whole = train(corridor, model="tiny", out=tmp_path / "whole", config=config)

    def stop(metrics: dict[str, float]) -> None:
        if metrics["step"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(corridor, model="tiny", out=tmp_path / "cut", config=config, on_step=stop)
    resumed = train(corridor, model="tiny", out=tmp_path / "cut", config=config, resume=True)
    assert [line["step"] for line in resumed.metrics] == [line["step"] for line in whole.metrics]
    for ours, theirs in zip(curve(resumed), curve(whole), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    # AdamW divides by the gradient's own size, so that rounding shows where a gradient is next to nothing.
    torch.testing.assert_close(weights(resumed), weights(whole), atol=1e-3, rtol=0.0)


def test_sampling_may_run_ahead_of_learning(corridor: Any, tmp_path: Path) -> None:
    config = quick(steps=4, overlap=1, checkpoint_every=2)
    result = train(corridor, model="tiny", out=tmp_path, config=config)
    assert [line["step"] for line in result.metrics] == [0, 1, 2, 3, 4]
    resumed = train(corridor, model="tiny", out=tmp_path, config=quick(steps=6, overlap=1), resume=True)
    assert [line["step"] for line in resumed.metrics] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("loss", ["grpo", "dr_grpo", "gspo", "reinforce"])
def test_every_loss_trains(corridor: Any, tmp_path: Path, loss: Any) -> None:
    result = train(corridor, model="tiny", out=tmp_path, config=quick(steps=1, loss=loss, turn_credit=0.5))
    assert math.isfinite(result.metrics[0]["loss"])
    assert result.metrics[0]["grad_norm"] > 0


def test_the_first_step_is_on_policy(corridor: Any, tmp_path: Path) -> None:
    first = train(corridor, model="tiny", out=tmp_path, config=quick(steps=1)).metrics[0]
    assert first["sampler_gap"] < 1e-5
    assert first["clipped"] == 0.0


def test_an_environment_that_always_breaks_ends_the_run_with_its_own_words(faulty: Any, tmp_path: Path) -> None:
    faulty.faults.extend(["raise"] * 999)
    with pytest.raises(TrainingFailed, match="the disk is on fire"):
        train(faulty, model="tiny", out=tmp_path, config=quick(eval_prompts=0))


def test_a_probe_says_that_there_is_nothing_to_learn(corridor: Any, tmp_path: Path) -> None:
    same = type("Same", (corridor,), {"step": lambda self, action: ("x", 1.0, True, False, {})})
    with pytest.warns(NothingToLearn, match="earned the same"):
        train(same, model="tiny", out=tmp_path, config=quick(steps=1, probe="warn"))
    with pytest.raises(TrainingFailed, match="The model said"):
        train(same, model="tiny", out=tmp_path / "2", config=quick(steps=1, probe="refuse"))


def test_a_probe_says_that_nothing_parses(tmp_path: Path) -> None:
    from agent_envs.testing import EchoEnv

    with pytest.raises(TrainingFailed, match="could be read as a tool call"):
        train(EchoEnv, model="tiny", out=tmp_path, config=quick(steps=1, probe="refuse"))


def test_a_loss_that_is_no_number_is_skipped_and_then_ends_the_run(corridor: Any, tmp_path: Path) -> None:
    model, tokenizer = tiny_model()
    paid_nan = type("Nan", (corridor,), {"turns": 1})
    config = quick(steps=5, learning_rate=1e30, max_grad_norm=0.0)
    with pytest.raises((TrainingFailed, RuntimeError)):
        train(paid_nan, model=(model, tokenizer), out=tmp_path, config=config)


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one_whole(corridor: Any, tmp_path: Path) -> None:
    config = quick(steps=4, checkpoint_every=2)

    def block(metrics: dict[str, float]) -> None:
        # A file where the checkpoint of step 4 will be written aside: as good as a full disk, for root as well.
        (tmp_path / ".checkpoint-000004.part").write_text("")

    with pytest.raises(TrainingFailed, match="checkpoint-000002"):
        train(corridor, model="tiny", out=tmp_path, config=config, on_step=block)
    (tmp_path / ".checkpoint-000004.part").unlink(missing_ok=True)
    last = newest(tmp_path)
    assert last is not None
    assert last.name == "checkpoint-000002"
    resumed = train(corridor, model="tiny", out=tmp_path, config=config, resume=True)
    assert resumed.metrics[-1]["step"] == 4


def test_options_that_cannot_work_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="group_size"):
        TrainConfig(group_size=1)
    with pytest.raises(ConfigError, match="unknown training option 'stepz'"):
        TrainConfig.of({"stepz": 3})
    with pytest.raises(ConfigError, match="wrong type"):
        TrainConfig.of({"steps": "many"})
    (tmp_path / "x.toml").write_text('steps = 3\nloss = "grpo"\ntask_ids = ["a"]\n')
    assert TrainConfig.from_toml(tmp_path / "x.toml", seed=4) == TrainConfig(
        steps=3, loss="grpo", task_ids=("a",), seed=4
    )
    with pytest.raises(ConfigError, match="cannot be made"):
        train("NoSuch-v0", model="tiny", out=tmp_path, config=quick())
    with pytest.raises(ConfigError, match="cannot be loaded"):
        train("PythonSandbox-v0", model=str(tmp_path), out=tmp_path, config=quick())
    with pytest.raises(ConfigError, match="nothing to resume"):
        train("PythonSandbox-v0", model="tiny", out=tmp_path, config=quick(), resume=True)


def test_a_run_that_was_killed_resumes_from_its_last_checkpoint(tmp_path: Path) -> None:
    options = "--model tiny --option steps=40 --option checkpoint_every=1 --option groups=1 --option group_size=2"
    options += (
        " --option eval_prompts=1 --option lora_rank=0 --option max_new_tokens=2 --set single_turn=true --out out"
    )
    command = [str(Path(sys.executable).with_name("agent-envs")), "train", "PythonSandbox-v0", *options.split()]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 900
    while newest(tmp_path / "out") is None and time.monotonic() < until:
        time.sleep(0.05)
    running.kill()
    running.wait()
    last = newest(tmp_path / "out")
    assert last is not None
    step = int(last.name.rpartition("-")[2])
    again = [*command, "--resume", "--option", f"steps={step + 1}", "--json"]
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["last"]["step"] == step + 1


def test_a_tracker_that_is_not_installed_is_named_with_its_extra(
    corridor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtra, match="tracking"):
        train(corridor, model="tiny", out=tmp_path, config=quick(steps=1, trackers=("wandb",)))
