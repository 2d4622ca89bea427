from datetime import datetime, timedelta

import pytest

from chronicle import Calendar, Event, Rule, zone

BERLIN = zone("+01:00")


@pytest.fixture
def at():
    """A moment of January 2024 in Berlin."""

    def at(day, hour=0, minute=0):
        return datetime(2024, 1, day, hour, minute, tzinfo=BERLIN)

    return at


@pytest.fixture
def calendar(at):
    """A stand-up at 9:00 on Mondays and Wednesdays from the 8th, five times, and lunch with Ann on the 10th."""
    calendar = Calendar()
    rule = Rule("WEEKLY", count=5, weekdays=("MO", "WE"))
    calendar.add(Event("standup", "Stand-up", at(8, 9), timedelta(minutes=15), rule))
    calendar.add(Event("ann", "Lunch with Ann", at(10, 12), timedelta(hours=1)))
    return calendar
