"""What the contract itself costs: the episode loop around a tool that does nothing, station by station.

python benchmarks/contract.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from agent_envs.verifiers import TextAnswer
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from measure import Report, Stopwatch, interleave, per_call, repeat
from peers import GEM_GAME, RunningPeer

import agent_envs.env
import agent_envs.episode._recorder
from agent_envs.dialects import DIALECTS, get_dialect
from agent_envs.env import AgentEnv
from agent_envs.episode._recorder import EpisodeRecorder
from agent_envs.rewards import RewardSpec
from agent_envs.rewards._account import RewardAccount
from agent_envs.session import AnswerSession
from agent_envs.spaces import UnicodeText
from agent_envs.testing.echo import EchoEnv, EchoSession
from agent_envs.tools import Toolbox, ToolCall, ToolResult, tool

ENV_ID = "benchmarks/Echo-v0"
EPISODE_STEPS = 30
ACTION = json.dumps({"name": "echo", "arguments": {"text": "hello"}})
VECTOR = 4
"""Environments in a vector environment."""


class CodeSession(AnswerSession):
    """A session with a tool that takes a bare program, as two of the dialects need."""

    @tool(code="code")
    def python(self, code: str) -> str:
        """Run a program.

        Args:
            code: Its source.
        """
        return code


def make_echo(observation_chars: int = 16_384) -> gymnasium.Env[str, str]:
    """An echo environment with every wrapper that `gymnasium.make` adds, ready to be stepped for ever."""
    return gymnasium.make(ENV_ID, max_steps=10**9, observation_chars=observation_chars)


def play(env: gymnasium.Env[str, str], action: str, steps: int = 300) -> Callable[[], float]:
    """Processor seconds per step over `steps` steps, in episodes of the usual length."""

    def once() -> float:
        took = 0.0
        for _ in range(0, steps, EPISODE_STEPS):
            env.reset(seed=0)
            began = time.process_time()
            for _ in range(EPISODE_STEPS):
                env.step(action)
            took += time.process_time() - began
        return took / steps

    return once


def walk(lake: gymnasium.Env[int, int], steps: int = 300) -> Callable[[], float]:
    """The same for an environment of Gymnasium's own, kept in its corner so that its episode lasts."""

    def once() -> float:
        lake.reset(seed=0)
        began = time.process_time()
        for _ in range(steps):
            lake.step(0)
        return (time.process_time() - began) / steps

    return once


def measure_steps(report: Report, *, rounds: int) -> None:
    """Steps of the echo environment, beside those of environments of others."""
    report.section("one step of a text environment whose tool does nothing")
    with (
        closing(make_echo()) as made,
        closing(make_echo()) as inner,
        closing(gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=10**9)) as lake,
    ):
        contenders = {
            "EchoEnv through gymnasium.make": play(made, ACTION),
            "EchoEnv itself": play(inner.unwrapped, ACTION),
            "Gymnasium's FrozenLake-v1 through gymnasium.make": walk(lake),
        }
        if not GEM_GAME.installed:
            report.remark(f"GEM: not installed: {GEM_GAME.how}")
            spreads = interleave(contenders, rounds=rounds)
        else:
            with RunningPeer(GEM_GAME) as game:
                contenders["GEM's GuessTheNumber (its step checks no schema)"] = game
                spreads = interleave(contenders, rounds=rounds)
    for name, spread in spreads.items():
        ours = name == "EchoEnv through gymnasium.make"
        report.add(
            name, spread.median * 1e6, "us", at_most=100 if ours else None, note=f"{1 / spread.median:,.0f} steps/s"
        )


def measure_reset(report: Report, *, rounds: int) -> None:
    """What an episode costs beside its steps."""
    report.section("what an episode costs beside its steps")
    submit = json.dumps({"name": "submit", "arguments": {"answer": "apple"}})
    with closing(make_echo()) as env:
        report.add("reset", per_call(lambda: env.reset(seed=0), rounds=rounds) * 1e6, "us")

        def episode() -> None:
            env.reset(seed=0)
            env.step(submit)

        report.add("reset, submit, verdict", per_call(episode, rounds=rounds) * 1e6, "us")


def measure_stations(report: Report, *, rounds: int) -> None:
    """Where a step's time goes, measured inside the running loop."""
    report.section("where one step of EchoEnv goes (timers inside the loop)")
    watch = Stopwatch()
    stations = (
        ("whole step", AgentEnv, "step"),
        ("parse and validate (auto, JSON)", AgentEnv, "_parse"),
        ("the tool, behind its fault boundary", AgentEnv, "_act"),
        ("reward", RewardAccount, "turn"),
        ("clip the observation", UnicodeText, "clip"),
        ("record the turn", EpisodeRecorder, "add_turn"),
        ("info", agent_envs.env, "_info"),
    )
    with closing(make_echo()) as env:
        step = repeat(play(env.unwrapped, ACTION), rounds=rounds).median
        with watch.on(*stations):
            repeat(play(env, ACTION), rounds=rounds, warmups=0)
    medians = watch.medians()
    whole = medians.pop("whole step")
    shares = {label: seconds / whole for label, seconds in medians.items()}
    shares["everything else, the timers included"] = 1 - sum(shares.values())
    for label, share in shares.items():
        report.add(label, share * step * 1e6, "us", note=f"{share:.0%}")


