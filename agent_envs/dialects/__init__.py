"""Dialects: how a model writes a thought and a tool call as text, and how that text is read.

One decision: what teaches a format, what reads it and what writes it are one object, so that they cannot drift apart.
"""

from __future__ import annotations

import difflib

from agent_envs.dialects._parsed import Dialect, Parsed, Repair, too_long
from agent_envs.dialects.auto import AutoDialect
from agent_envs.dialects.code import CodeDialect
from agent_envs.dialects.fenced import FencedDialect
from agent_envs.dialects.hermes import HermesDialect
from agent_envs.dialects.json_object import JsonDialect
from agent_envs.dialects.native import parse_mapping, parse_openai
from agent_envs.dialects.react import ReactDialect
from agent_envs.dialects.xml import XmlDialect
from agent_envs.errors import ConfigError

__all__ = ["DIALECTS", "Dialect", "Parsed", "Repair", "get_dialect", "parse_mapping", "parse_openai", "too_long"]

_ALL: tuple[Dialect, ...] = (
    AutoDialect(),
    CodeDialect(),
    FencedDialect(),
    HermesDialect(),
    JsonDialect(),
    ReactDialect(),
    XmlDialect(),
)
_BY_NAME = {dialect.name: dialect for dialect in _ALL}

DIALECTS = tuple(sorted(_BY_NAME))
"""The names of the dialects."""


def get_dialect(name: str) -> Dialect:
    """The dialect of this name."""
    if not isinstance(name, str):
        raise ConfigError(f"the dialect is {name!r}; expected one of: {', '.join(DIALECTS)}")
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, DIALECTS, n=1)
        suggestion = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigError(f"no dialect is called {name!r}{suggestion}; dialects: {', '.join(DIALECTS)}")
    return _BY_NAME[name]
