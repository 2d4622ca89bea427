"""A Harbor task's `task.toml`: what we honour, what we can only leave aside, and what we must refuse.

A key is left aside, and listed, where the task means the same without it; it is refused where it does not.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath
from shlex import quote
from typing import Any

from agent_envs.envs.swe.tasks._normalised import Notes

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject

DEFAULT_TIMEOUT_S = 600.0
DEFAULT_MEMORY_MB = 2048
DEFAULT_WORKSPACE = "/app"
_HONOURED = frozenset(
    {"schema_version", "version", "agent.user", "solution.env"}
    | {f"verifier.{key}" for key in ("timeout_sec", "env", "user")}
    | {f"environment.{key}" for key in ("docker_image", "memory_mb", "memory", "os", "workdir")}
)
_NETWORK = {"environment.network_mode": "no-network", "environment.allow_internet": False}
"""The only values that are kept."""
_DESCRIPTIVE = ("task", "metadata", "source")
_REFUSED: Mapping[str, str] = {
    "steps": "tasks of several steps are not read; split it into tasks",
    "verifier.environment": "the work is judged in the task's own environment; remove the table",
    "verifier.collect": "nothing is run between the agent and the tests; move the commands into tests/test.sh",
    "environment.gpus": "there is no GPU in a sandbox; remove the key where the task can do without",
    "environment.gpu_types": "there is no GPU in a sandbox; remove the key where the task can do without",
    "environment.tpu": "there is no TPU in a sandbox; remove the key where the task can do without",
    "environment.mcp_servers": "there are no MCP servers in a sandbox; remove them where the task can do without",
    "environment.healthcheck": "nothing is started in a sandbox that could be waited for; remove the table",
    "environment.env": "variables are no part of a task here; set them with ENV in environment/Dockerfile",
}
_PHASES = ("agent", "verifier", "environment")
_TABLES = ("task", "metadata", "solution", *_PHASES)
_SIZES = {"K": 1 / 1024, "M": 1.0, "G": 1024.0}
_WORKDIR = re.compile(r"^\s*WORKDIR\s+(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a `task.toml` says to us."""

    name: str
    difficulty: str
    tags: tuple[str, ...]
    docker_image: str
    workspace: str
    user: str
    timeout_s: float
    memory_mb: int
    test_env: Mapping[str, str] = field(default_factory=dict)
    solution_env: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """Keys that were left aside."""