def measure_parsing(report: Report, *, rounds: int) -> None:
    """Each dialect on its own rendering of a short and a long call, and on text that holds no call."""
    report.section(
        "parse and validate one action, by dialect (short call / call of 10,000 characters / no call at all)"
    )
    toolbox = Toolbox(CodeSession)
    short_call, long_call = (ToolCall("python", {"code": "x = 1\n" * lines}) for lines in (2, 1667))
    prose = "I am not sure what to do next. " * 20
    for name in DIALECTS:
        dialect = get_dialect(name)
        texts = (dialect.render(short_call, "think first"), dialect.render(long_call, "think first"), prose)
        short, long, none = (per_call(partial(dialect.parse, text, toolbox), rounds=rounds) * 1e6 for text in texts)
        report.add(name, short, "us", at_most=100, note=f"long {long:,.0f} us, none {none:,.0f} us")


def measure_parts(report: Report, *, rounds: int) -> None:
    """The parts alone, on inputs that make them work."""
    report.section("the parts alone")
    space, toolbox, env = UnicodeText(16_384), Toolbox(EchoSession), EchoEnv()
    parsed, result = get_dialect("json").parse(ACTION, toolbox), ToolResult("hello", ran=True)
    account = RewardSpec(execution_bonus=0.1, loop_penalty=0.1, thought_penalty=0.1).start("the prompt")
    rng = np.random.default_rng(0)
    task = env.tasks.draw(rng)
    recorder, artifact = EpisodeRecorder(task), EchoSession().freeze()
    parts: dict[str, Callable[[], object]] = {
        "Tool.validate, two arguments": lambda: toolbox["echo"].validate({"text": "hello", "times": 2}),
        "RewardAccount.turn, three kinds of shaping": lambda: account.turn(parsed, result),
        "UnicodeText.clip, short": partial(space.clip, "hello"),
        "UnicodeText.clip, a million characters": partial(space.clip, "x" * 1_000_000),
        "UnicodeText.clip, 16,000 characters of emoji": partial(space.clip, "🙂" * 16_000),
        "EpisodeRecorder.add_turn": lambda: recorder.add_turn(ACTION, parsed, result, "hello", {"outcome": 0.0}),
        "ToolCallSpace.sample": env.action_space.sample,
        "TaskSet.draw": lambda: env.tasks.draw(rng),
        "TextAnswer.verify": lambda: TextAnswer().verify(task, artifact),
    }
    for name, once in parts.items():
        report.add(name, per_call(once, batch=50, rounds=rounds) * 1e6, "us")


def measure_vectors(report: Report, *, rounds: int) -> None:
    """Vector environments of every kind; observations of the default and of a small length."""
    report.section(f"vector environments of {VECTOR}, environment steps per second")
    for chars in (16_384, 1_024):
        made = [partial(make_echo, chars)] * VECTOR
        kinds: dict[str, VectorEnv[Any, Any, Any]] = {
            "SyncVectorEnv": SyncVectorEnv(made),
            "AsyncVectorEnv, shared memory": AsyncVectorEnv(made, shared_memory=True),
            "AsyncVectorEnv, pipe": AsyncVectorEnv(made, shared_memory=False),
        }
        for env in kinds.values():
            env.reset(seed=0)
        spreads = interleave({name: _vector_steps(env) for name, env in kinds.items()}, rounds=rounds)
        for name, spread in spreads.items():
            rate = VECTOR / spread.median
            report.add(
                f"{name}, observations <= {chars:,}", rate, "per s", note=f"{spread.median * 1e6:,.0f} us a step"
            )
        for env in kinds.values():
            env.close()


def _vector_steps(env: VectorEnv[Any, Any, Any], steps: int = 50) -> Callable[[], float]:
    def once() -> float:
        began = time.perf_counter()
        for _ in range(steps):
            env.step((ACTION,) * VECTOR)
        return (time.perf_counter() - began) / steps

    return once


def main() -> int:
    """Measure everything, print the report, and say by the exit status whether every target was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rounds = 5 if options.quick else 30
    gymnasium.register(ENV_ID, entry_point="agent_envs.testing.echo:EchoEnv")
    report = Report("The contract: agent_envs.env.AgentEnv around a tool that does nothing")
    for measure in (
        measure_steps,
        measure_stations,
        measure_reset,
        measure_parsing,
        measure_parts,
        measure_vectors,
    ):
        measure(report, rounds=rounds)
    return report.show(as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
