import pytest

from confetti import InterpolationError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${host}", "example.org"),
        ("http://${host}:${port}/", "http://example.org:80/"),
        ("${port}", 80),
        ("${names}", ["a", "b"]),
        ("${debug} x", "true x"),
        ("${none:-nobody}", "nobody"),
        ("${host:-nobody}", "example.org"),
        ("${none:-}", ""),
        ("$${host}", "${host}"),
        ("$5 and ${port}", "$5 and 80"),
        ("${server.path}/x", "/srv/x"),
        ("plain", "plain"),
    ],
)
def test_references(load, text, expected):
    values = {"host": "example.org", "port": 80, "names": ["a", "b"], "debug": True, "server": {"path": "/srv"}}
    assert load({**values, "key": text}).get("key") == expected


def test_references_in_lists_and_tables(load):
    config = load({"a": 1, "list": ["${a}", "x${a}"], "table": {"b": "${a}"}})
    assert config.get("list") == [1, "x1"]
    assert config.get("table") == {"b": 1}


def test_a_reference_to_nothing(load):
    with pytest.raises(InterpolationError, match="'none', which no layer has"):
        load({"key": "${none}"}).get("key")


@pytest.mark.parametrize(("value", "kind"), [([1], "list"), ({"x": 1}, "table")])
def test_what_is_no_part_of_a_text(load, value, kind):
    with pytest.raises(InterpolationError, match=f"is a {kind}"):
        load({"a": value, "key": "x${a}"}).get("key")


def test_the_default_of_a_call_has_references(load):
    assert load({"port": 80}).get_str("url", "http://x:${port}/") == "http://x:80/"
