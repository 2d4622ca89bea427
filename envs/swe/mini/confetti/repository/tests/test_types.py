import pytest

from confetti import BadValue, MissingKey


@pytest.mark.parametrize(
    ("getter", "value", "expected"),
    [
        ("get_str", "a", "a"),
        ("get_str", 1.5, "1.5"),
        ("get_str", True, "true"),
        ("get_int", 42, 42),
        ("get_int", "-7", -7),
        ("get_int", "1_000", 1000),
        ("get_float", "2.5", 2.5),
        ("get_float", 2, 2.0),
        ("get_bool", True, True),
        ("get_bool", "yes", True),
        ("get_list", "a, b", ["a", "b"]),
        ("get_list", "", []),
        ("get_list", [1], [1]),
    ],
)
def test_values(load, getter, value, expected):
    assert getattr(load({"key": value}), getter)("key") == expected


@pytest.mark.parametrize(
    ("getter", "value"),
    [
        ("get_str", ["a"]),
        ("get_str", {"a": 1}),
        ("get_int", "4.5"),
        ("get_int", 4.2),
        ("get_int", True),
        ("get_int", ""),
        ("get_float", "two"),
        ("get_float", False),
        ("get_list", 1),
    ],
)
def test_values_of_another_type(load, getter, value):
    with pytest.raises(BadValue, match=r"key is .* expected"):
        getattr(load({"key": value}), getter)("key")


def test_the_error_names_the_layer(load):
    with pytest.raises(BadValue, match=r"a.port is 'x' \(from 2\); expected an integer"):
        load({"a": {"port": 1}}, {"a": {"port": "x"}}).get_int("a.port")


@pytest.mark.parametrize("default", [None, 0, "", [], "text"])
def test_a_default_is_returned_as_it_is(load, default):
    assert load({}).get_int("key", default) == default


@pytest.mark.parametrize("value", [0, "", False, None, []])
def test_an_empty_value_is_a_value(load, value):
    assert load({"key": value}).get("key", "default") == value


def test_without_a_default_a_key_must_be_there(load):
    with pytest.raises(MissingKey):
        load({}).get_str("key")


def test_a_section(load):
    config = load({"a": {"b": {"c": "${d}"}}, "d": 1})
    assert config.section("a") == {"b": {"c": 1}}
    with pytest.raises(BadValue, match="expected a table"):
        config.section("d")
