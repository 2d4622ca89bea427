"""What a configuration must look like."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from confetti.config import Config
from confetti.errors import BadValue, InterpolationError, Invalid, MissingKey

_GETTERS: dict[type, Callable[..., Any]] = {
    str: Config.get_str,
    int: Config.get_int,
    float: Config.get_float,
    bool: Config.get_bool,
    list: Config.get_list,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What is expected of one key."""

    type: type = str
    required: bool = True
    default: Any = None
    """The value of a key that is missing and not required."""
    choices: Collection[Any] = ()
    minimum: float | None = None
    maximum: float | None = None

    def problem(self, value: Any) -> str:
        """What is wrong with a value of the right type; empty where nothing is."""
        if self.choices and value not in self.choices:
            return f"expected one of {', '.join(map(str, self.choices))}"
        if self.minimum is not None and value < self.minimum:
            return f"expected at least {self.minimum}"
        if self.maximum is not None and value > self.maximum:
            return f"expected at most {self.maximum}"
        return ""


class Schema:
    """Fields by key."""

    def __init__(self, fields: Mapping[str, Field], *, closed: bool = False) -> None:
        self.fields = dict(fields)
        self.closed = closed
        """Whether other keys are an error."""

    def validate(self, config: Config) -> dict[str, Any]:
        """The values by key; raises `Invalid` with all problems, in the order of the fields."""
        values: dict[str, Any] = {}
        problems: list[str] = []
        for key, field in self.fields.items():
            if key not in config and not field.required:
                values[key] = field.default
                continue
            try:
                values[key] = value = _GETTERS[field.type](config, key)
            except (BadValue, InterpolationError, MissingKey) as cause:
                problems.append(str(cause))
                continue
            if problem := field.problem(value):
                problems.append(f"{key} is {value!r} (from {config.origin(key)}); {problem}")
        if self.closed:
            unknown = [key for key in config.keys() if key not in self.fields]
            problems += [f"{key} (from {config.origin(key)}) is not known" for key in unknown]
        if problems:
            raise Invalid(problems)
        return values
