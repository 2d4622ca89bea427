"""What importers may change in foreign data: a closed list of names, and a note in the task for each use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from agent_envs.json_lines import JsonObject
from agent_envs.tasks import Task

NORMALISERS: Mapping[str, str] = MappingProxyType(
    {
        "commit_as_head": "a script that names the base commit says HEAD, the only commit that an image keeps here",
        "dates_as_text": "a column that holds a date or a time is kept as ISO 8601 text",
        "duplicate_ids": "a test id that is listed twice is kept once",
        "final_newline": "a patch that lost its last line feed gets it back",
        "image_name_mangled": "a row without an image gets the name of its data set's convention",
        "json_string_lists": "a list of test ids that is JSON text is read as a list",
        "old_keys": "a key that Harbor has renamed is read under its new name",
        "phantom_ids": "a progress mark that was taken for a test id, such as `[100%]`, is dropped",
        "reversed_patch": "the patch of the row is the bug, so the reference is its reverse",
        "truncated_ids": "a test id that was cut off inside its parameters stands for every test that begins with it",
        "user_mapped": "a user that is neither `root` nor `agent` becomes `agent`",
        "workdir_assumed": "an environment that does not say where it works is taken to work in `/app`",
    }
)
"""Every normaliser by name, and what it does."""


class Notes:
    """The normalisers that one task needed, with what each was applied to."""

    def __init__(self) -> None:
        self._notes: dict[str, list[str]] = {}

    def add(self, name: str, *details: str) -> None:
        """Note that the normaliser was applied to these."""
        if name not in NORMALISERS:
            raise ValueError(f"no normaliser is called {name!r}; add it to NORMALISERS")
        self._notes.setdefault(name, []).extend(details)

    def to_json(self) -> JsonObject:
        """For `provenance["normalised"]`."""
        return {name: list(details) for name, details in sorted(self._notes.items())}


def normalised(tasks: Iterable[Task]) -> dict[str, dict[str, list[str]]]:
    """What was normalised in these tasks: name of the normaliser -> task id -> what it was applied to."""
    found: dict[str, dict[str, list[str]]] = {}
    for task in tasks:
        for name, details in task.secret.get("provenance", {}).get("normalised", {}).items():
            found.setdefault(name, {})[task.id] = list(details)
    return dict(sorted(found.items()))