def read_config(text: str, dockerfile: str, notes: Notes) -> Config:
    """The settings in this text; raises `TaskError` naming the key that cannot be honoured, and the remedy."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise TaskError(f"task.toml is no TOML ({cause})") from cause
    for table in _TABLES:
        if not isinstance(data.get(table, {}), dict):
            raise TaskError(f"[{table}] is a {type(data[table]).__name__}; expected a table")
    keys = _Keys(data)
    _check_version(keys, notes)
    for key, remedy in _REFUSED.items():
        if keys.get(key):
            raise TaskError(f"{key} cannot be honoured: {remedy}")
    _check_places(keys, notes)
    return Config(
        name=keys.text("task.name"),
        difficulty=_label(keys.get("metadata.difficulty")),
        tags=_tags(keys),
        docker_image=keys.text("environment.docker_image"),
        workspace=_workspace(keys, dockerfile, notes),
        user=_user(keys, notes),
        timeout_s=keys.number("verifier.timeout_sec", DEFAULT_TIMEOUT_S),
        memory_mb=_memory(keys, notes),
        test_env=_variables(keys, "verifier.env"),
        solution_env=_variables(keys, "solution.env"),
        ignored=tuple(sorted(filter(keys.is_ignored, keys.all()))),
    )


def with_variables(variables: Mapping[str, str], command: str) -> str:
    """The command line with these variables set for it."""
    words = [f"{name}={quote(value)}" for name, value in variables.items()]
    return " ".join(["env", *words, command]) if words else command


def changed_data(data: JsonObject, before: Config, after: Config) -> JsonObject:
    """The data of a `task.toml` in which everything that differs is said anew, and nothing else."""
    said = {
        ("task", "name"): (before.name, after.name),
        ("metadata", "difficulty"): (before.difficulty, after.difficulty),
        ("metadata", "tags"): (before.tags, after.tags),
        ("environment", "docker_image"): (before.docker_image, after.docker_image),
        ("environment", "workdir"): (before.workspace, after.workspace),
        ("environment", "memory_mb"): (before.memory_mb, after.memory_mb),
        ("agent", "user"): (before.user, after.user),
        ("verifier", "timeout_sec"): (before.timeout_s, after.timeout_s),
    }
    new = {key: dict(value) if isinstance(value, dict) else value for key, value in data.items()}
    for (table, key), (old, value) in said.items():
        if old != value:
            new.setdefault(table, {})[key] = list(value) if isinstance(value, tuple) else value
    if before.memory_mb != after.memory_mb:
        new["environment"].pop("memory", None)
    return new


class _Keys:
    """Values by dotted key, with their types checked."""

    def __init__(self, data: JsonObject) -> None:
        self._data = data

    def get(self, key: str) -> Any:
        table, _, name = key.rpartition(".")
        return (self._data.get(table, {}) if table else self._data).get(name)

    def text(self, key: str) -> str:
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise TaskError(f"{key} is a {type(value).__name__}; expected text")
        return value or ""

    def number(self, key: str, default: float) -> float:
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise TaskError(f"{key} is {value!r}; expected a number above 0")
        return value

    def is_ignored(self, key: str) -> bool:
        """Whether a key says something about the run that has no effect here."""
        value = self.get(key)
        says_nothing = key.split(".")[0] in _DESCRIPTIVE or value in ("", [], {})
        return not says_nothing and key not in _HONOURED and (key not in _NETWORK or value != _NETWORK[key])

    def all(self) -> list[str]:
        """Every key that is set, two levels deep."""
        tables = [f"{table}.{key}" for table in _TABLES for key in self._data.get(table, {})]
        return [*tables, *(key for key in self._data if key not in _TABLES)]


def _check_version(keys: _Keys, notes: Notes) -> None:
    key = "schema_version" if keys.get("schema_version") is not None else "version"
    version = keys.text(key)
    if version and key == "version":
        notes.add("old_keys", "version")
    if version and version.split(".")[0] != "1":
        raise TaskError(f"{key} is {version!r}; expected 1.x, at best 1.4")


def _check_places(keys: _Keys, notes: Notes) -> None:
    for table in _PHASES:
        mode = keys.text(f"{table}.network_mode")
        if mode not in ("", "public", "no-network"):
            raise TaskError(
                f"{table}.network_mode is {mode!r}; a sandbox has no network, so only 'no-network' is kept and 'public'"
                " is left aside; remove it where the task can do without"
            )
    if keys.get("environment.allow_internet") is not None:
        notes.add("old_keys", "environment.allow_internet")
    if keys.text("environment.os").lower() not in ("", "linux"):
        raise TaskError(f"environment.os is {keys.text('environment.os')!r}; only Linux is run")
    if keys.get("verifier.user") not in (None, "root", 0, "0"):
        raise TaskError(
            f"verifier.user is {keys.get('verifier.user')!r}; /tests is laid out as root, so remove the key"
        )


def _workspace(keys: _Keys, dockerfile: str, notes: Notes) -> str:
    folder = keys.text("environment.workdir") or _last_workdir(dockerfile)
    if not folder:
        notes.add("workdir_assumed", DEFAULT_WORKSPACE)
        return DEFAULT_WORKSPACE
    if not folder.startswith("/") or normpath(folder) == "/" or "$" in folder:
        raise TaskError(f"the task works in {folder!r}; set environment.workdir to the absolute path of a folder")
    return normpath(folder)


def _last_workdir(dockerfile: str) -> str:
    folder = ""
    for found in _WORKDIR.findall(dockerfile):
        folder = join(folder, found.strip("\"'"))
    return folder


def _user(keys: _Keys, notes: Notes) -> str:
    user = keys.get("agent.user")
    if user in (None, "root", 0, "0"):
        return "root"
    if user != "agent":
        notes.add("user_mapped", str(user))
    return "agent"


def _memory(keys: _Keys, notes: Notes) -> int:
    old = keys.text("environment.memory").strip().upper()
    if keys.text("environment.storage"):
        notes.add("old_keys", "environment.storage")
    if not old:
        return int(keys.number("environment.memory_mb", DEFAULT_MEMORY_MB))
    notes.add("old_keys", "environment.memory")
    if not re.fullmatch(r"\d+(\.\d+)?[KMG]", old):
        raise TaskError(f"environment.memory is {old!r}; write environment.memory_mb = 2048")
    megabytes = int(float(old[:-1]) * _SIZES[old[-1]])
    if keys.number("environment.memory_mb", megabytes) != megabytes:
        raise TaskError("environment.memory and environment.memory_mb disagree; keep the second")
    return megabytes


def _variables(keys: _Keys, key: str) -> dict[str, str]:
    value = keys.get(key) or {}
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise TaskError(f"{key} is {value!r}; expected a table of texts")
    for name, item in value.items():
        if "${" in item:
            raise TaskError(f"{key}.{name} is {item!r}, which is a variable of the host; nothing of it is let in here")
    return value


def _tags(keys: _Keys) -> tuple[str, ...]:
    value = keys.get("metadata.tags") or keys.get("task.keywords") or []
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def _label(value: object) -> str:
    return "" if value is None else str(value)
