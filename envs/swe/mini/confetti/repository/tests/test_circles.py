import pytest

from confetti import InterpolationError


def test_a_circle_is_named(load):
    with pytest.raises(InterpolationError, match="a -> b -> a"):
        load({"a": "${b}", "b": "x${a}"}).get("a")


def test_a_later_layer_is_seen(load):
    assert load({"port": 80, "url": "x:${port}"}, {"port": 81}).get("url") == "x:81"
