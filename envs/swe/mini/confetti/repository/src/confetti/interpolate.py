"""References between values: `${key}`, `${key:-default}`, and `$${` for a plain `${`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from confetti.errors import InterpolationError
from confetti.keys import MISSING, Tree, find

_TOKEN = re.compile(r"\$\$\{|\$\{([^${}]*)\}")
_ALONE = re.compile(r"\$\{([^${}]*)\}")


def resolved(tree: Tree, value: Any, chain: tuple[str, ...] = ()) -> Any:
    """The value with its references replaced by values of the tree; `chain` holds the keys that led here."""
    if isinstance(value, Mapping):
        return {name: resolved(tree, inner, chain) for name, inner in value.items()}
    if isinstance(value, list):
        return [resolved(tree, inner, chain) for inner in value]
    if not isinstance(value, str):
        return value
    if alone := _ALONE.fullmatch(value):
        return _value(tree, alone[1], chain)
    return _TOKEN.sub(lambda token: _part(tree, token, chain), value)


def _part(tree: Tree, token: re.Match[str], chain: tuple[str, ...]) -> str:
    if token[1] is None:
        return "${"
    value = _value(tree, token[1], chain)
    if isinstance(value, (Mapping, list)):
        kind = "list" if isinstance(value, list) else "table"
        raise InterpolationError(f"{token[0]} is a {kind} and cannot be part of a text")
    return text_of(value)


def _value(tree: Tree, reference: str, chain: tuple[str, ...]) -> Any:
    key, separator, default = reference.partition(":-")
    if key in chain:
        raise InterpolationError(f"references lead in a circle: {' -> '.join((*chain, key))}")
    value = find(tree, key)
    if value is MISSING:
        if separator:
            return default
        raise InterpolationError(f"${{{reference}}} refers to {key!r}, which no layer has")
    return resolved(tree, value, (*chain, key))


def text_of(value: Any) -> str:
    """A plain value as it would be written in a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)
