"""Layered configuration: merged, interpolated, typed, validated."""

from confetti.config import Config
from confetti.errors import BadSource, BadValue, ConfettiError, InterpolationError, Invalid, MissingKey
from confetti.schema import Field, Schema
from confetti.sources import Layer, from_dict, from_env, from_file

__all__ = [
    "BadSource",
    "BadValue",
    "ConfettiError",
    "Config",
    "Field",
    "InterpolationError",
    "Invalid",
    "Layer",
    "MissingKey",
    "Schema",
    "from_dict",
    "from_env",
    "from_file",
]
