"""`check_agent_env`: each promise of the contract as a check, with a message that names the likely mistake."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from agent_envs.agents import NopAgent, OracleAgent, ScriptedAgent, play_episode
from agent_envs.agents.play import agent_env
from agent_envs.env import AgentEnv
from agent_envs.episode import Episode
from agent_envs.errors import AgentEnvsError, EndReason, EnvClosed, ResetNeeded, UnknownTask
from agent_envs.json_lines import JsonObject
from agent_envs.rewards import PARTS
from agent_envs.wrappers import FaultInjection

TextEnv = gymnasium.Env[str, str]
STEP_KEYS: dict[str, type] = {
    "call": str,
    "error": str,
    "repairs": str,
    "reward_parts": dict,
    "end_reason": str,
    "outcome": str,
    "score": float,
    "reward_valid": bool,
}
"""What `info` holds after every step, and of which type it is for ever."""

ERRORS = ("", "malformed", "unknown_tool", "bad_arguments", "tool_failed", "timeout")

NASTY_ACTIONS = (
    "",
    "I would rather talk.",
    '{"name": "no_such_tool", "arguments": {}}',
    '{"name": 3}',
    '{"name": "submit", "arguments": [1, 2]}',
    "{" * 5000,
    "\x00\x1b[2J\r\n\ud800",
    "<tool_call>" * 100,
)
"""Actions that no environment may fall over."""


class ContractBroken(AgentEnvsError, AssertionError):
    """An environment breaks a promise of the contract; the message says which, and the likely mistake."""


def check_agent_env(
    env: TextEnv, *, tasks: int = 3, steps: int = 6, vector: bool = True, context: str = "spawn"
) -> None:
    """Check that `env` keeps every promise of the contract; raises `ContractBroken` at the first that it breaks.

    Args:
        env: Made by `gymnasium.make`; it is closed by the check.
        tasks: How many tasks are solved by the oracle and failed by doing nothing.
        steps: Length of the random traces that must repeat themselves.
        vector: Whether vector environments are compared too; needs an id that a new process can make.
        context: How their worker processes start.
    """
    spec = _check_spec(env)
    make = partial(gymnasium.make, spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with _broken("gymnasium's own check_env, warnings as errors"):
            checked = make()
            check_env(checked.unwrapped, skip_close_check=True)
            checked.close()
    _check_reset(env)
    _check_any_action(env)
    _check_ends(make)
    _check_verdicts(make, tasks)
    _check_faults(make)
    traces = [_trace(make(), seed, steps) for seed in (11, 12)]
    _require(traces == [_trace(make(), seed, steps) for seed in (11, 12)], "the same seed gives another episode", _SEED)
    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(lambda seed: _trace(make(), seed, steps), (11, 12)))
    _require(threaded == traces, "episodes differ in threads", "state is shared between environments")
    if vector:
        _check_vector(make, steps, context)
    env.close()


_SEED = "draw every random number from self.np_random, and keep clocks, pids and paths out of observations and info"


def _require(holds: bool, fact: str, mistake: str) -> None:
    if not holds:
        raise ContractBroken(f"{fact}; most likely: {mistake}")


@contextmanager
def _broken(rule: str) -> Iterator[None]:
    try:
        yield
    except (AssertionError, TypeError, ValueError, Warning) as cause:
        raise ContractBroken(f"{rule}: {cause}") from cause


def _check_spec(env: TextEnv) -> EnvSpec:
    agent_env(env)
    _require(env.spec is not None, "the environment has no spec", "make it by gymnasium.make, with a registered id")
    assert env.spec is not None
    limit = "register it without max_episode_steps: TimeLimit ends episodes that no verifier then sees; use max_steps"
    _require(env.spec.max_episode_steps is None, "max_episode_steps is registered", limit)
    with _broken("keyword arguments of an environment are JSON data"):
        json.dumps(env.spec.kwargs)
    return env.spec


def _check_reset(env: TextEnv) -> None:
    observation, info = env.reset(seed=1)
    _require(observation in env.observation_space, "the first observation is outside its space", "it is too long")
    for key, kind in {"task_id": str, "tools": list, "prompt": dict}.items():
        _require(
            isinstance(info.get(key), kind), f"info[{key!r}] after reset is no {kind.__name__}", "reset was replaced"
        )
    _require(all("function" in tool for tool in info["tools"]), "info['tools'] holds no OpenAI schemas", "see Toolbox")
    _, by_name = env.reset(options={"task_id": info["task_id"]})
    _require(by_name["task_id"] == info["task_id"], "options={'task_id': ...} gives another task", "see TaskSet.task")
    try:
        env.reset(options={"task_id": "\x00 no such task"})
    except UnknownTask:
        return
    raise ContractBroken(
        "an unknown task_id is accepted; most likely: the task set's `task` does not raise UnknownTask"
    )


def _check_any_action(env: TextEnv) -> None:
    for action in (*NASTY_ACTIONS, {"name": "no_such_tool", "arguments": {}}, {"nonsense": 1}, {}):
        env.reset(seed=1)
        with _broken(f"the action {str(action)[:60]!r} raised; what an agent does wrong is an outcome"):
            observation, reward, terminated, truncated, info = env.step(action)  # type: ignore[arg-type]
        _require(observation in env.observation_space, "an observation is outside its space", "clip it")
        _require(isinstance(reward, float), f"the reward is a {type(reward).__name__}", "return a Python float")
        bools = type(terminated) is bool and type(truncated) is bool
        _require(bools, "terminated or truncated is no Python bool", "numpy's bool is another type")
        _check_info(info)


def _check_info(info: JsonObject) -> None:
    for key, kind in STEP_KEYS.items():
        seen = type(info.get(key))
        _require(
            seen is kind, f"info[{key!r}] is a {seen.__name__}, not a {kind.__name__}", "one type per key for ever"
        )
    _require(info["error"] in ERRORS, f"info['error'] is {info['error']!r}", f"the errors are {ERRORS}")
    _require(tuple(info["reward_parts"]) == PARTS, "info['reward_parts'] lacks a part", "every part is always there")


def _check_ends(make: Callable[[], TextEnv]) -> None:
    env = make()
    episode = play_episode(env, NopAgent(), seed=3)
    _require(episode.end_reason is EndReason.MALFORMED, f"silence ends as {episode.end_reason}", "step was replaced")
    _require_raises(ResetNeeded, lambda: env.step(""), "an ended episode goes on")
    env.close()
    env.close()
    _require_raises(EnvClosed, lambda: env.unwrapped.reset(), "a closed environment can be reset")
    make().close()


def _require_raises(error: type[Exception], act: Callable[[], object], fact: str) -> None:
    try:
        act()
    except error:
        return
    raise ContractBroken(f"{fact}; most likely: step, reset or close was replaced (expected {error.__name__})")


def _check_verdicts(make: Callable[[], TextEnv], count: int) -> None:
    env = make()
    for listed in list(agent_env(env).tasks.head(count)):
        env.reset(options={"task_id": listed.id})
        task = agent_env(env).task
        _require(bool(task.solution), f"task {task.id!r} has no solution", "give it the calls that solve it")
        solved = play_episode(env, OracleAgent(), task_id=task.id)
        _require(
            _score(solved) == 1.0, f"the solution of {task.id!r} scores {_said(solved)}", "its expectation is wrong"
        )
        idle = play_episode(env, NopAgent(), task_id=task.id)
        _require(
            _score(idle) == 0.0, f"doing nothing in {task.id!r} scores {_said(idle)}", "the verifier passes nothing"
        )
        for ending in task.wrong:
            calls = [{"name": call.name, "arguments": call.arguments} for call in ending]
            failed = play_episode(env, ScriptedAgent(calls), task_id=task.id)
            _require(
                _score(failed) == 0.0, f"a wrong ending of {task.id!r} scores {_said(failed)}", "the check is weak"
            )
    env.close()


def _score(episode: Episode) -> float | None:
    return episode.score


def _said(episode: Episode) -> str:
    return f"{_score(episode)} ({episode.outcome}: {episode.why})"


def _check_faults(make: Callable[[], TextEnv]) -> None:
    env = FaultInjection(make(), at_step=1)
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(_first_call(agent_env(env)))
    masked = reward == 0.0 and truncated and not terminated and not info["reward_valid"] and info["score"] == -1.0
    _require(masked, "a fault of ours looks like a result of the agent", "an except clause swallows InfraError")
    env.close()


def _first_call(env: AgentEnv) -> Any:
    """As a mapping, which every dialect reads."""
    env.action_space.seed(0)
    return json.loads(env.action_space.sample())


def _trace(env: TextEnv, seed: int, steps: int) -> list[object]:
    """Observations, rewards, flags and infos of a seeded random episode, as comparable data."""
    inner = agent_env(env)
    observation, info = env.reset(seed=seed)
    inner.action_space.seed(seed)
    trace: list[object] = [observation, info["task_id"]]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(inner.action_space.sample())
        trace.append((observation, reward, terminated, truncated, json.dumps(info, sort_keys=True)))
        if terminated or truncated:
            break
    env.close()
    return trace


def _check_vector(make: Callable[[], TextEnv], steps: int, context: str) -> None:
    mode = AutoresetMode.SAME_STEP
    reference = _vector_trace(SyncVectorEnv([make, make], autoreset_mode=mode), steps)
    for shared in (True, False):
        asynchronous = AsyncVectorEnv([make, make], shared_memory=shared, context=context, autoreset_mode=mode)
        fact = f"AsyncVectorEnv(shared_memory={shared}, context={context!r}) differs from SyncVectorEnv"
        _require(_vector_trace(asynchronous, steps) == reference, fact, _SEED)


def _vector_trace(envs: SyncVectorEnv | AsyncVectorEnv, steps: int) -> list[object]:
    try:
        observations, _ = envs.reset(seed=[21, 22])
        envs.action_space.seed(5)
        trace: list[object] = [tuple(observations)]
        for _ in range(steps):
            observations, rewards, terminated, truncated, _ = envs.step(envs.action_space.sample())
            trace.append((tuple(observations), rewards.tolist(), terminated.tolist(), truncated.tolist()))
        return trace
    finally:
        envs.close()
