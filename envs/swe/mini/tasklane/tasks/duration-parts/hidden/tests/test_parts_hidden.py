import pytest

from tasklane import BadDuration, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d 12h", 216000),
        ("1h 5s", 3605),
        ("1d1h1m1s", 90061),
        ("1s500ms", 1.5),
        ("250ms", 0.25),
        ("1h2.5m", 3750),
        (" 1h30m ", 5400),
    ],
)
def test_several_parts(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["30m1h", "5m5m", "1m1m", "1h30", "1h foo", "1.5h30m", "h", "1hh", "1h,30m", "5ms1s", "", " ", "-1h30m"]
)
def test_what_is_still_no_duration(text):
    with pytest.raises(BadDuration):
        parse_duration(text)


@pytest.mark.parametrize(
    ("value", "seconds"), [("90", 90), ("2.5", 2.5), (7, 7), ("45s", 45), ("1.5h", 5400), ("2d", 172800)]
)
def test_what_was_read_before(value, seconds):
    assert parse_duration(value) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5400, "1h30m"),
        (216000, "2d12h"),
        (1.5, "1s500ms"),
        (0.25, "250ms"),
        (0, "0s"),
        (59.9999, "1m"),
        (3600, "1h"),
        (86401, "1d1s"),
    ],
)
def test_the_shortest_text(seconds, text):
    assert format_duration(seconds) == text


def test_a_queue_takes_them(queue, clock):
    assert queue.put("job", delay="1m30s").due == 1090.0
