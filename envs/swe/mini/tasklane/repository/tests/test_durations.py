import pytest

from tasklane import BadDuration, format_duration, parse_duration


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(0, 0), (2.5, 2.5), ("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("1d", 86400), (" 5m ", 300)],
)
def test_one_part(value, seconds):
    assert parse_duration(value) == seconds


@pytest.mark.parametrize("value", ["", "x", "5 parsecs", "-5s", -1, float("inf"), float("nan"), "m", "5m!"])
def test_what_is_no_duration(value):
    with pytest.raises(BadDuration, match="no duration"):
        parse_duration(value)


def test_seconds_are_written():
    assert format_duration(0) == "0s"
    assert format_duration(45) == "45s"
