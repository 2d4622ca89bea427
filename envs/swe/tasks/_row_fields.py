"""Reading one row of a data set of repository tasks: every field checked, every change to it noted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from agent_envs.envs.swe.tasks._normalised import Notes
from agent_envs.verifiers.swe.patches import FilePatch, parse

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject

Row = Mapping[str, Any]
"""One row of a foreign data set, as it came."""
_PHANTOM = re.compile(r"\[\s*\d{1,3}%\s*\]")


class Fields:
    """The fields of one row by name; raises `TaskError` naming field and remedy for what is not as it should be."""

    def __init__(self, row: Row, notes: Notes) -> None:
        self._row = row
        self._notes = notes

    def text(self, name: str) -> str:
        """A text; empty where it is absent."""
        value = self._row.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise TaskError(f"{name} is {type(value).__name__}; expected text")
        return value

    def required(self, name: str) -> str:
        """A text that must say something."""
        value = self.text(name)
        if not value.strip():
            state = "is empty" if name in self._row else "is missing"
            raise TaskError(f"{name} {state}; expected text (the row has: {', '.join(map(str, self._row))})")
        return value

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object, or JSON text of one; empty where it is absent."""
        value = self._row.get(name) or {}
        value = self._json(name, value, "an object") if isinstance(value, str) else value
        if not isinstance(value, Mapping):
            raise TaskError(f"{name} is {type(value).__name__}; expected an object")
        return value

    def patch(self, name: str) -> tuple[str, tuple[FilePatch, ...]]:
        """A patch as text that ends with a line feed, and what it says."""
        text = self.required(name)
        if not text.endswith("\n"):
            text += "\n"
            self._notes.add("final_newline", name)
        try:
            return text, parse(text)
        except TaskError as cause:
            raise TaskError(f"{name}: {cause}") from cause

    def ids(self, name: str) -> tuple[str, ...]:
        """A list of test ids, or JSON text of one."""
        if name not in self._row or self._row[name] is None:
            raise TaskError(f"{name} is missing; expected a list of test ids, which may be empty for PASS_TO_PASS")
        ids = self._listed(name, self._row[name])
        phantoms = [test for test in ids if _PHANTOM.fullmatch(test.strip())]
        if phantoms:
            self._notes.add("phantom_ids", *phantoms)
        unique = dict.fromkeys(ids)
        if len(unique) < len(ids):
            self._notes.add("duplicate_ids", *(test for test in unique if ids.count(test) > 1))
        return tuple(test for test in unique if test not in phantoms)

    def rest(self, known: frozenset[str]) -> JsonObject:
        """All fields but these, as JSON data."""
        return {name: self._plain(name, value) for name, value in self._row.items() if name not in known}

    def _listed(self, name: str, value: object) -> list[str]:
        if isinstance(value, str):
            value = self._json(name, value, "a list of test ids")
            self._notes.add("json_string_lists", name)
        if not isinstance(value, list | tuple) or not all(isinstance(test, str) and test.strip() for test in value):
            raise TaskError(f"{name} is no list of test ids; expected a list of texts that are not empty")
        return list(value)

    def _json(self, name: str, text: str, wanted: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as cause:
            raise TaskError(f"{name} is text that is not JSON ({cause}); expected {wanted}") from cause

    def _plain(self, name: str, value: object) -> object:
        if isinstance(value, date):  # a datetime is one too
            self._notes.add("dates_as_text", name)
            return value.isoformat()
        return value
