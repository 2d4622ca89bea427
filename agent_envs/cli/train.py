"""`train`: a model learns in an environment; the options of a run come from a TOML file and from `--option`."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from agent_envs.cli.environments import read_settings, set_option
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.trainers.config import TrainConfig

_SHOWN = ("eval/pass@1", "eval/reward", "eval/parsed", "reward", "solved", "useful_groups")


def _show_options(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        print_table("Options of a training run", ("option", "default", "what it does"), list(_documented()))
        context.exit()


@click.command()
@click.argument("env_id", metavar="ENV")
@click.option("--model", required=True, help="tiny, smollm2, a folder, a GGUF file, or a name on the hub.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A TOML file of options.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the run; see --options.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("run"), show_default=True, help="Its folder.")
@click.option("--eval-set", "eval_settings", multiple=True, metavar="NAME=VALUE", help="What differs in evaluations.")
@click.option("--resume", is_flag=True, help="Go on from the newest checkpoint in --out.")
@click.option(
    "--options",
    "listing",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_options,
    help="List the options of a run.",
)
@set_option
@json_option
def train(
    env_id: str,
    model: str,
    config: Path | None,
    options: tuple[str, ...],
    out: Path,
    eval_settings: tuple[str, ...],
    resume: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train a language model in ENV with GRPO: metrics, curves, checkpoints and the model are left in --out."""
    from agent_envs import trainers

    changes = read_settings(options)
    chosen = TrainConfig.from_toml(config, **changes) if config else TrainConfig.of(changes)
    with progress(f"training in {env_id}", chosen.steps, quiet=as_json) as advance:
        result = trainers.train(
            env_id,
            model=model,
            config=chosen,
            out=out,
            env_options=read_settings(settings),
            eval_options=read_settings(eval_settings),
            resume=resume,
            on_step=lambda metrics: advance(),
        )
    first, last = result.metrics[0], result.metrics[-1]
    if as_json:
        print_json({"env": env_id, "out": str(out), "first": first, "last": last})
        return
    names = [name for name in _SHOWN if name in first or name in last]
    rows = [(name, _cell(first, name), _cell(last, name)) for name in names]
    print_table(f"{env_id} after {chosen.steps} steps", ("metric", "#at first", "#at last"), rows)
    console().print(f"metrics, samples, curves.png and the model are in {out}", style="dim", markup=False)


def _cell(line: dict[str, float], name: str) -> str:
    return f"{line[name]:.3f}" if name in line else ""


def _documented() -> Iterator[tuple[str, str, str]]:
    """Every option with its default and the text below it in the source, where it is documented once."""
    (tree,) = ast.parse(inspect.getsource(TrainConfig)).body
    assert isinstance(tree, ast.ClassDef)
    for statement, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(below, ast.Expr):
            value: Any = ast.literal_eval(statement.value) if statement.value else None
            text = " ".join(str(ast.literal_eval(below.value)).split())
            yield ast.unparse(statement.target), json.dumps(value), text
