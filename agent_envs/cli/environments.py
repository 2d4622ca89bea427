"""`list`, `run` and `play`: the environments, an agent in one of them, and a person in one of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import gymnasium

import agent_envs
from agent_envs.agents import make_agent, play_episode
from agent_envs.agents.play import Agent, agent_env
from agent_envs.artifact import Outcome
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.cli.summary import Summary
from agent_envs.env import AgentEnv
from agent_envs.episode import Episode
from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.registration import ENVIRONMENTS

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the environment; VALUE is JSON or text.",
)


@click.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """Show the environments with their tools and task sets."""
    rows = []
    for env_id in ENVIRONMENTS:
        env = make_env(env_id, {})
        rows.append({"id": env_id, "tools": list(env.toolbox.names), "task_sets": list(env.task_sets)})
        env.close()
    if as_json:
        print_json(rows)
        return
    shown = [(row["id"], ", ".join(row["tools"]), ", ".join(row["task_sets"])) for row in rows]
    print_table("Environments", ("id", "tools", "task sets"), shown)


@click.command()
@click.argument("env_id", metavar="ENV")
@click.option("--agent", "agent_name", default="oracle", show_default=True, help="oracle, nop, random or scripted.")
@click.option("--script", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSONL of actions.")
@click.option(
    "--tasks", "count", type=click.IntRange(min=1), help="How many tasks; default: all, or 100 of an endless set."
)
@click.option("--task-id", "task_ids", multiple=True, help="Run this task; may be given several times.")
@click.option("--seed", default=0, show_default=True, help="Seeds the random agent.")
@click.option("--record", type=click.Path(dir_okay=False), default="", help="Append every episode to this JSONL file.")
@set_option
@json_option
def run(
    env_id: str,
    agent_name: str,
    script: Path | None,
    count: int | None,
    task_ids: tuple[str, ...],
    seed: int,
    record: str,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run an agent over the tasks of ENV and summarise its verdicts."""
    env = make_env(env_id, {**read_settings(settings), **({"record": record} if record else {})})
    agent = make_agent(agent_name, script=read_script(script), seed=seed)
    chosen = list(task_ids) or first_task_ids(env, count)
    summary = Summary(agent_name)
    with progress(f"{agent_name} on {env_id}", len(chosen), quiet=as_json) as advance:
        for episode in episodes(env, agent, chosen):
            summary.add(episode)
            advance()
    env.close()
    if as_json:
        print_json({"env": env_id, **summary.as_dict()})
    else:
        print_table(env_id, Summary.COLUMNS, [summary.row()])
        for line in summary.failures(limit=5):
            console().print(line, style="dim", markup=False)
    sys.exit(1 if summary.outcomes[Outcome.ERROR] else 0)


@click.command()
@click.argument("env_id", metavar="ENV")
@click.option("--task-id", default="", help="Play this task; default: one drawn by --seed.")
@click.option("--seed", type=int, help="Draws the task.")
@set_option
def play(env_id: str, task_id: str, seed: int | None, settings: tuple[str, ...]) -> None:
    """Act as the agent yourself: read what it reads, type what it would write; an empty line sends.

    Type `.quit` to leave.
    """
    env = make_env(env_id, read_settings(settings))
    screen = console()
    try:
        play_episode(env, _Person(), seed=seed, task_id=task_id)
        episode = env.episode
        if episode is not None:
            screen.rule(f"{episode.end_reason}")
            screen.print(f"outcome {episode.outcome}, reward {episode.total_reward:g}", style="bold")
    finally:
        env.close()


class _Person:
    """An agent that reads the terminal."""

    def begin(self, env: AgentEnv, observation: str, info: Any) -> None:
        """Say who is at the keyboard."""
        console().print("An empty line outside a ``` block sends; .quit leaves.", style="dim", markup=False)
        console().rule(info["task_id"])

    def act(self, observation: str) -> str:
        """Show what is new and read lines up to an empty one."""
        console().print(f"\n{observation}", markup=False)
        lines: list[str] = []
        while True:
            line = click.prompt("" if lines else "you", default="", show_default=False, prompt_suffix="> ")
            if line == ".quit":
                raise click.Abort
            in_block = sum(each.startswith("```") for each in lines) % 2 == 1
            if lines and not line and not in_block:
                return "\n".join(lines)
            if lines or line:
                lines.append(line)


def make_env(env_id: str, settings: JsonObject) -> AgentEnv:
    """The environment of this id; `AgentRL/` may be left out. Raises `ConfigError` naming the ids there are."""
    agent_envs.register_environments()
    full = env_id if "/" in env_id else f"AgentRL/{env_id}"
    try:
        return agent_env(gymnasium.make(full, **settings))
    except gymnasium.error.Error as cause:
        raise ConfigError(f"{cause}; the environments are: {', '.join(ENVIRONMENTS)}") from cause
    except TypeError as cause:
        raise ConfigError(f"{full} refuses its options: {cause}") from cause


def read_settings(settings: tuple[str, ...]) -> JsonObject:
    """`name=value` pairs as keyword arguments; a value that is no JSON is text."""
    read: JsonObject = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise ConfigError(f"--set {setting!r} has no NAME=VALUE; for instance --set max_steps=5")
        try:
            read[name] = json.loads(value)
        except ValueError:
            read[name] = value
    return read


def read_script(path: Path | None) -> list[str]:
    """The actions of a JSONL file: JSON strings are sent as text, objects as they stand."""
    if path is None:
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def first_task_ids(env: AgentEnv, count: int | None) -> list[str]:
    """The ids of the first `count` tasks of the environment's split."""
    size = env.tasks.size
    return [task.id for task in env.tasks.head(count or size or 100)]


def episodes(env: AgentEnv, agent: Agent, task_ids: list[str]) -> Iterator[Episode]:
    """Play each task once, and once more where our infrastructure failed."""
    for number, task_id in enumerate(task_ids):
        episode = play_episode(env, agent, seed=number, task_id=task_id)
        if not episode.reward_valid:
            time.sleep(0.1)
            episode = play_episode(env, agent, seed=number, task_id=task_id)
        yield episode
