"""Time zones as fixed offsets. Every moment in this package has one; without it two moments cannot be compared."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from chronicle.errors import ChronicleError, NaiveTime

_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)")


def zone(offset: str) -> timezone:
    """The zone of an offset such as `+01:00`, `-0330` or `Z`."""
    if offset == "Z":
        return UTC
    match = _OFFSET.fullmatch(offset)
    if match is None or int(match[2]) > 23:
        raise ChronicleError(f"{offset!r} is not an offset; expected something like +01:00")
    distance = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-distance if match[1] == "-" else distance)


def aware(moment: datetime) -> datetime:
    """The moment itself, if it has a zone."""
    if moment.utcoffset() is None:
        raise NaiveTime(f"{moment.isoformat()} has no zone; give it one with tzinfo=zone('+00:00')")
    return moment
