from datetime import datetime, timedelta

import pytest

from chronicle import ChronicleError, NaiveTime, zone
from chronicle.zones import aware


@pytest.mark.parametrize(
    ("offset", "minutes"), [("+01:00", 60), ("-0330", -210), ("Z", 0), ("+00:00", 0), ("+14:00", 840)]
)
def test_a_zone_is_an_offset(offset, minutes):
    assert zone(offset).utcoffset(None) == timedelta(minutes=minutes)


@pytest.mark.parametrize("offset", ["", "1:00", "+1", "+01:60", "+24:00", "CET"])
def test_other_texts_are_no_offsets(offset):
    with pytest.raises(ChronicleError, match="not an offset"):
        zone(offset)


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(NaiveTime, match="has no zone"):
        aware(datetime(2024, 1, 8))
