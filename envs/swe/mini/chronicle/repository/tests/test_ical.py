from datetime import datetime, timedelta

import pytest

from chronicle import Calendar, Event, FormatError, Rule, from_text, to_text, zone
from chronicle.lines import escape, fold, unescape, unfold

TEXT = """\
BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:standup
SUMMARY:Stand-up
DTSTART:20240108T090000+0100
DURATION:PT15M
RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=MO,WE
EXDATE:20240110T090000+0100
MOVED:20240115T090000+0100/20240116T100000+0100
END:VEVENT
BEGIN:VEVENT
UID:ann
SUMMARY:Lunch with Ann
DTSTART:20240110T120000+0100
DURATION:PT1H
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n")


def test_a_calendar_has_exactly_this_text(calendar, at):
    calendar.skip("standup", at(10, 9))
    calendar.move("standup", at(15, 9), at(16, 10))
    assert to_text(calendar) == TEXT


def test_the_text_gives_the_same_calendar():
    assert to_text(from_text(TEXT)) == TEXT
    assert [event.uid for event in from_text(TEXT)] == ["standup", "ann"]


@pytest.mark.parametrize(
    "rule",
    [
        None,
        Rule("DAILY"),
        Rule("MONTHLY", 3, count=4),
        Rule("YEARLY", until=datetime(2030, 1, 1, tzinfo=zone("-05:00"))),
    ],
)
def test_rules_come_back(at, rule):
    calendar = Calendar()
    calendar.add(Event("x", "x", at(8), timedelta(hours=26, seconds=5), rule))
    (event,) = from_text(to_text(calendar))
    assert event == calendar.get("x")


@pytest.mark.parametrize(
    ("text", "value"),
    [("a, b; c", r"a\, b\; c"), ("two\nlines", r"two\nlines"), ("plain: text", "plain: text"), ("", "")],
)
def test_some_characters_have_a_backslash(text, value):
    assert escape(text) == value
    assert unescape(value) == text


@pytest.mark.parametrize("text", [r"C:\new", r"\\server\name, 2;", "\\", "\\\n", r"\n", r"a\,b"])
def test_a_backslash_comes_back(text):
    assert unescape(escape(text)) == text


def test_a_line_break_may_have_a_capital():
    assert unescape(r"two\Nlines") == "two\nlines"


@pytest.mark.parametrize("line", ["x" * 75, "x" * 76, "SUMMARY:" + "ä" * 100, "😀" * 60, "y " * 100])
def test_long_lines_are_folded_between_characters(line):
    folded = fold(line)
    assert all(len(piece.encode("utf-8")) <= 75 for piece in folded.split("\r\n"))
    assert list(unfold(folded)) == [line]


def test_unknown_properties_are_passed_over():
    text = TEXT.replace("SUMMARY:Stand-up", "LOCATION:Room 5\r\nSUMMARY:Stand-up")
    assert to_text(from_text(text)) == TEXT


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BEGIN:VCALENDAR\r\n", "", "begins with BEGIN:VCALENDAR"),
        ("UID:ann\r\n", "", "no UID"),
        ("DURATION:PT1H", "DURATION:1H", "'1H' cannot be read"),
        ("FREQ=WEEKLY", "FREQ=OFTEN", "'OFTEN' is no frequency"),
        ("20240110T120000+0100", "20240110T120000", "cannot be read"),
        ("END:VEVENT\r\nEND:VCALENDAR", "END:VCALENDAR", "no END:VEVENT"),
        ("VERSION:2.0", "VERSION", "is no property"),
        ("VERSION:2.0", "BEGIN:VTODO", "BEGIN:VTODO is not expected"),
    ],
)
def test_what_is_no_calendar_is_refused(old, new, message):
    with pytest.raises(FormatError, match=message):
        from_text(TEXT.replace(old, new))
