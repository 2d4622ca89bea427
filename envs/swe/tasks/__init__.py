"""Where the tasks of the SWE environment come from. Naming a set reads nothing; drawing a task reads its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from agent_envs.envs.swe.tasks._normalised import NORMALISERS, normalised
from agent_envs.envs.swe.tasks.harbor import harbor
from agent_envs.envs.swe.tasks.mini import mini
from agent_envs.envs.swe.tasks.swebench import FAMILIES, importer

from agent_envs.errors import ConfigError
from agent_envs.tasks import TaskSet

__all__ = ["NORMALISERS", "TASK_SETS", "load_task_set", "normalised"]

_BUILT_IN: Mapping[str, Callable[[], TaskSet]] = MappingProxyType({"mini": mini})
_IMPORTED = tuple(sorted(["harbor", *FAMILIES]))
TASK_SETS: tuple[str, ...] = tuple(sorted([*_BUILT_IN, *_IMPORTED]))
"""The names `load_task_set` knows."""


def load_task_set(name: str, *, path: str = "") -> TaskSet:
    """The task set of this name; an imported one is read from `path`: rows from a JSONL or Parquet file or a dataset
    folder, `harbor` from a task directory or a folder of them.

    Raises `ConfigError` where there is no such set, or where a path is missing or not wanted.
    """
    if not isinstance(name, str) or not isinstance(path, str) or "\0" in path:
        raise ConfigError(f"the task set is {name!r} and its path {path!r}; expected two texts")
    if name not in TASK_SETS:
        near = get_close_matches(name, TASK_SETS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"no task set is called {name!r}; {hint}task sets: {', '.join(TASK_SETS)}")
    if name in _BUILT_IN:
        if path:
            raise ConfigError(
                f"task set {name!r} comes with the package and takes no path, got {path!r}; remove the path, or choose"
                f" what reads yours: {', '.join(_IMPORTED)}"
            )
        return _BUILT_IN[name]()
    if not path:
        raise ConfigError(f"task set {name!r} is read from your file; pass path='...' (JSONL, Parquet, or a folder)")
    if name == "harbor":
        return harbor(path)
    family = importer(FAMILIES[name])
    if Path(path).is_dir():
        return TaskSet.from_folder(path, name=name, importer=family)
    if Path(path).suffix == ".parquet":
        return TaskSet.from_parquet(path, name=name, importer=family)
    return TaskSet.from_jsonl(path, name=name, importer=family)
