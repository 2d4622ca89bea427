"""Events, and the single times at which they happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile

from chronicle.errors import ChronicleError
from chronicle.rules import Rule
from chronicle.zones import aware


@dataclass(frozen=True)
class Event:
    """Something that happens, once or by a rule."""

    uid: str
    title: str
    start: datetime
    duration: timedelta
    rule: Rule | None = None
    skipped: frozenset[datetime] = frozenset()
    """Starts at which it does not happen, although the rule says so."""
    moved: Mapping[datetime, datetime] = field(default_factory=dict, hash=False)
    """Starts that the rule gives, and where they were moved to."""

    def __post_init__(self) -> None:
        aware(self.start)
        if self.duration <= timedelta():
            raise ChronicleError(f"{self.uid} lasts {self.duration}; it must last longer than nothing")

    def starts(self) -> Iterator[datetime]:
        """The starts that the rule gives and that are not skipped, in order, moved or not."""
        found = self.rule.starts(self.start) if self.rule else iter([self.start])
        return (start for start in found if start not in self.skipped)

    def happens_at(self, start: datetime) -> bool:
        """Whether `starts` gives this moment."""
        return start in takewhile(lambda found: found <= start, self.starts())

    def occurrences(self, start: datetime, end: datetime) -> Iterator[Occurrence]:
        """Those that overlap this time, in any order."""
        for first in takewhile(lambda found: found < end, self.starts()):
            if first not in self.moved and first + self.duration > start:
                yield Occurrence(self, first)
        # A moved one may come from anywhere: what the rule gives in this time says nothing about it.
        for first in self.moved.values():
            if first < end and first + self.duration > start:
                yield Occurrence(self, first)


@dataclass(frozen=True)
class Occurrence:
    """One time at which an event happens."""

    event: Event
    start: datetime

    @property
    def end(self) -> datetime:
        return self.start + self.event.duration
