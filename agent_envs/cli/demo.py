"""`demo`: the claim of the package in one command. HumanEval solved, left alone, and attacked, in sandboxes."""

from __future__ import annotations

import sys

import click

from agent_envs.agents import Agent, NopAgent, OracleAgent, ScriptedAgent
from agent_envs.cli.environments import episodes, first_task_ids, make_env
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.cli.summary import Summary
from agent_envs.env import AgentEnv
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.ladder import choose

ENV_ID = "AgentRL/PythonSandbox-v0"

ALWAYS_EQUAL = """
class AlwaysEqual:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __gt__(self, other): return True
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __hash__(self): return 0
    def __sub__(self, other): return 0
    def __rsub__(self, other): return 0
    def __getattr__(self, name): return AlwaysEqual()
    def __call__(self, *args): return AlwaysEqual()
    def __iter__(self): return iter(())
    def __len__(self): return 0

def {entry_point}(*args, **kwargs):
    return AlwaysEqual()
"""
"""Returns an object that claims to equal whatever it is compared with; in-process graders pass it."""


class AlwaysEqualAgent(ScriptedAgent):
    """Submits the always-equal forgery for whatever function the task asks for."""

    def __init__(self) -> None:
        super().__init__(())

    def begin(self, env: AgentEnv, observation: str, info: JsonObject) -> None:
        """Forge the function of this task."""
        super().begin(env, observation, info)
        source = ALWAYS_EQUAL.format(entry_point=env.task.secret["entry_point"])
        self.actions = ({"name": "submit", "arguments": {"answer": source}},)


AGENTS: dict[str, type[Agent]] = {
    "oracle": OracleAgent,
    "nop": NopAgent,
    "always-equal": AlwaysEqualAgent,
}


@click.command()
@click.option("--tasks", "count", type=click.IntRange(min=1), help="Only the first tasks.")
@json_option
def demo(count: int | None, as_json: bool) -> None:
    """Play HumanEval with the reference solutions, with silence, and with a forgery; only the first may score."""
    tier = choose()
    summaries = []
    for name, agent in AGENTS.items():
        summaries.append(_play(name, agent(), count, quiet=as_json))
    solved, *unsolved = summaries
    good = solved.mean_score == 1.0 and all(summary.mean_score == 0.0 for summary in unsolved)
    if as_json:
        print_json({"env": ENV_ID, "isolation": tier.name, "ok": good, "agents": [s.as_dict() for s in summaries]})
    else:
        print_table(f"HumanEval in {ENV_ID}", Summary.COLUMNS, [summary.row() for summary in summaries])
        console().print(
            "oracle submits the reference solutions, nop says nothing, and always-equal\n"
            "submits an object that claims to equal every expected value. Each verdict was\n"
            "reached in fresh sandboxes, after the agent's own was destroyed.\n"
            f"Isolation: {tier.name}."
        )
    sys.exit(0 if good else 1)


def _play(name: str, agent: Agent, count: int | None, *, quiet: bool) -> Summary:
    env = make_env(ENV_ID, {"task_set": "humaneval"})
    chosen = first_task_ids(env, count)
    summary = Summary(name)
    with progress(name, len(chosen), quiet=quiet) as advance:
        for episode in episodes(env, agent, chosen):
            summary.add(episode)
            advance()
    env.close()
    return summary
