"""Sets of intervals. An interval holds its start and not its end, so that neighbours touch without overlapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from chronicle.errors import ChronicleError
from chronicle.zones import aware


class Interval(NamedTuple):
    """From a start up to an end."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start


class Intervals:
    """A set of moments, as intervals that are in order and do not touch."""

    def __init__(self, intervals: Iterable[tuple[datetime, datetime]] = ()) -> None:
        merged: list[Interval] = []
        for start, end in sorted((aware(start), aware(end)) for start, end in intervals):
            if end < start:
                raise ChronicleError(f"an interval cannot end at {end}, before it starts at {start}")
            if start == end:
                continue
            if merged and start <= merged[-1].end:
                merged[-1] = Interval(merged[-1].start, max(end, merged[-1].end))
            else:
                merged.append(Interval(start, end))
        self._intervals = tuple(merged)

    def __iter__(self) -> Iterator[Interval]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def __contains__(self, moment: object) -> bool:
        return isinstance(moment, datetime) and any(start <= moment < end for start, end in self)

    def __eq__(self, other: object) -> bool:
        return self._intervals == other._intervals if isinstance(other, Intervals) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._intervals)

    def __repr__(self) -> str:
        parts = ", ".join(f"{start.isoformat()}/{end.isoformat()}" for start, end in self)
        return f"Intervals({parts})"

    @property
    def total(self) -> timedelta:
        """How long they are together."""
        return sum((interval.length for interval in self), timedelta())

    def __or__(self, other: Intervals) -> Intervals:
        return Intervals([*self, *other])

    def __and__(self, other: Intervals) -> Intervals:
        pairs = ((max(a.start, b.start), min(a.end, b.end)) for a in self for b in other)
        return Intervals((start, end) for start, end in pairs if start < end)

    def __sub__(self, other: Intervals) -> Intervals:
        left = []
        for start, end in self:
            for hole in other:
                if hole.end <= start or end <= hole.start:
                    continue
                if start < hole.start:
                    left.append((start, hole.start))
                start = min(hole.end, end)
            left.append((start, end))
        return Intervals(left)
