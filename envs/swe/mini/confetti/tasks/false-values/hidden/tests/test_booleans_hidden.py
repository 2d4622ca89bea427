import pytest

from confetti import BadValue, Config, Field, Invalid, Schema, from_dict, from_env


@pytest.mark.parametrize("text", ["false", "no", "off", "0", "False", "NO", "oFF", " false ", "off\t"])
def test_words_for_false(load, text):
    assert load({"key": text}).get_bool("key") is False


@pytest.mark.parametrize("text", ["true", "yes", "on", "1", "True", "YES", "On", " true "])
def test_words_for_true(load, text):
    assert load({"key": text}).get_bool("key") is True


@pytest.mark.parametrize(("value", "expected"), [(True, True), (False, False), (1, True), (0, False)])
def test_values_that_are_no_texts(load, value, expected):
    assert load({"key": value}).get_bool("key") is expected


@pytest.mark.parametrize("value", ["", " ", "flase", "truee", "3", "yes please", 2, -1, 0.5, None, [], ["true"], {}])
def test_everything_else_is_an_error(load, value):
    with pytest.raises(BadValue, match="key is .* expected"):
        load({"key": value}).get_bool("key")


def test_the_environment():
    config = Config.load(from_dict({"debug": True}), from_env("APP", {"APP_DEBUG": "false", "APP_COLOR": "flase"}))
    assert config.get_bool("debug") is False
    with pytest.raises(BadValue, match=r"color is 'flase' \(from environment\); expected one of true, yes"):
        config.get_bool("color")


def test_references_and_defaults(load):
    config = load({"debug": "off", "verbose": "${debug}", "quiet": "${none:-yes}"})
    assert config.get_bool("verbose") is False
    assert config.get_bool("quiet") is True
    assert config.get_bool("none", default=False) is False


def test_a_schema_converts_them(load):
    schema = Schema({"debug": Field(type=bool)})
    assert schema.validate(load({"debug": "no"})) == {"debug": False}
    with pytest.raises(Invalid, match="debug is 'nope'"):
        schema.validate(load({"debug": "nope"}))


@pytest.mark.parametrize("value", [1.0, 0.0, "1.0", "0.0", "00", "01", "t", "f", "y", "n", "none", "enabled", "- off"])
def test_what_looks_like_a_boolean_and_is_none(load, value):
    config = load({"key": value, "other": "On"})
    with pytest.raises(BadValue, match="key is .* expected one of true, yes, on, 1, false, no, off, 0"):
        config.get_bool("key")
    assert config.get_bool("other") is True
    assert config.get("key") == value
