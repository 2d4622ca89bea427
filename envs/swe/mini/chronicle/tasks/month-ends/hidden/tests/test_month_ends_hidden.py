from datetime import datetime, timedelta
from itertools import islice

import pytest

from chronicle import Calendar, Event, Rule, zone


def dates(rule, first, most=6):
    start = datetime.fromisoformat(f"{first}T09:30:00+02:00")
    return [f"{moment:%y-%m-%d}" for moment in islice(rule.starts(start), most)]


def test_the_31st_happens_in_long_months():
    assert dates(Rule("MONTHLY", count=5), "2024-01-31") == ["24-01-31", "24-03-31", "24-05-31", "24-07-31", "24-08-31"]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("2023-01-30", ["23-01-30", "23-03-30", "23-04-30", "23-05-30"]),
        ("2023-01-29", ["23-01-29", "23-03-29", "23-04-29", "23-05-29"]),
        ("2024-01-29", ["24-01-29", "24-02-29", "24-03-29", "24-04-29"]),
        ("2023-12-31", ["23-12-31", "24-01-31", "24-03-31", "24-05-31"]),
        ("2024-01-28", ["24-01-28", "24-02-28", "24-03-28", "24-04-28"]),
    ],
)
def test_short_months_are_left_out(first, expected):
    assert dates(Rule("MONTHLY"), first, 4) == expected


@pytest.mark.parametrize(
    ("interval", "first", "expected"),
    [
        (3, "2024-08-31", ["24-08-31", "25-05-31", "25-08-31", "26-05-31"]),
        (2, "2024-01-31", ["24-01-31", "24-03-31", "24-05-31", "24-07-31"]),
        (2, "2024-02-29", ["24-02-29", "24-04-29", "24-06-29", "24-08-29"]),
        (5, "2024-01-31", ["24-01-31", "26-07-31", "26-12-31", "27-05-31"]),
        (12, "2024-02-29", ["24-02-29", "28-02-29", "32-02-29", "36-02-29"]),
    ],
)
def test_intervals_are_counted_from_the_start(interval, first, expected):
    assert dates(Rule("MONTHLY", interval), first, 4) == expected


def test_leap_days_happen_in_leap_years():
    assert dates(Rule("YEARLY", count=3), "2024-02-29") == ["24-02-29", "28-02-29", "32-02-29"]
    assert dates(Rule("YEARLY", 3), "2024-02-29", 2) == ["24-02-29", "36-02-29"]
    assert dates(Rule("YEARLY"), "2096-02-29", 2) == ["96-02-29", "04-02-29"]


def test_the_count_is_of_what_happens():
    for count in (1, 2, 7):
        assert len(dates(Rule("MONTHLY", count=count), "2024-01-31", 100)) == count


def test_the_end_is_the_end():
    until = datetime(2024, 4, 30, 23, 0, tzinfo=zone("+02:00"))
    assert dates(Rule("MONTHLY", until=until), "2024-01-31") == ["24-01-31", "24-03-31"]


def test_a_day_that_never_comes_again_ends_with_the_calendar():
    assert dates(Rule("YEARLY", 9999), "2024-02-29") == ["24-02-29"]
    assert dates(Rule("YEARLY", 2), "9996-02-29") == ["96-02-29"]
    assert dates(Rule("MONTHLY"), "9999-10-31") == ["99-10-31", "99-12-31"]


def test_a_calendar_shows_nothing_in_short_months():
    calendar = Calendar()
    start = datetime(2024, 1, 31, 9, tzinfo=zone("Z"))
    calendar.add(Event("rent", "Rent", start, timedelta(hours=1), Rule("MONTHLY")))
    found = calendar.between(start, datetime(2024, 7, 1, tzinfo=zone("Z")))
    assert [occurrence.start.month for occurrence in found] == [1, 3, 5]
    assert {occurrence.start.hour for occurrence in found} == {9}
