"""Calendars with recurring events, free time, and a text format."""

from chronicle.agenda import agenda
from chronicle.calendar import Calendar
from chronicle.errors import ChronicleError, FormatError, NaiveTime, NoOccurrence, UnknownEvent
from chronicle.event import Event, Occurrence
from chronicle.ical import from_text, to_text
from chronicle.intervals import Interval, Intervals
from chronicle.rules import Rule
from chronicle.zones import zone

__all__ = [
    "Calendar",
    "ChronicleError",
    "Event",
    "FormatError",
    "Interval",
    "Intervals",
    "NaiveTime",
    "NoOccurrence",
    "Occurrence",
    "Rule",
    "UnknownEvent",
    "agenda",
    "from_text",
    "to_text",
    "zone",
]
