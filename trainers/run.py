"""A training run, from an environment and a model to curves and a trained model.

sample groups -> keep those with variance -> one step -> show the sampler the new weights -> write it all down
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium
import torch
from agent_envs.trainers import grpo, probe
from agent_envs.trainers.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from agent_envs.trainers.config import TrainConfig, TrainingFailed
from agent_envs.trainers.learner import Learner
from agent_envs.trainers.prompts import Prompts, eval_jobs
from agent_envs.trainers.report import Journal, Metrics, draw_curves, read_metrics, write_samples
from agent_envs.trainers.rollouts import MakeEnv, Rollouts

import agent_envs
from agent_envs.env import AgentEnv
from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.sampling import LocalSampler, Sampler, load_model, stop_ids
from agent_envs.sampling.chat import ChatFormat
from agent_envs.sampling.trajectory import Trajectory

Groups = list[list[Trajectory]]


@dataclass(frozen=True, slots=True)
class Result:
    """What a run made."""

    folder: Path
    metrics: list[Metrics]
    """One line a step, and one after the last."""
    model: Any
    tokenizer: Any

    def curve(self, name: str) -> list[float]:
        """The values of one metric, where it was measured."""
        return [line[name] for line in self.metrics if name in line]


@dataclass(frozen=True, slots=True)
class _Batch:
    groups: Groups
    metrics: Metrics
    prompts: dict[str, Any]
    """The cursor after it was sampled."""


def train(
    env: str | MakeEnv,
    *,
    model: str | tuple[Any, Any],
    out: str | Path,
    config: TrainConfig | None = None,
    env_options: JsonObject | None = None,
    eval_options: JsonObject | None = None,
    sampler: Sampler | None = None,
    resume: bool = False,
    on_step: Callable[[Metrics], None] = lambda metrics: None,
) -> Result:
    """Train a model in an environment whose observations and actions are text.

    Args:
        env: The id of a registered environment, or a function that makes one.
        model: A name that `load_model` knows, or a model and its tokenizer.
        out: A folder for metrics, samples, curves, checkpoints and the trained model.
        config: How to train.
        env_options: Options of the environment, where it is given by its id.
        eval_options: What is different in evaluations, for instance `{"split": "test"}`.
        sampler: Who samples; by default the model itself, in this process.
        resume: Go on from the newest checkpoint in `out`.
        on_step: Called with the metrics of every step.
    """
    config = config or TrainConfig()
    loaded, tokenizer = load_model(model, seed=config.seed) if isinstance(model, str) else model
    options = env_options or {}
    make_env = env_maker(env, options, config.max_turns)
    make_eval = env_maker(env, options | (eval_options or {}), config.max_turns)
    make_env().close()
    with closing(_Run((make_env, make_eval), Learner(loaded, config), tokenizer, sampler)) as run:
        return run.run(Path(out), on_step, resume=resume)


def env_maker(env: str | MakeEnv, options: JsonObject, max_turns: int) -> MakeEnv:
    """A function that makes the environment; one of ours ends, and is verified, within `max_turns`."""

    def make() -> gymnasium.Env[Any, Any]:
        if isinstance(env, str):
            agent_envs.register_environments()
            full = env if "/" in env or env in gymnasium.registry else f"AgentRL/{env}"
            try:
                made = gymnasium.make(full, disable_env_checker=True, **options)
            except (gymnasium.error.Error, TypeError) as cause:
                raise ConfigError(f"{full} cannot be made: {cause}") from cause
        else:
            made = env()
        inner = made.unwrapped
        if isinstance(inner, AgentEnv):
            inner.set_options(max_steps=min(inner.options.max_steps, max_turns))
        return made

    return make


class _Run:
    def __init__(
        self, envs: tuple[MakeEnv, MakeEnv], learner: Learner, tokenizer: Any, sampler: Sampler | None
    ) -> None:
        config = self.config = learner.config
        self.learner, self.tokenizer = learner, tokenizer
        self.chat = ChatFormat(tokenizer, system=config.system)
        dtype = torch.bfloat16 if learner.bf16 else None
        self.sampler: Sampler = sampler or LocalSampler(learner.model, stop_ids(learner.model, tokenizer), dtype=dtype)
        self.rollouts = Rollouts(envs[0], self.chat, self.sampler, config)
        self.evals = Rollouts(envs[1], self.chat, self.sampler, config)
        self.evals.temperature = config.temperature if config.eval_temperature < 0 else config.eval_temperature
        self.prompts = Prompts(config)
        self._ready: queue.Queue[_Batch | Exception] = queue.Queue()

    def run(self, folder: Path, on_step: Callable[[Metrics], None], *, resume: bool) -> Result:
        """The whole run; a fresh one starts with a probe."""
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(Journal(self.folder, on_step, self.config.trackers, asdict(self.config))) as journal:
            buffered = self._resume() if resume else []
            journal.keep_until(self.learner.version)
            self._show_weights()
            if not resume and self.config.probe != "off":
                probe.probe(self.rollouts, self.config)
            for batch in self._batches(buffered):
                began = time.monotonic()
                metrics = {"step": self.learner.version, **batch.metrics, **self.learner.learn(batch.groups)}
                self._show_weights()
                metrics["learn_s"] = time.monotonic() - began
                journal.write(metrics)
                if not self.learner.version % self.config.checkpoint_every or self.learner.version == self.config.steps:
                    self._save(batch)
            journal.write({"step": self.learner.version, **self._evaluate()})
        self.learner.save(self.folder / "model", self.tokenizer)
        metrics_of_run = read_metrics(journal.path)
        draw_curves(metrics_of_run, self.folder / "curves.png")
        return Result(self.folder, metrics_of_run, self.learner.model, self.tokenizer)

    def close(self) -> None:
        """Close all environments."""
        self.rollouts.close()
        self.evals.close()

    # --- Sampling -----------------------------------------------------------------------------------------------

    def _batches(self, buffered: list[_Batch]) -> Iterator[_Batch]:
        """Batches in order; with `overlap`, the next ones are sampled while one is learned from."""
        first, last = self.learner.version + len(buffered), self.config.steps
        if not self.config.overlap:
            yield from (self._sample(number) for number in range(first, last))
            return
        permits = threading.Semaphore(max(0, self.config.overlap + 1 - len(buffered)))
        stop = threading.Event()

        def produce() -> None:
            try:
                for number in range(first, last):
                    permits.acquire()
                    if stop.is_set():
                        return
                    self._ready.put(self._sample(number))
            except Exception as fault:  # noqa: BLE001 - raised again where the batch is waited for
                self._ready.put(fault)

        for batch in buffered:
            self._ready.put(batch)
        producer = threading.Thread(target=produce, daemon=True, name="agent-envs-rollouts")
        producer.start()
        try:
            for _ in range(self.learner.version, last):
                got = self._ready.get()
                if isinstance(got, Exception):
                    raise got
                yield got
                permits.release()
        finally:
            stop.set()
            permits.release()
            producer.join(timeout=60.0)

    def _sample(self, number: int) -> _Batch:
        """Play groups until enough of them have variance, or the rounds are used up."""
        config, began = self.config, time.monotonic()
        metrics: Metrics = self._evaluate() if number % config.eval_every == 0 else {}
        kept: Groups = []
        played: Groups = []
        for _ in range(1 + config.dynamic_rounds):
            if len(kept) >= config.groups:
                break
            groups = self.rollouts.play(self.prompts.jobs(config.groups - len(kept)))
            self.prompts.learn(groups)
            played += groups.values()
            kept += [group for group in groups.values() if grpo.has_variance([t.reward for t in group])]
        if not played:
            raise TrainingFailed(f"every episode of a step failed; the last fault: {self.rollouts.last_fault}")
        metrics |= _described([t for group in played for t in group])
        metrics["useful_groups"] = len(kept) / len(played)
        metrics |= {name: float(count) for name, count in self.rollouts.counts.items()}
        metrics["sample_s"] = time.monotonic() - began
        return _Batch(kept, metrics, self.prompts.state())

    def _evaluate(self) -> Metrics:
        began = time.monotonic()
        groups = self.evals.play(eval_jobs(self.config))
        if not groups:
            return {}
        everything = [t for group in groups.values() for t in group]
        write_samples(self.folder / "samples.md", self.rollouts.version, everything[:: max(1, len(everything) // 3)])
        described = {f"eval/{name}": value for name, value in _described(everything).items()}
        described |= {"eval/pass@1": grpo.pass_at_k(groups, 1), "eval/seconds": time.monotonic() - began}
        if (k := self.config.eval_samples) > 1:
            described[f"eval/pass@{k}"] = grpo.pass_at_k(groups, k)
        return described

    def _show_weights(self) -> None:
        self.sampler.refresh(self.learner.model, self.learner.version)
        self.rollouts.version = self.learner.version

    # --- Checkpoints --------------------------------------------------------------------------------------------

    def _save(self, batch: _Batch) -> None:
        with self._ready.mutex:
            pending = [one for one in self._ready.queue if isinstance(one, _Batch)]
        state = {
            "step": self.learner.version,
            "prompts": [one.prompts for one in (batch, *pending)],
            "metrics": [one.metrics for one in pending],
            "groups": [[len(group) for group in one.groups] for one in pending],
        }
        buffer = [t for one in pending for group in one.groups for t in group]
        rng = torch.get_rng_state()
        optimizer = self.learner.optimizer.state_dict()
        save_checkpoint(self.folder, Checkpoint(state, self.learner.trained, optimizer, rng, buffer))

    def _resume(self) -> list[_Batch]:
        kept = load_checkpoint(self.folder)
        state, buffer = kept.state, iter(kept.buffer)
        self.learner.restore(kept.weights, kept.optimizer, state["step"])
        self.prompts.restore(state["prompts"][-1])
        torch.set_rng_state(kept.rng)
        return [
            _Batch([[next(buffer) for _ in range(size)] for size in sizes], metrics, prompts)
            for sizes, metrics, prompts in zip(state["groups"], state["metrics"], state["prompts"][1:], strict=True)
        ]


def _described(played: list[Trajectory]) -> Metrics:
    """Means over episodes."""
    count = len(played)
    turns = [error for t in played for error in t.errors]
    return {
        "reward": sum(t.reward for t in played) / count,
        "solved": sum(t.solved for t in played) / count,
        "truncated": sum(t.truncated for t in played) / count,
        "turns": len(turns) / count,
        "parsed": sum(error not in probe.UNREAD for error in turns) / max(1, len(turns)),
        "sampled_tokens": sum(t.trained for t in played) / count,
    }
