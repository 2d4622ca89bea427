import pytest

from tasklane import format_duration, parse_duration


@pytest.mark.parametrize(("text", "seconds"), [("1h30m", 5400), ("2d12h", 216000), ("500ms", 0.5)])
def test_parts_are_read_and_written(text, seconds):
    assert parse_duration(text) == seconds
    assert format_duration(seconds) == text
