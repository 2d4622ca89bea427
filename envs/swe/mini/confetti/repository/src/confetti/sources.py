"""Where layers come from."""

from __future__ import annotations

import configparser
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confetti.errors import BadSource
from confetti.keys import Tree, put


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place; never changed by this package."""

    name: str
    values: Tree = field(default_factory=dict)


def from_dict(values: Tree, *, name: str = "values") -> Layer:
    """A layer made in Python."""
    return Layer(name, values)


def from_file(path: str | Path, *, optional: bool = False) -> Layer:
    """The layer in a `.toml` or `.ini` file; raises `BadSource`, save for a missing file that is optional."""
    place = Path(path)
    if place.suffix not in _READERS:
        raise BadSource(f"{place} has the suffix {place.suffix!r}; expected one of {', '.join(_READERS)}")
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError as cause:
        if optional:
            return Layer(str(place))
        raise BadSource(f"{place} does not exist") from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise BadSource(f"{place} cannot be read: {cause}") from cause
    try:
        return Layer(str(place), _READERS[place.suffix](text))
    except (tomllib.TOMLDecodeError, configparser.Error, ValueError) as cause:
        raise BadSource(f"{place}: {cause}") from cause


def from_env(prefix: str, environ: Mapping[str, str] | None = None) -> Layer:
    """The variables that begin with a prefix and an underscore."""
    values: dict[str, Any] = {}
    start = f"{prefix}_".upper()
    for name, text in sorted((os.environ if environ is None else environ).items()):
        if name.upper().startswith(start):
            key = name[len(start) :].lower().replace("__", ".")
            try:
                put(values, key, text)
            except ValueError as cause:
                raise BadSource(f"environment variable {name}: {cause}") from cause
    return Layer("environment", values)


def _read_ini(text: str) -> dict[str, Any]:
    """Sections are tables; a dot in the name of a section means a table inside a table."""
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    parser.read_string(text)
    values: dict[str, Any] = {}
    for section in parser.sections():
        for name, value in parser.items(section):
            put(values, f"{section}.{name}", value)
    return values


_READERS = {".toml": tomllib.loads, ".ini": _read_ini}
