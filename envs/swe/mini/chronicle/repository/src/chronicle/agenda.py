"""Days to read."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from itertools import groupby

from chronicle.calendar import Calendar
from chronicle.event import Occurrence


def agenda(calendar: Calendar, start: datetime, *, days: int = 7) -> str:
    """What happens in some days from this moment on, in the zone of this moment, one line for each occurrence."""
    found = calendar.between(start, start + timedelta(days=days))
    lines = []
    for day, occurrences in groupby(found, key=lambda occurrence: occurrence.start.astimezone(start.tzinfo).date()):
        lines.append(f"{day:%Y-%m-%d}")
        lines += [f"  {_hours(occurrence, start.tzinfo)}  {occurrence.event.title}" for occurrence in occurrences]
    return "\n".join(lines)


def _hours(occurrence: Occurrence, place: tzinfo | None) -> str:
    return f"{occurrence.start.astimezone(place):%H:%M}-{occurrence.end.astimezone(place):%H:%M}"
