"""Answers that are JSON: validated against a schema, then compared value by value. Needs the extra `web`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
from agent_envs.verifiers.submission import clipped
from agent_envs.verifiers.web._assignment import assign
from agent_envs.verifiers.web._kind import Kind, Unreadable, bounded, quoted, whole
from agent_envs.verifiers.web._lists import Single
from agent_envs.verifiers.web._matchers import pattern_contradictions

from agent_envs import json_lines
from agent_envs.errors import MissingExtra
from agent_envs.json_lines import JsonObject

_DEEPEST = 64
_LONGEST = 1000


class Schema(Kind, frozen=True, tag="schema"):
    """JSON that fits a JSON Schema (draft 2020-12) and is what the task expects.

    Numbers are equal by value; `types` says how a text or number under a property's name is read, at any depth:
    `{"price": {"type": "money", "currency": "USD"}}`.
    """

    schema: JsonObject
    types: dict[str, Single] = msgspec.field(default_factory=dict)
    unordered: bool = False
    """Whether the order of arrays does not count."""

    def contradictions(self) -> Iterator[str]:
        """A schema that is none, or that refers to something outside."""
        try:
            _validator(self).check_schema(self.schema)
        except _schema_error() as cause:
            yield f"`schema` is no JSON Schema: {cause.message}"
            return
        yield from (f"`schema` {problem}" for problem in _schema_contradictions(self.schema))
        for name, kind in self.types.items():
            yield from (f"`types.{name}`: {problem}" for problem in kind.contradictions())

    def read(self, text: str) -> Any:
        """The value, in which typed properties are what they spell."""
        try:
            value = _loaded(bounded(text))
        except Unreadable:
            value = _loaded(whole(text))  # with a fence or quotes around it; a bare text of JSON has quotes of its own
        return self._valid(value)

    def _valid(self, value: Any) -> Any:
        try:
            problem = next(_validator(self).iter_errors(value), None)
        except RecursionError:
            raise Unreadable("the schema refers to itself without an end") from None
        except OverflowError:
            raise Unreadable("the answer holds an integer that is too large to be divided") from None
        if problem is not None:
            raise Unreadable(f"the answer does not fit the schema, at {problem.json_path}: {clipped(problem.message)}")
        return self._typed(value)

    def gold(self, expected: object) -> Any:
        """The expected value fits the schema itself."""
        return self._valid(_loaded(json.dumps(expected)))

    def same(self, answer: Any, expected: Any) -> bool:
        """Value by value."""
        return self._same(answer, expected, None)

    def _same(self, answer: Any, expected: Any, kind: Kind | None) -> bool:
        if isinstance(answer, dict) and isinstance(expected, dict):
            return answer.keys() == expected.keys() and all(
                self._same(answer[name], expected[name], self.types.get(name)) for name in answer
            )
        if isinstance(answer, list) and isinstance(expected, list):
            return len(answer) == len(expected) and self._same_items(answer, expected, kind)
        if kind is not None and type(answer) is type(expected):
            return kind.same(answer, expected)
        return isinstance(answer, bool) == isinstance(expected, bool) and bool(answer == expected)

    def _same_items(self, answer: list[Any], expected: list[Any], kind: Kind | None) -> bool:
        if not self.unordered:
            return all(self._same(one, other, kind) for one, other in zip(answer, expected, strict=True))
        fits = [[n for n, other in enumerate(expected) if self._same(one, other, kind)] for one in answer]
        return None not in assign(fits, [1] * len(expected))

    def _typed(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._typed(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._typed(item, name) for item in value]
        kind = self.types.get(name)
        if kind is None or value is None:
            return value
        try:
            return kind.gold(value)  # a number of JSON is read like one that a task expects
        except Unreadable as cause:
            raise Unreadable(f"`{name}`: {cause}") from None


def _loaded(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_once_each, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as cause:
        raise Unreadable(f"{quoted(text)} is no JSON: {clipped(str(cause))}") from None
    if _is_unwieldy(value, _DEEPEST):
        raise Unreadable(f"the answer is nested deeper than {_DEEPEST} levels, or has an array of more than {_LONGEST}")
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has one key twice")
    return found


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{clipped(text, 40)} is too large")
    return value


def _is_unwieldy(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or len(items) > _LONGEST or any(_is_unwieldy(item, levels - 1) for item in items)


def _schema_contradictions(schema: object, root: Any = None) -> Iterator[str]:
    """References that lead nowhere, and regular expressions that a hostile text could keep busy."""
    root = _resolver(schema) if root is None else root
    if isinstance(schema, list):
        for item in schema:
            yield from _schema_contradictions(item, root)
    elif isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str) and not _resolves(root, reference):
            yield f"refers to {reference!r}, which is not in it; write '#/$defs/...' and define it there"
        pattern = schema.get("pattern")
        for one in [*([pattern] if isinstance(pattern, str) else []), *(schema.get("patternProperties") or ())]:
            yield from pattern_contradictions(one)
        for item in schema.values():
            yield from _schema_contradictions(item, root)


def _resolver(schema: Any) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    registry: Any = Registry()
    return registry.with_resource("", DRAFT202012.create_resource(schema)).resolver()


def _resolves(resolver: Any, reference: str) -> bool:
    from referencing.exceptions import Unresolvable

    try:
        resolver.lookup(reference)
    except Unresolvable:
        return False
    return True


def _validator(kind: Schema) -> Any:
    return _made(json_lines.encode(kind.schema, canonical=True))


@lru_cache(maxsize=128)
def _made(schema: bytes) -> Any:
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry
    except ImportError as error:
        raise MissingExtra("jsonschema", extra="web") from error
    # An empty registry: a reference to a schema elsewhere would otherwise be fetched from the network.
    return Draft202012Validator(json.loads(schema), registry=Registry())


def _schema_error() -> Any:
    from jsonschema.exceptions import SchemaError

    return SchemaError
