"""Dotted keys into trees of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Tree = Mapping[str, Any]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""Stands for no value, where None could be one."""


def find(tree: Tree, key: str) -> Any:
    """The value at a key, or MISSING."""
    value: Any = tree
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return MISSING
        value = value[part]
    return value


def put(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set the value at a key; `ValueError` where a part of the way is no table."""
    *way, last = key.split(".")
    for part in way:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise ValueError(f"{part!r} of {key!r} is a value and a table")
    if isinstance(tree.get(last), dict):
        raise ValueError(f"{last!r} of {key!r} is a value and a table")
    tree[last] = value


def leaves(tree: Tree, above: str = "") -> Iterator[tuple[str, Any]]:
    """All values that are no tables, with their keys."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
