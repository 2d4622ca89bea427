"""Where the web tasks come from. Naming a set makes nothing; drawing a task makes the world that it is about."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from os import PathLike

from agent_envs.errors import ConfigError
from agent_envs.tasks import TaskSet

__all__ = ["TASK_SETS", "load_task_set"]

_GENERATED = ("flights", "shop")
TASK_SETS: tuple[str, ...] = (*_GENERATED, "jsonl")
"""The names `load_task_set` knows."""


def load_task_set(name: str, *, path: str = "") -> TaskSet:
    """The task set of this name; `jsonl` is read from `path`, the others are made from seeds.

    Raises `ConfigError` where there is no such set, or where a path is missing or not wanted.
    """
    if name == "jsonl":
        if not path or not isinstance(path, str | PathLike):
            raise ConfigError(f"task set 'jsonl' is read from your file; pass path='tasks.jsonl', not {path!r}")
        return TaskSet.from_jsonl(path, name=name)
    if name not in _GENERATED:
        near = get_close_matches(str(name), TASK_SETS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"no task set is called {name!r}; {hint}task sets: {', '.join(TASK_SETS)}")
    if path:
        raise ConfigError(f"task set {name!r} comes with the package and takes no path, got {path!r}; remove the path")
    made: TaskSet = import_module(f"{__name__}.{name}").load()
    return made
