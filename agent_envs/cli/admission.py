"""`validate` and `attack`: what a task's verdicts may rest on, and how well they withstand forgery."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import click

from agent_envs import json_lines
from agent_envs.cli.environments import first_task_ids, make_env, read_settings, set_option
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.errors import ConfigError


class Certificate(Protocol):
    """What an environment found out about one task."""

    @property
    def admitted(self) -> bool:
        """Whether verdicts on the task can be believed."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Why not."""

    @property
    def summary(self) -> Mapping[str, object]:
        """Its figures for a table, by the name of the column."""


@runtime_checkable
class Certifying(Protocol):
    """An environment that can try its tasks."""

    def certify(self, task_id: str, *, repeats: int) -> Certificate:
        """Try the task's base, its reference and its wrong solutions."""


class Suite(Protocol):
    """Attacks on an environment's verdicts, and honest work that must not be taken for one."""

    def __len__(self) -> int: ...

    def run(self) -> Iterator[Any]:
        """Play them."""


@runtime_checkable
class Attackable(Protocol):
    """An environment that brings attacks on itself."""

    def attack_suite(self, *, trust: tuple[str, ...], only: tuple[str, ...], jobs: int) -> Suite:
        """The attacks to play, `jobs` of them at the same time."""


@click.command()
@click.argument("env_id", metavar="ENV")
@click.option("--task-id", "task_ids", multiple=True, help="Only this task; may be given several times.")
@click.option("--tasks", "count", type=click.IntRange(min=1), help="Only the first tasks.")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=1), help="How often each is tried.")
@click.option(
    "--write", type=click.Path(file_okay=False, path_type=Path), help="Write each certificate into this folder."
)
@set_option
@json_option
def validate(
    env_id: str,
    task_ids: tuple[str, ...],
    count: int | None,
    repeats: int,
    write: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Try every task of ENV: its base must fail, its reference pass, its wrong solutions fail; again and again.

    Exit status 1 if a task cannot be admitted.
    """
    env = make_env(env_id, read_settings(settings))
    if not isinstance(env, Certifying):
        raise ConfigError(f"{env_id} has nothing to certify; its tasks are checked by check_agent_env")
    chosen = list(task_ids) or first_task_ids(env, count)
    found: dict[str, Certificate] = {}
    with progress(f"trying the tasks of {env_id}", len(chosen), quiet=as_json) as advance:
        for task_id in chosen:
            found[task_id] = env.certify(task_id, repeats=repeats)
            if write is not None:
                write.mkdir(parents=True, exist_ok=True)
                text = json_lines.encode(found[task_id])
                (write / f"{task_id.replace('/', '--')}.json").write_bytes(text + b"\n")
            advance()
    env.close()
    if as_json:
        print_json(found)
    else:
        rows = [(task_id, *one.summary.values(), "yes" if one.admitted else "NO") for task_id, one in found.items()]
        columns = (f"#{name}" for name in next(iter(found.values())).summary)
        print_table(f"Admission to {env_id}", ("task", *columns, "admitted"), rows)
        for task_id, one in found.items():
            for problem in one.problems:
                console().print(f"{task_id}: {problem}", style="red", markup=False)
    sys.exit(0 if all(one.admitted for one in found.values()) else 1)


@click.command()
@click.argument("env_id", metavar="ENV")
@click.option(
    "--trust",
    multiple=True,
    help="Kinds of verdict to attack; default: all, of which the first is the one that counts.",
)
@click.option("--only", multiple=True, help="Only the attack of this name; may be given several times.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="How many at the same time.")
@click.option("--all", "show_all", is_flag=True, help="Show every attack, not only those that were judged wrongly.")
@set_option
@json_option
def attack(
    env_id: str,
    trust: tuple[str, ...],
    only: tuple[str, ...],
    jobs: int,
    show_all: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Attack the verdicts of ENV with the suite it brings; exit status 1 if one is forged or honest work rejected."""
    env = make_env(env_id, read_settings(settings))
    if not isinstance(env, Attackable):
        raise ConfigError(f"{env_id} brings no attacks; `agent-envs selftest` attacks the sandbox itself")
    suite = env.attack_suite(trust=trust, only=only, jobs=jobs)
    results = []
    with progress(f"attacks on {env_id}", len(suite), quiet=as_json) as advance:
        for result in suite.run():
            results.append(result)
            advance()
    env.close()
    strongest = next(iter(results[0].outcomes))
    wrong = [result for result in results if not result.right(strongest)]
    if as_json:
        print_json({"wrong": len(wrong), "results": results})
        sys.exit(1 if wrong else 0)
    shown = results if show_all else wrong
    if shown:
        rows = [(r.name, r.family, r.outcomes[strongest], _mark(r, strongest), r.leaked or r.why) for r in shown]
        print_table("Attacks and honest work", ("name", "family", "verdict", "right", "why"), rows)
    print_table(
        f"{len(results)} cases against each kind of verdict",
        ("trust", "#wrong passes", "#honest rejected"),
        _score(results),
    )
    sys.exit(1 if wrong else 0)


def _mark(result: Any, trust: str) -> str:
    return "yes" if result.right(trust) else "FAILED"


def _score(results: list[Any]) -> list[tuple[str, str, str]]:
    """For each kind of verdict: attacks that it took for solutions, and honest solutions that it did not."""
    rows = []
    for trust in results[0].outcomes:
        attacks = [result for result in results if result.family != "honest"]
        honest = [result for result in results if result.family == "honest"]
        passes = sum(not result.right(trust) for result in attacks)
        rejected = sum(not result.right(trust) for result in honest)
        rows.append((trust, f"{passes}/{len(attacks)}", f"{rejected}/{len(honest)}"))
    return rows
