"""The trainer: what a turn and a step cost beside TRL in the same run, and what a real model learns on a CPU.

python benchmarks/trainer.py [--only SECTION ...] [--model smollm2] [--seeds 0 1] [--out FOLDER] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import torch
from agent_envs.trainers import Rollouts, TrainConfig, train
from agent_envs.trainers.prompts import Prompts
from measure import Report, interleave
from trainer_tasks import write_tasks

from agent_envs.sampling import ChatFormat, Completion, Request, tiny_model
from agent_envs.spaces import UnicodeText

HERE = Path(__file__).parent
ROLLOUTS, TOOL_S = 8, 0.25
SECTIONS = ("size", "turn", "bandit", "step", "learning")
LEARNING: dict[str, Any] = {
    "steps": 20,
    "groups": 4,
    "group_size": 8,
    "eval_samples": 4,
    "eval_every": 10,
    "max_new_tokens": 32,
    "max_turns": 1,
    "learning_rate": 3e-5,
    "warmup": 3,
    "lora_rank": 0,
    "dynamic_rounds": 0,
    "probe": "off",
    "checkpoint_every": 1000,
}
"""Small steps, because a processor is slow: 32 programs of at most 32 tokens each."""


class SlowTool(gymnasium.Env[str, str]):
    """Every step takes a quarter of a second."""

    observation_space = action_space = UnicodeText(1000)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "Wait.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        time.sleep(TOOL_S)
        return "Waited.", 0.0, True, False, {}


class Levers(SlowTool):
    """One answer in eight pays."""

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "Thanks.", float(action != "" and ord(action[0]) % 8 == 3), True, False, {}


class InstantSampler:
    """Answers at once, so that only the loop and the tool are timed."""

    context = 4096

    def __init__(self) -> None:
        self._asked: list[Request] = []

    def submit(self, request: Request) -> None:
        self._asked.append(request)

    def poll(self, wait_s: float) -> list[Completion]:
        done = [Completion(key=request.key, ids=[65], logprobs=[-1.0]) for request in self._asked]
        self._asked = []
        return done

    def refresh(self, model: Any, version: int) -> None:
        """Nothing to refresh."""


def measure_size(report: Report) -> None:
    report.section("size")
    trainers = sorted((HERE.parent / "trainers").glob("*.py"))
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in trainers}
    report.add("lines of trainers/", sum(lines.values()), "", at_most=1499)
    report.add("lines of grpo.py", lines["grpo.py"], "", at_most=299)


def measure_turn(report: Report, rounds: int) -> None:
    """One turn of 8 episodes whose tool takes 0.25 s."""
    report.section("turn")
    _, tokenizer = tiny_model()
    config = TrainConfig(groups=1, group_size=ROLLOUTS, max_new_tokens=4, max_turns=1)
    rollouts = Rollouts(SlowTool, ChatFormat(tokenizer), InstantSampler(), config)
    contenders: dict[str, Any] = {"ours": lambda: rollouts.play(Prompts(config).jobs(1)) and None}
    if find_spec("trl"):
        contenders["TRL"] = trl_turn()
    else:
        report.remark("TRL is not installed (pip install 'agent-envs[parity]'): compared with nothing")
    spreads = interleave(contenders, rounds=rounds, warmups=1)
    rollouts.close()
    report.add(f"{ROLLOUTS} rollouts, a tool of {TOOL_S} s: a turn", spreads["ours"].median, "s", at_most=0.35)
    if "TRL" in spreads:
        report.add("the same in TRL's tool loop", spreads["TRL"].median, "s")
        report.add("ours / TRL", spreads["ours"].median / spreads["TRL"].median, "x", at_most=1.0)


def trl_turn() -> Any:
    """TRL's own `_tool_call_loop`, its model stubbed by a completion budget that is used up."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = tiny_model()
    arguments = GRPOConfig(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=ROLLOUTS,
        num_generations=ROLLOUTS,
        report_to="none",
        use_cpu=True,
        bf16=False,
    )
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": ["x"] * ROLLOUTS}),
        reward_funcs=lambda completions, **columns: [0.0] * len(completions),
    )

    def wait() -> str:
        time.sleep(TOOL_S)
        return "waited"

    trainer._sync_tool_dicts, trainer._async_tool_dicts = [{"wait": wait}] * ROLLOUTS, [{}] * ROLLOUTS
    trainer.max_tool_calling_iterations, trainer.max_completion_length = 1, 0
    trainer._get_tool_suffix_ids = lambda messages: [1, 2, 3]
    call = {"type": "function", "function": {"name": "wait", "arguments": {}}}

    def turn() -> None:
        said = [[{"role": "assistant", "content": "", "tool_calls": [call]}] for _ in range(ROLLOUTS)]
        asked = [[{"role": "user", "content": "Wait."}] for _ in range(ROLLOUTS)]
        ids = [[1, 2, 3] for _ in range(ROLLOUTS)]
        trainer._tool_call_loop(asked, ids, [[4] for _ in ids], said, None, None, {})

    return turn


