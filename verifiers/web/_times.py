"""Answers in time: a date, a time of day, how long something takes. Nothing is guessed: what can be read in two ways is
wrong, unless the task says which way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time
from fractions import Fraction
from typing import Literal

from agent_envs.verifiers.web._kind import Kind, Unreadable, brief, quoted

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_OF = {name: n for n, full in enumerate(_MONTHS, start=1) for name in (full, full[:3])} | {"sept": 9}
_DAY_OF = {name: n for n, full in enumerate(_DAYS) for name in (full, full[:3])} | {
    "tues": 1, "weds": 2, "thur": 3, "thurs": 3
}  # fmt: skip
_ISO = re.compile(r"(?P<y>[0-9]{4})(?P<s>[-/.])(?P<m>[0-9]{1,2})(?P=s)(?P<d>[0-9]{1,2})")
_COMPACT = re.compile(r"(?P<y>[12][0-9]{3})(?P<m>[0-9]{2})(?P<d>[0-9]{2})")
_CHINESE = re.compile(r"(?:(?P<y>[0-9]{4}) ?年 ?)?(?P<m>[0-9]{1,2}) ?月 ?(?P<d>[0-9]{1,2}) ?[日号]")
_DAY_FIRST = re.compile(r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?[ -](?:of )?(?P<month>[a-z]+)\.?,?(?:[ -](?P<y>[0-9]{4}))?")
_MONTH_FIRST = re.compile(r"(?P<month>[a-z]+)\.? (?P<d>[0-9]{1,2})(?:st|nd|rd|th)?(?:,? (?P<y>[0-9]{4}))?")
_TWO_NUMBERS = re.compile(r"(?P<one>[0-9]{1,2})(?P<s>[-/.])(?P<two>[0-9]{1,2})(?P=s)(?P<y>[0-9]{4})")
_WEEKDAY = re.compile(r"(?P<day>[a-z]+)\.?,? (?=[0-9a-z])")
_CLOCK = re.compile(r"(?P<h>[0-9]{1,2})(?:[:.h](?P<m>[0-9]{2})(?::(?P<s>[0-9]{2}))?)? ?(?P<half>a\.?m\.?|p\.?m\.?)?")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_UNIT_OF = {
    "d": "d", "day": "d", "days": "d", "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "m": "m",
    "min": "m", "mins": "m", "minute": "m", "minutes": "m", "s": "s", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s",
}  # fmt: skip
_SPAN = re.compile(r"(?P<n>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?(?P<unit>[a-z]+)\.?(?:,? and |, | )?")
_ISO_SPAN = re.compile(
    r"p(?:(?P<d>[0-9]{1,9})d)?(?:t(?:(?P<h>[0-9]{1,9})h)?(?:(?P<m>[0-9]{1,9})m)?(?:(?P<s>[0-9]{1,9})s)?)?"
)
_COLONS = re.compile(r"(?P<h>[0-9]{1,4}):(?P<m>[0-5][0-9])(?::(?P<s>[0-5][0-9]))?")


class Date(Kind, frozen=True, tag="date"):
    """A date: `2026-03-04`, `March 4, 2026`, `Wed 4 Mar 2026`, `2026年3月4日`. A wrong day of the week is wrong."""

    order: Literal["", "mdy", "dmy"] = ""
    """How 03/04/2026 is read. Without it such a date is wrong, but 13/04/2026 has only one reading."""
    year: int = 0
    """The year that is meant where the answer names none; 0: an answer without a year is wrong."""

    def contradictions(self) -> Iterator[str]:
        """A year outside the calendar."""
        if not 0 <= self.year <= 9999:
            yield f"`year` is {self.year}; expected 1 to 9999, or none"

    def value(self, text: str) -> date:
        """The one day that the text names."""
        line = brief(text).casefold().removesuffix(".")
        weekday = None
        if (match := _WEEKDAY.match(line)) and match["day"] in _DAY_OF:
            weekday, line = _DAY_OF[match["day"]], line[match.end() :]
        found = self._numbers(line) or self._words(line)
        if found is None:
            raise Unreadable(f"{quoted(text)} is not one date")
        if weekday not in (None, found.weekday()):
            raise Unreadable(f"{quoted(text)} contradicts itself: that day is a {_DAYS[found.weekday()].title()}")
        return found

    def _words(self, line: str) -> date | None:
        match = _DAY_FIRST.fullmatch(line) or _MONTH_FIRST.fullmatch(line)
        if match is None or match["month"] not in _MONTH_OF:
            return None
        return self._day(match["y"], _MONTH_OF[match["month"]], match["d"])

    def _numbers(self, line: str) -> date | None:
        if match := _ISO.fullmatch(line) or _COMPACT.fullmatch(line) or _CHINESE.fullmatch(line):
            return self._day(match["y"], match["m"], match["d"])
        if match := _TWO_NUMBERS.fullmatch(line):
            one, two = int(match["one"]), int(match["two"])
            readings = {"mdy": (one, two), "dmy": (two, one)}
            possible = {pair for pair in readings.values() if pair[0] <= 12}
            if len(possible) > 1 and not self.order:
                raise Unreadable(f"{quoted(line)} can be read as two dates; write the month as a word, or year first")
            if possible:
                return self._day(match["y"], *(readings[self.order] if len(possible) > 1 else possible.pop()))
        return None

    def _day(self, year: str | None, month: str | int, day: str | int) -> date:
        if not year and not self.year:
            raise Unreadable("the date has no year")
        try:
            return date(int(year or self.year), int(month), int(day))
        except ValueError:
            raise Unreadable(f"there is no day {day} of month {month} in that year") from None


class Time(Kind, frozen=True, tag="time"):
    """A time of day: `14:30`, `2:30 pm`, `14h30`, `noon`. Without am or pm it is one of 24 hours."""

    def value(self, text: str) -> time:
        """The one time that the text names."""
        line = brief(text).casefold().removesuffix(".")
        if line in {"noon", "midday", "midnight"}:
            return time(0 if line == "midnight" else 12)
        match = _CLOCK.fullmatch(line)
        if match is None or not (match["m"] or match["half"]):
            raise Unreadable(f"{quoted(text)} is not one time of day")
        hour = int(match["h"])
        if match["half"]:
            if not 1 <= hour <= 12:
                raise Unreadable(f"{quoted(text)}: there is no such hour of half a day")
            hour = hour % 12 + (12 if match["half"].startswith("p") else 0)
        try:
            return time(hour, int(match["m"] or 0), int(match["s"] or 0))
        except ValueError:
            raise Unreadable(f"{quoted(text)}: there is no such time of day") from None


class Duration(Kind, frozen=True, tag="duration"):
    """How long: `2h 5m`, `2 hours and 5 minutes`, `125 min`, `2:05` (hours and minutes), `PT2H5M`."""

    unit: Literal["", "days", "hours", "minutes", "seconds"] = ""
    """What a bare number counts; without it a bare number is wrong."""

    def value(self, text: str) -> Fraction:
        """The duration in seconds."""
        line = brief(text).casefold().removesuffix(".")
        if self.unit and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", line):
            return Fraction(line) * _UNITS[self.unit[0]]
        for pattern in (_COLONS, _ISO_SPAN):
            if (match := pattern.fullmatch(line)) and any(match.groups()):
                parts = match.groupdict()
                return Fraction(sum(int(parts[unit] or 0) * _UNITS[unit] for unit in parts))
        return self._sum(line, text)

    def gold(self, expected: object) -> Fraction:
        """A number of JSON counts the stated unit."""
        if isinstance(expected, int | float) and not isinstance(expected, bool) and self.unit:
            expected = str(expected)
        value: Fraction = Kind.gold(self, expected)
        return value

    @staticmethod
    def _sum(line: str, text: str) -> Fraction:
        total, place, last = Fraction(0), 0, 10**9
        while match := _SPAN.match(line, place):
            size = _UNITS.get(_UNIT_OF.get(match["unit"], ""), 0)
            if not 0 < size < last:  # units that repeat or grow make two durations, not one
                raise Unreadable(f"{quoted(text)} is not one duration")
            total, place, last = total + Fraction(match["n"]) * size, match.end(), size
        if place < len(line) or not place:
            raise Unreadable(f"{quoted(text)} is not one duration")
        return total
