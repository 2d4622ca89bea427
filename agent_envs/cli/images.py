"""`images`: the file systems that tasks run on: built ahead of time, listed, removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

import click

from agent_envs.cli.environments import first_task_ids, make_env, read_settings, set_option
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.errors import ConfigError
from agent_envs.sandboxes.engines import ENGINES, EngineLease
from agent_envs.sandboxes.images import BuiltImage, ImageEngine

engine_option = click.option(
    "--sandbox", type=click.Choice(ENGINES), default="auto", show_default=True, help="Whose images."
)


@runtime_checkable
class Preparing(Protocol):
    """An environment that can build ahead of time what a task runs on."""

    def prepare(self, task_id: str) -> str:
        """Build the image of a task where it is not there yet; its digest is returned."""


@click.group()
def images() -> None:
    """Build, list and remove the images that tasks run on."""


@images.command("list")
@engine_option
@json_option
def list_images(sandbox: str, as_json: bool) -> None:
    """Show the images that were built here."""
    with _engine(sandbox) as engine:
        _show("Images", engine.list_images(), as_json=as_json)


@images.command()
@engine_option
@json_option
def prune(sandbox: str, as_json: bool) -> None:
    """Remove every image that was built here and is not in use; what is needed again is built again."""
    with _engine(sandbox) as engine:
        _show("Removed", engine.prune(), as_json=as_json)


@images.command()
@click.argument("env_id", metavar="ENV")
@click.option("--task-id", "task_ids", multiple=True, help="Only this task; may be given several times.")
@click.option("--tasks", "count", type=click.IntRange(min=1), help="Only the first tasks.")
@set_option
@json_option
def build(env_id: str, task_ids: tuple[str, ...], count: int | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Build the images of ENV's tasks, so that no episode waits for one."""
    env = make_env(env_id, read_settings(settings))
    if not isinstance(env, Preparing):
        raise ConfigError(f"{env_id} runs on no images, so there is nothing to build")
    prepare: Callable[[str], str] = env.prepare
    chosen = list(task_ids) or first_task_ids(env, count)
    digests = {}
    with progress(f"images of {env_id}", len(chosen), quiet=as_json) as advance:
        for task_id in chosen:
            digests[task_id] = prepare(task_id)
            advance()
    env.close()
    if as_json:
        print_json(digests)
    else:
        console().print(f"{len(set(digests.values()))} images for {len(digests)} tasks of {env_id} are there")


@contextmanager
def _engine(sandbox: str) -> Iterator[ImageEngine]:
    lease = EngineLease(sandbox)
    try:
        yield lease.engine()
    finally:
        lease.release()


def _show(title: str, found: list[BuiltImage], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    rows = [(image.name, f"{image.bytes / 1e6:.1f}", _day(image.created)) for image in found]
    print_table(title, ("image", "#MB", "built"), rows)
    console().print(f"{len(found)} images, with what they share counted for each", style="dim")


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
