"""How the site writes things: days, times, durations, seats."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from agent_envs.envs.web.sites.flights._departures import Seat
from agent_envs.envs.web.sites.flights._fares import CABINS, MEALS, money
from agent_envs.envs.web.sites.flights._places import AIRPORTS


def long_day(value: date | str) -> str:
    """`Tuesday, 17 March 2026`"""
    day = _day(value)
    return f"{day:%A}, {day.day} {day:%B %Y}"


def short_day(value: date | str) -> str:
    """`Tue 17 Mar`"""
    day = _day(value)
    return f"{day:%a} {day.day} {day:%b}"


def duration(minutes: int) -> str:
    """`2 h 05 min`"""
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"


def clock(value: datetime) -> str:
    """`07:05`"""
    return f"{value:%H:%M}"


def days_later(start: datetime, end: datetime) -> str:
    """`+1 day`, where something ends on a later day than it begins."""
    days = (end.date() - start.date()).days
    return "" if not days else f"{days:+d} day{'s' if abs(days) > 1 else ''}"


def seat_name(seat: Seat, state: str, cents: int = 0) -> str:
    """`Seat 12A, window, available`, with what else one wants to know."""
    notes = [f"Seat {seat.code}", seat.kind, state]
    notes += ["exit row"] if seat.exit_row else []
    notes += [money(cents)] if cents else []
    return ", ".join(notes)


def listed(words: Iterable[str]) -> str:
    """`one, two and three`"""
    found = list(words)
    return " and ".join([", ".join(found[:-1]), found[-1]]) if len(found) > 1 else "".join(found)


def _day(value: date | str) -> date:
    return date.fromisoformat(value[:10]) if isinstance(value, str) else value


WORDS = {
    "long_day": long_day, "short_day": short_day, "duration": duration, "clock": clock, "days_later": days_later,
    "listed": listed, "money": money, "airports": AIRPORTS, "cabins": CABINS, "meals": MEALS, "timedelta": timedelta,
}  # fmt: skip
"""What every template knows."""
