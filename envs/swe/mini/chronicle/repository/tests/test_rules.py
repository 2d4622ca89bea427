from datetime import datetime
from itertools import islice

import pytest

from chronicle import ChronicleError, NaiveTime, Rule, zone

UTC = zone("Z")


def days(rule, first, most=5):
    start = datetime.fromisoformat(f"{first}T09:30:00+00:00")
    return [f"{moment:%Y-%m-%d}" for moment in islice(rule.starts(start), most)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("DAILY"), ["2024-01-08", "2024-01-09", "2024-01-10"]),
        (Rule("DAILY", interval=10), ["2024-01-08", "2024-01-18", "2024-01-28"]),
        (Rule("WEEKLY"), ["2024-01-08", "2024-01-15", "2024-01-22"]),
        (Rule("WEEKLY", interval=2), ["2024-01-08", "2024-01-22", "2024-02-05"]),
        (Rule("MONTHLY"), ["2024-01-08", "2024-02-08", "2024-03-08"]),
        (Rule("MONTHLY", interval=7), ["2024-01-08", "2024-08-08", "2025-03-08"]),
        (Rule("YEARLY"), ["2024-01-08", "2025-01-08", "2026-01-08"]),
    ],
)
def test_every_so_often(rule, expected):
    assert days(rule, "2024-01-08", 3) == expected


@pytest.mark.parametrize(
    ("weekdays", "interval", "expected"),
    [
        (("MO", "WE"), 1, ["2024-01-10", "2024-01-15", "2024-01-17", "2024-01-22"]),
        (("WE", "MO"), 2, ["2024-01-10", "2024-01-22", "2024-01-24", "2024-02-05"]),
        (("FR",), 1, ["2024-01-10", "2024-01-12", "2024-01-19", "2024-01-26"]),
    ],
)
def test_on_weekdays_after_the_first(weekdays, interval, expected):
    assert days(Rule("WEEKLY", interval, weekdays=weekdays), "2024-01-10", 4) == expected


def test_months_without_the_day_are_left_out():
    assert days(Rule("MONTHLY"), "2024-01-31", 4) == ["2024-01-31", "2024-03-31", "2024-05-31", "2024-07-31"]


def test_years_without_the_day_are_left_out():
    assert days(Rule("YEARLY"), "2024-02-29", 3) == ["2024-02-29", "2028-02-29", "2032-02-29"]


def test_a_count_is_the_number_of_occurrences():
    assert days(Rule("DAILY", count=2), "2024-01-08") == ["2024-01-08", "2024-01-09"]


def test_the_last_moment_is_included():
    rule = Rule("DAILY", until=datetime(2024, 1, 9, 9, 30, tzinfo=UTC))
    assert days(rule, "2024-01-08") == ["2024-01-08", "2024-01-09"]
    assert days(rule, "2024-01-10") == []


def test_time_ends_with_the_year_9999():
    assert days(Rule("YEARLY"), "9998-05-01") == ["9998-05-01", "9999-05-01"]
    assert days(Rule("DAILY"), "9999-12-30") == ["9999-12-30", "9999-12-31"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"freq": "HOURLY"}, "no frequency"),
        ({"freq": "DAILY", "interval": 0}, "at least 1"),
        ({"freq": "DAILY", "count": 0}, "at least 1"),
        ({"freq": "DAILY", "weekdays": ("MO",)}, "weekdays go with WEEKLY"),
        ({"freq": "WEEKLY", "weekdays": ("XX",)}, "'XX' is no weekday"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ChronicleError, match=message):
        Rule(**arguments)


def test_the_last_moment_has_a_zone():
    with pytest.raises(NaiveTime):
        Rule("DAILY", until=datetime(2024, 1, 9))
