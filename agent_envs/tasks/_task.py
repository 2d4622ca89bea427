"""One unit of work as immutable data, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import sha256
from typing import Any

import msgspec

from agent_envs import json_lines
from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.tools import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an agent is asked to do, what its tools need for it, and what only the verifier may know."""

    id: str
    """Its name, unique in its task set."""
    prompt: str
    """What the agent reads first."""
    kind: str = ""
    """Which verifier judges it, where an environment has several."""
    setup: Mapping[str, Any] = field(default_factory=dict)
    """What the agent's side needs (files, standard input, starter code), as JSON data."""
    secret: Mapping[str, Any] = field(default_factory=dict)
    """What the verifier needs (expected answers, hidden tests), as JSON data; never shown to the agent."""
    solution: tuple[ToolCall, ...] = ()
    """Calls that solve it: what the oracle agent plays."""
    wrong: tuple[tuple[ToolCall, ...], ...] = ()
    """Plausible ways to fail; a verifier that accepts one of them is broken."""
    difficulty: str = ""
    """A level named by the author, for `TaskSet.filter`."""
    tags: tuple[str, ...] = ()
    """Words for `TaskSet.filter`."""

    def __hash__(self) -> int:
        return hash((self.id, self.prompt))

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of what is asked and how it is judged; id, solution and labels do not change it."""
        content = {"kind": self.kind, "prompt": self.prompt, "setup": self.setup, "secret": self.secret}
        try:
            return sha256(json_lines.encode(content, canonical=True)).hexdigest()
        except TypeError as cause:
            raise TaskError(f"setup or secret of task {self.id!r} is no JSON data: {cause}") from cause

    def check_plain(self) -> None:
        """Raise `TaskError` where `setup` or `secret` would come back from JSON as something else."""
        self.check_dicts()
        for name, value in (("setup", self.setup), ("secret", self.secret)):
            if value and not _survives_json(value):
                raise TaskError(
                    f"{name} of task {self.id!r} holds something other than JSON data; use text, numbers, booleans,"
                    " None, lists (not tuples) and dicts with text keys (bytes: as base64 text)"
                )

    def check_dicts(self) -> None:
        """Raise `TaskError` where `setup` or `secret` is no dict."""
        for name, value in (("setup", self.setup), ("secret", self.secret)):
            if not isinstance(value, Mapping):
                raise TaskError(f"{name} of task {self.id!r} is {value!r}; expected a dict of JSON data")

    def to_json(self) -> str:
        """One line of JSON from which `from_json` makes an equal task."""
        try:
            return json_lines.encode(self).decode()
        except TypeError as cause:
            raise TaskError(f"task {self.id!r} is no JSON data: {cause}") from cause

    @classmethod
    def from_json(cls, line: str | bytes) -> Task:
        """The task written by `to_json`, or a JSON object with the same keys; else `TaskError` saying what is wrong."""
        try:
            row = _row_decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError) as cause:
            raise TaskError(_explained(str(cause))) from cause
        if row.escaped:
            plain = json_lines.unescaped(msgspec.json.decode(line))
            row = msgspec.convert(plain, _Row)
        return _task_of(row)

    @classmethod
    def from_row(cls, row: Mapping[str, object]) -> Task:
        """The task held by a mapping with the same keys.

        In a table, `setup`, `secret`, `solution` and `wrong` may be JSON text, and an absent value may be null.
        """
        cells = {key: _cell(key, value) for key, value in row.items() if value is not None and key != "escaped"}
        try:
            return _task_of(msgspec.convert(cells, _Row))
        except msgspec.ValidationError as cause:
            raise TaskError(_explained(str(cause))) from cause


class _Row(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The same fields as `Task`; a misspelt one must not be dropped silently."""

    id: str
    prompt: str
    kind: str = ""
    setup: JsonObject = {}
    secret: JsonObject = {}
    solution: tuple[ToolCall, ...] = ()
    wrong: tuple[tuple[ToolCall, ...], ...] = ()
    difficulty: str = ""
    tags: tuple[str, ...] = ()
    escaped: bool = False


_row_decoder = msgspec.json.Decoder(_Row)
_JSON_CELLS = frozenset({"setup", "secret", "solution", "wrong"})


def _task_of(row: _Row) -> Task:
    return Task(
        id=row.id,
        prompt=row.prompt,
        kind=row.kind,
        setup=row.setup,
        secret=row.secret,
        solution=row.solution,
        wrong=row.wrong,
        difficulty=row.difficulty,
        tags=row.tags,
    )


def _survives_json(value: Mapping[str, object]) -> bool:
    try:
        return bool(msgspec.json.decode(msgspec.json.encode(value)) == value)
    except (TypeError, msgspec.DecodeError):
        return False
    except UnicodeEncodeError:
        return True  # a lone surrogate, which is written escaped


def _cell(key: str, value: object) -> object:
    if key not in _JSON_CELLS or not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError as cause:
        raise TaskError(f"{key} is text that is not JSON ({cause}); expected an object or its JSON") from cause


def _explained(problem: str) -> str:
    """msgspec's message, with the nearest field where a name is unknown."""
    if "unknown field" not in problem:
        return f"this is no task: {problem}"
    fields = [name for name in _Row.__struct_fields__ if name != "escaped"]
    near = get_close_matches(problem.split("`")[1], fields, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"a task has: {', '.join(fields)}; other rows need an importer"
    return f"this is no task: {problem}; {hint}"
