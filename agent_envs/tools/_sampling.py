"""Random values for the schemas that tools have, so that a random policy reaches the tools and not only the parser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from agent_envs.tools._arguments import JSON
from agent_envs.tools._schema import resolve

_ALPHABET = tuple("abcdefghijklmnopqrstuvwxyz ABC 0123456789 \n\t.,:;(){}[]\"'`\\/<>_-+=éßñ漢字🙂→")
_DEEP = 3
"""From this nesting on the smallest value is drawn, so that a recursive schema ends."""
_SPAN = 200
"""Width of the range from which an unbounded number is drawn."""

Schema = Mapping[str, Any]


def sample_text(rng: np.random.Generator, low: int, high: int) -> str:
    """A text of `low` to `high` characters with quotes, tags, line breaks and letters beyond ASCII."""
    picks = rng.integers(0, len(_ALPHABET), size=int(rng.integers(low, high + 1)))
    return "".join(_ALPHABET[pick] for pick in picks)


def sample_schema(schema: Schema, root: Schema, rng: np.random.Generator, depth: int = 0) -> JSON:
    """One value that `schema` accepts; `root` holds its `$defs`."""
    schema = resolve(schema, root)
    if "anyOf" in schema:
        options = schema["anyOf"] if depth < _DEEP else [_flattest(schema["anyOf"], root)]
        return sample_schema(options[int(rng.integers(len(options)))], root, rng, depth)
    if "enum" in schema:
        chosen: JSON = schema["enum"][int(rng.integers(len(schema["enum"])))]
        return chosen
    match schema.get("type", "any"):
        case "object":
            return _sample_object(schema, root, rng, depth)
        case "array":
            return _sample_array(schema, root, rng, depth)
        case "integer":
            return _sample_integer(schema, rng)
        case "number":
            return _sample_number(schema, rng)
        case "boolean":
            return bool(rng.integers(2))
        case "null":
            return None
        case _:
            low = schema.get("minLength", 0)
            return sample_text(rng, low, min(schema.get("maxLength", low + 16), low + 16))


def _flattest(options: list[Schema], root: Schema) -> Schema:
    return min(options, key=lambda option: resolve(option, root).get("type") in ("object", "array"))


def _sample_object(schema: Schema, root: Schema, rng: np.random.Generator, depth: int) -> JSON:
    required = set(schema.get("required", ()))
    drawn = {
        name: sample_schema(sub, root, rng, depth + 1)
        for name, sub in schema.get("properties", {}).items()
        if name in required or (depth < _DEEP and rng.random() < 0.5)
    }
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        for n in range(_sample_count(schema, "Properties", rng, depth)):
            drawn[f"key{n}"] = sample_schema(values, root, rng, depth + 1)
    return drawn


def _sample_array(schema: Schema, root: Schema, rng: np.random.Generator, depth: int) -> JSON:
    if "prefixItems" in schema:
        return [sample_schema(item, root, rng, depth + 1) for item in schema["prefixItems"]]
    items = schema.get("items") or {}
    return [sample_schema(items, root, rng, depth + 1) for _ in range(_sample_count(schema, "Items", rng, depth))]


def _sample_count(schema: Schema, unit: str, rng: np.random.Generator, depth: int) -> int:
    low = schema.get(f"min{unit}", 0)
    high = min(schema.get(f"max{unit}", low + 3), low + 3) if depth < _DEEP else low
    return int(rng.integers(low, high + 1))


def _sample_integer(schema: Schema, rng: np.random.Generator) -> int:
    step: int = schema.get("multipleOf", 1)
    low, high = _bounds(schema, margin=1)
    first, last = -(-low // step), high // step
    picked: int = first + int(rng.integers(0, min(last - first, 2**62) + 1))
    return step * picked


def _sample_number(schema: Schema, rng: np.random.Generator) -> float:
    low, high = _bounds(schema, margin=0)
    if step := schema.get("multipleOf"):
        return float(step * int(rng.integers(math.ceil(low / step), math.floor(high / step) + 1)))
    drawn = float(rng.uniform(low, high))
    return (low + high) / 2 if drawn in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")) else drawn


def _bounds(schema: Schema, *, margin: int) -> tuple[Any, Any]:
    """Inclusive bounds; an exclusive one is moved inward by `margin`, a missing one lies `_SPAN` from the other."""
    low = schema.get("minimum")
    high = schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + margin
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - margin
    if low is None:
        low = -_SPAN // 2 if high is None else high - _SPAN
    return low, low + _SPAN if high is None else high
