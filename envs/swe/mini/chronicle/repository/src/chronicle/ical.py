"""Calendars as text, in a subset of iCalendar; docs/format.md describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from chronicle.calendar import Calendar
from chronicle.errors import ChronicleError, FormatError
from chronicle.event import Event
from chronicle.lines import escape, fold, properties, unescape, unfold
from chronicle.rules import Rule

STAMP = "%Y%m%dT%H%M%S%z"
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
T = TypeVar("T")


def to_text(calendar: Calendar) -> str:
    """The calendar as text."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0"]
    for event in calendar:
        lines += ["BEGIN:VEVENT", *_event_lines(event), "END:VEVENT"]
    return "".join(map(fold, [*lines, "END:VCALENDAR"]))


def from_text(text: str) -> Calendar:
    """The calendar in a text; raises `FormatError` where it is none."""
    calendar = Calendar()
    found = list(properties(unfold(text)))
    if found[:1] != [("BEGIN", "VCALENDAR")] or found[-1:] != [("END", "VCALENDAR")]:
        raise FormatError("a calendar begins with BEGIN:VCALENDAR and ends with END:VCALENDAR")
    event: dict[str, list[str]] | None = None
    for name, value in found[1:-1]:
        if (name, value) == ("BEGIN", "VEVENT") and event is None:
            event = {}
        elif (name, value) == ("END", "VEVENT") and event is not None:
            calendar.add(_event(event))
            event = None
        elif name in ("BEGIN", "END"):
            raise FormatError(f"{name}:{value} is not expected here")
        elif event is not None:
            event.setdefault(name, []).append(value)
    if event is not None:
        raise FormatError("the last event has no END:VEVENT")
    return calendar


def _event_lines(event: Event) -> Iterator[str]:
    yield f"UID:{escape(event.uid)}"
    yield f"SUMMARY:{escape(event.title)}"
    yield f"DTSTART:{event.start:{STAMP}}"
    yield f"DURATION:{_duration_text(event.duration)}"
    if event.rule:
        yield f"RRULE:{_rule_text(event.rule)}"
    for start in sorted(event.skipped):
        yield f"EXDATE:{start:{STAMP}}"
    for start, to in sorted(event.moved.items()):
        yield f"MOVED:{start:{STAMP}}/{to:{STAMP}}"


def _event(values: Mapping[str, list[str]]) -> Event:
    missing = [name for name in ("UID", "SUMMARY", "DTSTART", "DURATION") if name not in values]
    if missing:
        raise FormatError(f"an event has no {', '.join(missing)}")
    return Event(
        uid=unescape(values["UID"][0]),
        title=unescape(values["SUMMARY"][0]),
        start=_read(_stamp, values["DTSTART"][0]),
        duration=_read(_duration, values["DURATION"][0]),
        rule=_read(_rule, values["RRULE"][0]) if "RRULE" in values else None,
        skipped=frozenset(_read(_stamp, value) for value in values.get("EXDATE", [])),
        moved=dict(_read(_pair, value) for value in values.get("MOVED", [])),
    )


def _read(kind: Callable[[str], T], value: str) -> T:
    try:
        return kind(value)
    except (KeyError, ValueError, ChronicleError) as cause:
        raise FormatError(f"{value!r} cannot be read: {cause}") from cause


def _stamp(value: str) -> datetime:
    return datetime.strptime(value, STAMP)


def _pair(value: str) -> tuple[datetime, datetime]:
    start, _, to = value.partition("/")
    return _stamp(start), _stamp(to)


def _duration(value: str) -> timedelta:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise ValueError("expected something like PT1H30M")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _duration_text(duration: timedelta) -> str:
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "H"), (minutes, "M"), (seconds, "S"))
    return "PT" + "".join(f"{number}{letter}" for number, letter in parts if number)


def _rule(value: str) -> Rule:
    parts = dict(part.split("=", 1) for part in value.split(";"))
    return Rule(
        parts["FREQ"],
        interval=int(parts.get("INTERVAL", 1)),
        count=int(parts["COUNT"]) if "COUNT" in parts else None,
        until=_stamp(parts["UNTIL"]) if "UNTIL" in parts else None,
        weekdays=tuple(parts["BYDAY"].split(",")) if "BYDAY" in parts else (),
    )


def _rule_text(rule: Rule) -> str:
    parts = [f"FREQ={rule.freq}"]
    if rule.interval != 1:
        parts.append(f"INTERVAL={rule.interval}")
    if rule.count is not None:
        parts.append(f"COUNT={rule.count}")
    if rule.until is not None:
        parts.append(f"UNTIL={rule.until:{STAMP}}")
    if rule.weekdays:
        parts.append(f"BYDAY={','.join(rule.weekdays)}")
    return ";".join(parts)
