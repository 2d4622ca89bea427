from datetime import datetime, timedelta

import pytest

from chronicle import (
    Calendar,
    Event,
    FormatError,
    NaiveTime,
    NoOccurrence,
    Rule,
    UnknownEvent,
    agenda,
    from_text,
    to_text,
    zone,
)


@pytest.fixture
def daily(at):
    """9:00 to 10:00 from the 1st to the 10th of January."""
    calendar = Calendar()
    calendar.add(Event("d", "Daily", at(1, 9), timedelta(hours=1), Rule("DAILY", count=10)))
    return calendar


def starts(calendar, start, end):
    return [f"{occurrence.start:%d %H:%M}" for occurrence in calendar.between(start, end)]


@pytest.mark.parametrize(
    ("day", "to", "window", "expected"),
    [
        (4, (4, 11), (4, 5), ["04 11:00"]),
        (4, (20, 8), (4, 5), []),
        (4, (20, 8), (20, 21), ["20 08:00"]),
        (9, (2, 7), (2, 3), ["02 07:00", "02 09:00"]),
        (9, (2, 12), (2, 3), ["02 09:00", "02 12:00"]),
        (2, (9, 12), (9, 11), ["09 09:00", "09 12:00", "10 09:00"]),
        (1, (4, 9), (1, 5), ["02 09:00", "03 09:00", "04 09:00", "04 09:00"]),
    ],
)
def test_it_is_where_it_went_and_not_where_it_was(daily, at, day, to, window, expected):
    daily.move("d", at(day, 9), at(*to))
    assert starts(daily, at(window[0]), at(window[1])) == expected


def test_it_keeps_its_duration_and_overlaps_at_the_edges(daily, at):
    daily.move("d", at(4, 9), at(4, 23, 30))
    (found,) = daily.between(at(5), at(5, 1))
    assert found.end == at(5, 0, 30)
    assert found.event.uid == "d"
    assert daily.between(at(5, 0, 30), at(5, 9)) == []
    assert daily.between(at(4, 10), at(4, 23, 30)) == []


def test_busy_and_free_follow(daily, at):
    daily.move("d", at(9, 9), at(4, 14))
    assert list(daily.busy(at(4), at(5))) == [(at(4, 9), at(4, 10)), (at(4, 14), at(4, 15))]
    assert [gap.length.total_seconds() / 3600 for gap in daily.free(at(4, 8), at(4, 18))] == [1, 4, 3]
    assert len(daily.busy(at(9), at(10))) == 0


def test_the_agenda_follows(daily, at):
    daily.move("d", at(4, 9), at(5, 7).astimezone(zone("-05:00")))
    expected = ["2024-01-05", "  07:00-08:00  Daily", "  09:00-10:00  Daily"]
    assert agenda(daily, at(4), days=2).splitlines() == expected


def test_the_number_of_occurrences_stays(daily, at):
    daily.move("d", at(10, 9), at(31, 9))
    daily.move("d", at(1, 9), at(2, 9))
    assert len(daily.between(at(1), at(31, 23))) == 10


def test_it_is_known_by_its_first_start(daily, at):
    daily.move("d", at(4, 9), at(4, 12))
    daily.move("d", at(4, 9), at(4, 15))
    assert starts(daily, at(4), at(5)) == ["04 15:00"]
    with pytest.raises(NoOccurrence):
        daily.move("d", at(4, 15), at(4, 18))
    daily.move("d", at(4, 9), at(4, 9))
    assert starts(daily, at(4), at(5)) == ["04 09:00"]
    assert "MOVED" not in to_text(daily)


def test_a_start_may_be_given_in_another_zone(daily, at):
    daily.move("d", at(4, 9).astimezone(zone("-08:00")), at(4, 12))
    assert starts(daily, at(4), at(5)) == ["04 12:00"]


def test_it_can_be_skipped(daily, at):
    daily.move("d", at(4, 9), at(5, 12))
    daily.skip("d", at(4, 9))
    assert starts(daily, at(4), at(6)) == ["05 09:00"]
    assert starts(from_text(to_text(daily)), at(4), at(6)) == ["05 09:00"]
    with pytest.raises(NoOccurrence):
        daily.move("d", at(4, 9), at(4, 12))


def test_moving_one_onto_another_leaves_both(daily, at):
    daily.move("d", at(4, 9), at(5, 9))
    daily.move("d", at(5, 9), at(6, 12))
    assert starts(daily, at(4), at(7)) == ["05 09:00", "06 09:00", "06 12:00"]


@pytest.mark.parametrize("start", [(4, 10), (11, 9), (4, 8, 59)])
def test_only_what_the_rule_gives_can_be_moved(daily, at, start):
    before = to_text(daily)
    with pytest.raises(NoOccurrence):
        daily.move("d", at(*start), at(20, 9))
    assert to_text(daily) == before
    assert starts(daily, at(20), at(21)) == []


def test_other_mistakes_change_nothing(daily, at):
    with pytest.raises(UnknownEvent):
        daily.move("x", at(4, 9), at(4, 12))
    with pytest.raises(NaiveTime):
        daily.move("d", at(4, 9), datetime(2024, 1, 4, 12))
    with pytest.raises(NaiveTime):
        daily.move("d", datetime(2024, 1, 4, 9), at(4, 12))
    assert starts(daily, at(4), at(5)) == ["04 09:00"]


def test_an_event_without_a_rule_can_be_moved(at):
    calendar = Calendar()
    calendar.add(Event("once", "Once", at(4, 9), timedelta(hours=1)))
    calendar.move("once", at(4, 9), at(2, 8))
    assert starts(calendar, at(1), at(10)) == ["02 08:00"]


def test_it_is_saved_in_the_order_of_the_first_starts(daily, at):
    daily.move("d", at(6, 9), at(3, 8))
    daily.move("d", at(4, 9), at(20, 12).astimezone(zone("-05:00")))
    daily.skip("d", at(5, 9))
    text = to_text(daily)
    assert text.splitlines()[8:11] == [
        "EXDATE:20240105T090000+0100",
        "MOVED:20240104T090000+0100/20240120T060000-0500",
        "MOVED:20240106T090000+0100/20240103T080000+0100",
    ]
    again = from_text(text)
    assert to_text(again) == text
    assert starts(again, at(3), at(7)) == ["03 08:00", "03 09:00"]
    assert len(again.between(at(20), at(21))) == 1


@pytest.mark.parametrize("value", ["20240104T090000+0100", "20240104T090000+0100/", "x/20240104T090000+0100", ""])
def test_a_line_that_cannot_be_read_is_refused(daily, value):
    text = to_text(daily).replace("END:VEVENT", f"MOVED:{value}\r\nEND:VEVENT")
    with pytest.raises(FormatError):
        from_text(text)
