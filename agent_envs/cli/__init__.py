"""The command line: `agent-envs list | run | play | train | demo | validate | attack | images | doctor | selftest |
clean`.

Every command prints a table for a person, and one JSON document with `--json`; exit status 1 means that something
is not as it should be, 2 that the command was called wrongly.
"""

from __future__ import annotations

import sys

import click

from agent_envs.cli.admission import attack, validate
from agent_envs.cli.demo import demo
from agent_envs.cli.environments import list_command, play, run
from agent_envs.cli.images import images
from agent_envs.cli.machine import clean, doctor, selftest
from agent_envs.cli.train import train
from agent_envs.errors import AgentEnvsError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="agent-envs")
def cli() -> None:
    """Environments for LLM agents: list them, run agents in them, play them, and prove the sandbox they run in."""


for command in (list_command, run, play, train, demo, validate, attack, images, doctor, selftest, clean):
    cli.add_command(command)


def main() -> None:
    """The console script; our own errors become one line on standard error."""
    try:
        cli()
    except AgentEnvsError as error:
        click.secho(f"error: {error}", fg="red", err=True)
        sys.exit(2)