def measure_bandit(report: Report) -> None:
    report.section("bandit")
    config = TrainConfig(
        steps=30, groups=2, group_size=16, max_new_tokens=1, learning_rate=1e-2, lora_rank=0, bf16="off", eval_every=99
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        before, after = train(Levers, model="tiny", out=folder, config=config).curve("eval/pass@1")
    report.add("a tiny random model, one lever in eight: before", before, "")
    report.add("after 30 steps", after, "", at_least=0.9)
    report.add("time, all in all", time.perf_counter() - began, "s")


def measure_step(report: Report, model: str, *, quick: bool) -> None:
    """An optimizer step, each side in a process of its own, in turns; TRL with and without gradient checkpointing."""
    report.section("step")
    rounds = 2 if quick else 5
    sides = ["ours", "trl"] if quick else ["ours", "trl", "trl-checkpointing"]
    sides = sides if find_spec("trl") else ["ours"]
    for precision in ((), ("--bf16",)):
        found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for turn in range(2):
            for side in sides[turn:] + sides[:turn]:
                command = [sys.executable, str(HERE / "trainer_step.py"), side, "--model", model, *precision]
                done = subprocess.run(
                    [*command, "--rounds", str(rounds)], capture_output=True, text=True, check=False, timeout=600
                )
                if done.returncode:
                    raise RuntimeError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
                found[side].append(json.loads(done.stdout.splitlines()[-1]))
        name = f"{model}, {'bf16' if precision else 'fp32'}"
        best = {side: {key: min(one[key] for one in runs) for key in runs[0]} for side, runs in found.items()}
        for side, figures in best.items():
            report.add(f"{name}: a step, {side}", figures["seconds"], "s")
            report.add(f"{name}: peak memory, {side}", figures["peak_mb"], "MB")
        if "trl" in best:
            for key, what in (("seconds", "time"), ("peak_mb", "memory")):
                report.add(f"{name}: {what}, ours / TRL", best["ours"][key] / best["trl"][key], "x", at_most=1.0)


def measure_learning(report: Report, model: str, seeds: list[int], out: Path, options: dict[str, Any]) -> None:
    """A real model on real tasks; the curves are left as data."""
    report.section("learning")
    out.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as work:
            path, train_ids, held_out = write_tasks(Path(work))
            config = TrainConfig(
                seed=seed, task_ids=tuple(train_ids), eval_task_ids=tuple(held_out), **{**LEARNING, **options}
            )
            began = time.perf_counter()
            result = train(
                "AgentRL/PythonSandbox-v0",
                model=model,
                out=Path(work) / "run",
                config=config,
                env_options={
                    "task_set": "jsonl",
                    "path": str(path),
                    "single_turn": True,
                    "dialect": "fenced",
                    "instructions": False,
                    "reward": {"execution_bonus": 0.1},
                },
                on_step=lambda metrics: print(json.dumps(metrics), file=sys.stderr, flush=True),
            )
            seconds = time.perf_counter() - began
            curve = [{k: round(v, 5) for k, v in line.items()} for line in result.metrics]
        document = {
            "model": model,
            "seed": seed,
            "seconds": round(seconds),
            "options": LEARNING | options,
            "curve": curve,
        }
        (out / f"trainer_seed{seed}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
        first, *_, last = result.curve("eval/pass@1")
        report.add(f"seed {seed}: pass@1 on {len(held_out)} held-out prompts, before", first, "")
        report.add(f"seed {seed}: after {config.steps} steps on {len(train_ids)} prompts", last, "")
        report.add(f"seed {seed}: rise", last - first, "", at_least=0.3)
        report.add(f"seed {seed}: time, evaluations included", seconds / 60, "", note="minutes")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    options.add_argument("--model", default="smollm2")
    options.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    options.add_argument("--out", type=Path, default=HERE / "curves")
    options.add_argument("--option", nargs="*", default=[], metavar="NAME=JSON", help="of the learning run")
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--quick", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    report = Report("trainer")
    if "size" in chosen.only:
        measure_size(report)
    if "turn" in chosen.only:
        measure_turn(report, rounds=3 if chosen.quick else 7)
    if "bandit" in chosen.only:
        measure_bandit(report)
    if "step" in chosen.only:
        measure_step(report, chosen.model, quick=chosen.quick)
    if "learning" in chosen.only and not chosen.quick:
        changes = {name: json.loads(value) for name, _, value in (one.partition("=") for one in chosen.option)}
        measure_learning(report, chosen.model, chosen.seeds, chosen.out, changes)
    return report.show(as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
