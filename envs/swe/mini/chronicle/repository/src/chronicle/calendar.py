"""A calendar: events by their uids, and what happens between two moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from chronicle.errors import ChronicleError, NoOccurrence, UnknownEvent
from chronicle.event import Event, Occurrence
from chronicle.intervals import Interval, Intervals
from chronicle.zones import aware


class Calendar:
    """Events in the order in which they were added."""

    def __init__(self) -> None:
        self._events: dict[str, Event] = {}

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events.values())

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: Event) -> None:
        if event.uid in self._events:
            raise ChronicleError(f"there is an event {event.uid!r} already")
        self._events[event.uid] = event

    def get(self, uid: str) -> Event:
        try:
            return self._events[uid]
        except KeyError:
            raise UnknownEvent(f"no event {uid!r}") from None

    def remove(self, uid: str) -> Event:
        event = self.get(uid)
        del self._events[uid]
        return event

    def skip(self, uid: str, start: datetime) -> None:
        """Take out the occurrence that the rule gives at this start."""
        event = self._event_at(uid, start)
        moved = {first: to for first, to in event.moved.items() if first != start}
        self._events[uid] = replace(event, skipped=event.skipped | {start}, moved=moved)

    def move(self, uid: str, start: datetime, to: datetime) -> None:
        """Let the occurrence that the rule gives at this start begin at another moment."""
        event = self._event_at(uid, start)
        moved = {**event.moved, start: aware(to)}
        if to == start:
            del moved[start]
        self._events[uid] = replace(event, moved=moved)

    def between(self, start: datetime, end: datetime) -> list[Occurrence]:
        """What overlaps this time, in the order of the starts."""
        aware(start), aware(end)
        found = [occurrence for event in self for occurrence in event.occurrences(start, end)]
        return sorted(found, key=lambda occurrence: (occurrence.start, occurrence.event.uid))

    def busy(self, start: datetime, end: datetime) -> Intervals:
        """The part of this time in which something happens."""
        taken = Intervals((occurrence.start, occurrence.end) for occurrence in self.between(start, end))
        return taken & Intervals([(start, end)])

    def free(self, start: datetime, end: datetime, *, at_least: timedelta = timedelta()) -> list[Interval]:
        """The gaps of this time that are long enough."""
        gaps = Intervals([(start, end)]) - self.busy(start, end)
        return [gap for gap in gaps if gap.length >= at_least]

    def _event_at(self, uid: str, start: datetime) -> Event:
        event = self.get(uid)
        if not event.happens_at(aware(start)):
            raise NoOccurrence(f"{uid} does not happen at {start.isoformat()}")
        return event
