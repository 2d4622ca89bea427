"""When something happens again; docs/rules.md says what the parts of a rule mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from itertools import count, islice, takewhile

from chronicle.errors import ChronicleError
from chronicle.zones import aware

FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True)
class Rule:
    """How often, how many times or how long, and on which days."""

    freq: str
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    weekdays: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.freq not in FREQUENCIES:
            raise ChronicleError(f"{self.freq!r} is no frequency; there are {', '.join(FREQUENCIES)}")
        if self.interval < 1 or (self.count is not None and self.count < 1):
            raise ChronicleError("the interval and the count of a rule are at least 1")
        if self.weekdays and self.freq != "WEEKLY":
            raise ChronicleError(f"weekdays go with WEEKLY, not with {self.freq}")
        unknown = [day for day in self.weekdays if day not in WEEKDAYS]
        if unknown:
            raise ChronicleError(f"{unknown[0]!r} is no weekday; there are {', '.join(WEEKDAYS)}")
        if self.until is not None:
            aware(self.until)

    def starts(self, first: datetime) -> Iterator[datetime]:
        """When something that starts first at this moment starts, in order; without end unless the rule has one."""
        found = self._candidates(first)
        if self.until is not None:
            last = self.until
            found = takewhile(lambda start: start <= last, found)
        return islice(found, self.count)

    def _candidates(self, first: datetime) -> Iterator[datetime]:
        match self.freq:
            case "DAILY":
                return _every(first, timedelta(days=self.interval))
            case "WEEKLY" if self.weekdays:
                return self._on_weekdays(first)
            case "WEEKLY":
                return _every(first, timedelta(weeks=self.interval))
            case "MONTHLY":
                return _on_the_same_day(first, self.interval)
        return _on_the_same_day(first, 12 * self.interval)

    def _on_weekdays(self, first: datetime) -> Iterator[datetime]:
        yield first
        days = sorted(WEEKDAYS.index(day) for day in set(self.weekdays))
        monday = first - timedelta(days=first.weekday())
        for start in _every(monday, timedelta(weeks=self.interval)):
            for day in days:
                moment = start + timedelta(days=day)
                if moment > first:
                    yield moment


def _every(first: datetime, distance: timedelta) -> Iterator[datetime]:
    moment = first
    while True:
        yield moment
        try:
            moment += distance
        except OverflowError:
            return


def _on_the_same_day(first: datetime, months: int) -> Iterator[datetime]:
    """The day of the first moment, so many months apart, where there is such a day."""
    for month in count(first.month - 1, months):
        year = first.year + month // 12
        if year > MAXYEAR:
            return
        try:
            yield first.replace(year=year, month=month % 12 + 1)
        except ValueError:
            continue
