"""Where the tasks of the Python sandbox come from. Naming a set reads nothing; drawing a task reads its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from agent_envs.envs.python_sandbox.tasks import arithmetic, codeio, fix, humaneval, importers, reasoning
from agent_envs.envs.python_sandbox.tasks._calls import for_single_turn, program_solution

from agent_envs.errors import ConfigError
from agent_envs.tasks import Importer, TaskSet

__all__ = ["TASK_SETS", "for_single_turn", "load_task_set", "program_solution"]

_BUILT_IN: Mapping[str, Callable[[], TaskSet]] = MappingProxyType(
    {
        "arithmetic": arithmetic.load,
        "codeio": codeio.load,
        "fix": fix.load,
        "humaneval": humaneval.load,
        "reasoning-gym": reasoning.load,
    }
)
_IMPORTED: Mapping[str, Importer | None] = MappingProxyType(
    {
        "apps": importers.import_apps,
        "jsonl": None,
        "livecodebench": importers.import_livecodebench,
        "mbpp": importers.import_mbpp,
        "taco": importers.import_taco,
    }
)
TASK_SETS: tuple[str, ...] = tuple(sorted([*_BUILT_IN, *_IMPORTED]))
"""The names `load_task_set` knows; besides them there is `reasoning-gym:<dataset>`."""


def load_task_set(name: str, *, path: str = "") -> TaskSet:
    """The task set of this name; an imported one is read from `path`, a JSONL or Parquet file or a dataset folder.

    Raises `ConfigError` where there is no such set, or where a path is missing or not wanted.
    """
    if not isinstance(name, str) or not isinstance(path, str) or "\0" in path:
        raise ConfigError(f"the task set is {name!r} and its path {path!r}; expected two texts")
    family, _, dataset = name.partition(":")
    if name in _IMPORTED:
        return _imported(name, path)
    if name not in _BUILT_IN and not (family == "reasoning-gym" and dataset):
        near = get_close_matches(name, TASK_SETS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"no task set is called {name!r}; {hint}task sets: {', '.join(TASK_SETS)}")
    if path:
        raise ConfigError(
            f"task set {name!r} comes with the package and takes no path, got {path!r}; remove the path, or choose an"
            f" importer: {', '.join(_IMPORTED)}"
        )
    return reasoning.load(dataset) if dataset else _BUILT_IN[name]()


def _imported(name: str, path: str) -> TaskSet:
    if not path:
        raise ConfigError(f"task set {name!r} is read from your file; pass path='...' (JSONL, Parquet, or a folder)")
    importer = _IMPORTED[name]
    if Path(path).is_dir():
        return TaskSet.from_folder(path, name=name, importer=importer)
    if Path(path).suffix == ".parquet":
        return TaskSet.from_parquet(path, name=name, importer=importer)
    return TaskSet.from_jsonl(path, name=name, importer=importer)
