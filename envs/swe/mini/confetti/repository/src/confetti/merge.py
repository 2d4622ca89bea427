"""Several trees of values as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from confetti.keys import Tree, leaves
from confetti.sources import Layer


def merge(layers: Iterable[Layer]) -> dict[str, Any]:
    """The merged values, sharing nothing with the layers; later layers win."""
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge_into(merged, layer.values)
    return merged


def origins(layers: Iterable[Layer]) -> dict[str, str]:
    """The name of the layer that each value came from."""
    found: dict[str, str] = {}
    for layer in layers:
        for key, _ in leaves(layer.values):
            # A plain value replaces a table, with everything below it, and a table a plain value.
            parents = {key[:position] for position, character in enumerate(key) if character == "."}
            for known in [other for other in found if other in parents or other.startswith(f"{key}.")]:
                del found[known]
            found[key] = layer.name
    return found


def _merge_into(target: dict[str, Any], values: Tree) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping):
            inner = target.get(name)
            if not isinstance(inner, dict):
                inner = target[name] = {}
            _merge_into(inner, value)
        else:
            target[name] = deepcopy(value)
