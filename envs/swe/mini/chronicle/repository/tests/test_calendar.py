from datetime import timedelta

import pytest

from chronicle import ChronicleError, Event, Interval, Intervals, NoOccurrence, Rule, UnknownEvent, agenda, zone


def found(calendar, start, end):
    return [f"{occurrence.event.uid} {occurrence.start:%d %H:%M}" for occurrence in calendar.between(start, end)]


def test_what_happens_comes_in_order(calendar, at):
    assert found(calendar, at(8), at(15)) == ["standup 08 09:00", "standup 10 09:00", "ann 10 12:00"]


def test_the_same_moment_is_ordered_by_uid(calendar, at):
    for uid, offset in (("b", "+05:00"), ("a", "-05:00")):
        calendar.add(Event(uid, uid, at(12, 9).astimezone(zone(offset)), timedelta(hours=1)))
    assert [occurrence.event.uid for occurrence in calendar.between(at(12), at(13))] == ["a", "b"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((12, 59), (13, 30), 1),
        ((13, 0), (14, 0), 0),
        ((11, 0), (12, 0), 0),
        ((11, 0), (12, 1), 1),
        ((12, 20), (12, 30), 1),
    ],
)
def test_what_overlaps_happens(calendar, at, start, end, expected):
    assert len(calendar.between(at(10, *start), at(10, *end))) == expected


def test_busy_and_free_fill_the_time(calendar, at):
    day = at(10, 8), at(10, 18)
    busy = calendar.busy(*day)
    assert list(busy) == [(at(10, 9), at(10, 9, 15)), (at(10, 12), at(10, 13))]
    assert list(busy | Intervals(calendar.free(*day))) == [day]
    assert calendar.free(*day, at_least=timedelta(hours=3)) == [Interval(at(10, 13), at(10, 18))]


def test_busy_is_cut_to_the_time_that_is_asked_for(calendar, at):
    assert calendar.busy(at(10, 12, 30), at(10, 12, 45)).total == timedelta(minutes=15)


def test_one_occurrence_can_be_skipped(calendar, at):
    calendar.skip("standup", at(10, 9))
    assert found(calendar, at(8), at(31)) == [
        "standup 08 09:00",
        "ann 10 12:00",
        "standup 15 09:00",
        "standup 17 09:00",
        "standup 22 09:00",
    ]


@pytest.mark.parametrize("hour", [8, 10])
def test_only_what_happens_can_be_skipped(calendar, at, hour):
    with pytest.raises(NoOccurrence, match="does not happen"):
        calendar.skip("standup", at(10, hour))


def test_one_occurrence_can_be_moved(calendar, at):
    calendar.move("standup", at(10, 9), at(11, 10))
    assert found(calendar, at(8), at(12)) == ["standup 08 09:00", "ann 10 12:00", "standup 11 10:00"]
    assert len(calendar.between(at(1), at(31))) == 6


def test_a_moved_occurrence_is_known_by_its_first_start(calendar, at):
    calendar.move("standup", at(10, 9), at(11, 10))
    calendar.move("standup", at(10, 9), at(12, 11))
    assert found(calendar, at(11), at(13)) == ["standup 12 11:00"]
    calendar.move("standup", at(10, 9), at(10, 9))
    assert found(calendar, at(9), at(13)) == ["standup 10 09:00", "ann 10 12:00"]


def test_events_are_found_and_removed_by_uid(calendar):
    assert calendar.get("ann").title == "Lunch with Ann"
    assert calendar.remove("ann").uid == "ann"
    assert len(calendar) == 1
    with pytest.raises(UnknownEvent, match="'ann'"):
        calendar.get("ann")


def test_a_uid_is_used_once(calendar, at):
    with pytest.raises(ChronicleError, match="already"):
        calendar.add(Event("ann", "Dinner", at(10, 18), timedelta(hours=1)))


def test_an_event_lasts(at):
    with pytest.raises(ChronicleError, match="longer than nothing"):
        Event("x", "x", at(8), timedelta(), Rule("DAILY"))


def test_the_agenda_is_in_the_zone_of_the_reader(calendar, at):
    assert agenda(calendar, at(9).astimezone(zone("+09:00")), days=3).splitlines() == [
        "2024-01-10",
        "  17:00-17:15  Stand-up",
        "  20:00-21:00  Lunch with Ann",
    ]
