"""The configuration: merged layers behind typed getters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, TypeVar

from confetti import convert
from confetti.errors import BadValue, MissingKey
from confetti.interpolate import resolved
from confetti.keys import MISSING, find, leaves
from confetti.merge import merge, origins
from confetti.sources import Layer

T = TypeVar("T")


class Config:
    """What the layers say together. Values are resolved when they are asked for, and handed out as copies."""

    def __init__(self, tree: Mapping[str, Any], origin: Mapping[str, str]) -> None:
        self._tree = tree
        self._origin = origin

    @classmethod
    def load(cls, *layers: Layer) -> Config:
        """The configuration of these layers; later ones win."""
        return cls(merge(layers), origins(layers))

    def get(self, key: str, default: Any = MISSING) -> Any:
        """The value of a key as it is; raises `MissingKey` where there is neither a value nor a default."""
        value = find(self._tree, key)
        if value is MISSING:
            if default is MISSING:
                raise self._missing(key)
            return self._resolved(default) if isinstance(default, str) else default
        return self._resolved(value, (key,))

    def get_str(self, key: str, default: Any = MISSING) -> str:
        return self._typed(key, default, convert.to_str)

    def get_int(self, key: str, default: Any = MISSING) -> int:
        return self._typed(key, default, convert.to_int)

    def get_float(self, key: str, default: Any = MISSING) -> float:
        return self._typed(key, default, convert.to_float)

    def get_bool(self, key: str, default: Any = MISSING) -> bool:
        return self._typed(key, default, convert.to_bool)

    def get_list(self, key: str, default: Any = MISSING) -> list[Any]:
        return self._typed(key, default, convert.to_list)

    def section(self, key: str) -> dict[str, Any]:
        """A table with everything below it."""
        value = self.get(key)
        if not isinstance(value, dict):
            raise BadValue(f"{key} is {value!r}{self._from(key)}; expected a table")
        return value

    def as_dict(self) -> dict[str, Any]:
        """All values."""
        values: dict[str, Any] = self._resolved(self._tree)
        return values

    def origin(self, key: str) -> str:
        """The name of the layer that a value came from."""
        if key not in self._origin:
            raise self._missing(key)
        return self._origin[key]

    def keys(self) -> list[str]:
        """The keys of all values that are no tables, sorted."""
        return sorted(key for key, _ in leaves(self._tree))

    def __contains__(self, key: str) -> bool:
        return find(self._tree, key) is not MISSING

    def _typed(self, key: str, default: Any, convert: Callable[[Any], T]) -> T:
        value = self.get(key, default)
        if key not in self:
            return value
        try:
            return convert(value)
        except ValueError as expected:
            raise BadValue(f"{key} is {value!r}{self._from(key)}; expected {expected}") from None

    def _resolved(self, value: Any, chain: tuple[str, ...] = ()) -> Any:
        return deepcopy(resolved(self._tree, value, chain))

    def _from(self, key: str) -> str:
        return f" (from {self._origin[key]})" if key in self._origin else ""

    def _missing(self, key: str) -> MissingKey:
        near = get_close_matches(key, self.keys(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return MissingKey(f"no layer has {key!r}{hint}")
