"""Durations as people write them."""

from __future__ import annotations

import re

from tasklane.errors import BadDuration

UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
"""Seconds by unit, the largest first."""

_PART = re.compile(r"\s*(\d+(?:\.\d+)?)(ms|d|h|m|s)\s*")


def parse_duration(value: float | str) -> float:
    """The seconds in a number or a text such as `1h30m`; raises `BadDuration`."""
    if isinstance(value, (int, float)):
        return _checked(float(value), value)
    text = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    seconds, position, units = 0.0, 0, list(UNITS)
    while position < len(text):
        part = _PART.match(text, position)
        if part is None or part[2] not in units or ("." in part[1] and part.end() < len(text)):
            raise BadDuration(f"{value!r} is no duration; expected for instance 90, 45s, 1.5h or 1h30m")
        units = units[units.index(part[2]) + 1 :]
        seconds += float(part[1]) * UNITS[part[2]]
        position = part.end()
    if not text:
        raise BadDuration("an empty text is no duration; expected for instance 90, 45s, 1.5h or 1h30m")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest text that `parse_duration` reads as this many seconds, to the millisecond."""
    left = round(_checked(seconds, seconds) * 1000)
    parts = []
    for unit, size in UNITS.items():
        count, left = divmod(left, round(size * 1000))
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _checked(seconds: float, given: object) -> float:
    if not 0 <= seconds < float("inf"):
        raise BadDuration(f"{given!r} is no duration; expected at least 0 seconds")
    return seconds
