import unittest
from datetime import datetime, timedelta

import pytest

from chronicle import Calendar, Event, from_text, to_text, zone

TEMPLATE = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:{}\r\n"
    "DTSTART:20240108T090000+0000\r\nDURATION:PT1H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def title_of(value):
    (event,) = from_text(TEMPLATE.format(value))
    return event.title


def calendar_with(uid, title):
    calendar = Calendar()
    calendar.add(Event(uid, title, datetime(2024, 1, 8, 9, tzinfo=zone("Z")), timedelta(hours=1)))
    return calendar


@pytest.mark.parametrize(
    "text",
    [
        "Clean up C:\\new",
        "\\\\server\\Notes\\names",
        "\\n",
        "\\\n",
        "\n\\",
        "\\\\n",
        "\\\\\n",
        "a\\,b\\;c",
        "one, two; three\nfour",
        "\\",
        "ä\\ö\\nü",
        "tab\\t and \\x41",
    ],
    ids=range(12),
)
def test_titles_and_uids_come_back(text):
    (event,) = from_text(to_text(calendar_with(f"uid {text}", text)))
    assert event.title == text
    assert event.uid == f"uid {text}"


class Reading(unittest.TestCase):
    def test_a_protected_backslash_protects_nothing(self):
        self.assertEqual(title_of("C:\\\\new"), "C:\\new")
        self.assertEqual(title_of("C:\\\\New"), "C:\\New")
        self.assertEqual(title_of("\\\\\\\\n"), "\\\\n")

    def test_line_breaks_are_read_in_both_forms(self):
        self.assertEqual(title_of("one\\ntwo\\Nthree"), "one\ntwo\nthree")
        self.assertEqual(title_of("\\\\\\n"), "\\\n")

    def test_other_characters_lose_their_backslash(self):
        self.assertEqual(title_of("a\\,b\\;c\\:d\\te"), "a,b;c:dte")

    def test_a_backslash_at_the_end_stands_for_itself(self):
        self.assertEqual(title_of("end\\"), "end\\")

    def test_what_is_written_stays_the_same(self):
        text = to_text(calendar_with("1", "C:\\new, or\nnot; \\"))
        self.assertEqual(text, TEMPLATE.format("C:\\\\new\\, or\\nnot\\; \\\\"))
