"""Values of old versions of a schema, step by step to the newest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wiretap.errors import SchemaError

Step = Callable[[dict[str, Any]], dict[str, Any]]


class History:
    """The versions of a schema, and how the values of each become those of the next."""

    def __init__(self, name: str, *, first: int = 1) -> None:
        self.name = name
        self.first = first
        self._steps: dict[int, Step] = {}

    @property
    def newest(self) -> int:
        """The version that the steps lead to."""
        return max(self._steps, default=self.first - 1) + 1

    def step(self, version: int, change: Step) -> None:
        """Say how values of this version become values of the next one."""
        if version < self.first:
            raise SchemaError(f"{self.name} begins with version {self.first}, not {version}")
        if version in self._steps:
            raise SchemaError(f"{self.name} has a step from version {version} already")
        self._steps[version] = change

    def upgrade(self, values: Mapping[str, Any], *, version: int) -> dict[str, Any]:
        """The values of some version as values of the newest one."""
        if not self.first <= version <= self.newest:
            raise SchemaError(f"{self.name} has versions {self.first} to {self.newest}, not {version}")
        result = dict(values)
        for number in range(version, self.newest):
            if number not in self._steps:
                raise SchemaError(f"{self.name} has no step from version {number} to {number + 1}")
            result = self._steps[number](result)
        return result
