"""The loop of AgentRL/PythonSandbox-v0 around a trivial cell: one step, its parts, and many workers at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.synchronize import Barrier
from typing import Any

import gymnasium
from agent_envs.envs.python_sandbox import PythonSandboxSession
from measure import Report, Spread, Stopwatch

import agent_envs.env
from agent_envs.env import AgentEnv
from agent_envs.episode._recorder import EpisodeRecorder
from agent_envs.registration import ENVIRONMENTS, register_environments
from agent_envs.rewards._account import RewardAccount
from agent_envs.sandboxes.ladder import start_sandbox
from agent_envs.spaces import UnicodeText
from agent_envs.tools import Tool

(ENV_ID,) = (name for name in ENVIRONMENTS if "PythonSandbox" in name)
CELL = json.dumps({"name": "python", "arguments": {"code": "print(1)"}})
SUBMIT = json.dumps({"name": "submit", "arguments": {"answer": "1"}})
EPISODE_STEPS = 30
WORKERS = 4


def make(**options: Any) -> gymnasium.Env[str, str]:
    """The environment as a user makes it, on tasks that need nothing but the standard library."""
    register_environments()
    return gymnasium.make(ENV_ID, **{"task_set": "arithmetic", **options})


def cold_session() -> None:
    """Create a sandbox, run one cell in a persistent interpreter, destroy it."""
    with closing(start_sandbox()) as sandbox:
        assert sandbox.open_python().run("print(1)").stdout == b"1\n"


def cold_program() -> None:
    """Create a sandbox, run one program in a fresh interpreter, destroy it."""
    with closing(start_sandbox()) as sandbox:
        assert sandbox.run_python("print(1)").stdout == b"1\n"


def add_spread(report: Report, name: str, spread: Spread, *, at_most: float | None = None) -> None:
    report.add(name, spread.median * 1e3, "ms", at_most=at_most, note=f"p95 {spread.p95 * 1e3:.3f}")


def steps(env: gymnasium.Env[str, str], *, episodes: int) -> list[float]:
    """Seconds of every step of whole episodes, the first step of each (which opens the interpreter) left out."""
    taken = []
    for _ in range(episodes):
        env.reset(seed=0)
        env.step(CELL)
        for _ in range(EPISODE_STEPS - 1):
            began = time.perf_counter()
            env.step(CELL)
            taken.append(time.perf_counter() - began)
    return taken


def measure_steps(report: Report, *, rounds: int) -> None:
    """The whole loop around a trivial cell, and which part of it is ours."""
    report.section("env.step of a trivial cell, through gymnasium.make")
    with closing(make(max_steps=10**6)) as env:
        steps(env, episodes=2)
        add_spread(report, "env.step", Spread.of(steps(env, episodes=max(2, rounds // 4))), at_most=0.3)
        env.reset(seed=0)
        env.step(CELL)
        watch = Stopwatch()
        with watch.on(*stations(env, _interpreter(env))):
            steps(env, episodes=max(2, rounds // 4))
    attribute(report, watch)


def _interpreter(env: gymnasium.Env[str, str]) -> object:
    inner = env.unwrapped
    assert isinstance(inner, AgentEnv)
    assert inner._run is not None
    assert isinstance(inner._run.session, PythonSandboxSession)
    return inner._run.session._python


def stations(env: gymnasium.Env[str, str], sandbox: object) -> tuple[tuple[str, object, str], ...]:
    """Where a step passes by: `sandbox` is what the tool calls the method `run` of."""
    return (
        ("whole step", type(env), "step"),
        ("AgentEnv.step", AgentEnv, "step"),
        ("parse and validate", AgentEnv, "_parse"),
        ("act", AgentEnv, "_act"),
        ("the tool", Tool, "call"),
        ("the sandbox", type(sandbox), "run"),
        ("reward", RewardAccount, "turn"),
        ("clip", UnicodeText, "clip"),
        ("record", EpisodeRecorder, "add_turn"),
        ("info", agent_envs.env, "_info"),
    )


def attribute(report: Report, watch: Stopwatch) -> None:
    """What each of them took, as a share of the step."""
    report.section("where that step goes (timers inside the loop)")
    each = {label: seconds * 1e6 for label, seconds in watch.medians().items()}
    whole, sandbox = each["whole step"], each["the sandbox"]
    named = sum(each[label] for label in ("parse and validate", "act", "reward", "clip", "record", "info"))
    rows = {
        "the sandbox": sandbox,
        "ours, all of it": whole - sandbox,
        "  wrappers of gymnasium.make": whole - each["AgentEnv.step"],
        "  parse and validate": each["parse and validate"],
        "  fault boundary and call of the tool": each["act"] - each["the tool"],
        "  making the run readable": each["the tool"] - sandbox,
        "  reward": each["reward"],
        "  clip": each["clip"],
        "  record": each["record"],
        "  info": each["info"],
        "  the rest of the loop, the timers included": each["AgentEnv.step"] - named,
    }
    for name, us in rows.items():
        report.add(name, us, "us", note=f"{us / whole:.0%}")


def measure_throughput(report: Report, *, rounds: int) -> None:
    """Steps per second of several environments in processes of their own."""
    report.section(f"throughput of {WORKERS} worker processes on {os.cpu_count()} cores")
    seconds = 4.0 if rounds > 20 else 1.5
    context = multiprocessing.get_context("spawn")
    for name, worker, floor in (
        ("env.step of a trivial cell", _step_worker, 5000),
        ("cold episodes", _cold_worker, None),
    ):
        together = context.Barrier(WORKERS)
        with context.Pool(WORKERS, initializer=_meet, initargs=(together,)) as pool:
            done = pool.map(worker, [seconds] * WORKERS, chunksize=1)
        report.add(name, sum(done) / seconds, "per s", at_least=floor)


_TOGETHER: list[Barrier] = []


def _meet(together: Barrier) -> None:
    _TOGETHER.append(together)


def _step_worker(seconds: float) -> int:
    with closing(make(max_steps=10**6)) as env:
        steps(env, episodes=1)
        return _count(lambda: len(steps(env, episodes=1)) + 1, seconds)


def _cold_worker(seconds: float) -> int:
    cold_session()

    def one() -> int:
        cold_session()
        return 1

    return _count(one, seconds)


def _count(once: Callable[[], int], seconds: float) -> int:
    _TOGETHER[0].wait(timeout=60)
    end, done = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        done += once()
    _TOGETHER[0].wait(timeout=60)
    return done
