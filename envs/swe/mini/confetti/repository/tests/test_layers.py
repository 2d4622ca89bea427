import pytest

from confetti import Config, MissingKey, from_dict, from_env


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2, "z": 2}}, {"a": {"x": 1, "y": 2, "z": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"x": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": {"x": 2}}, {"a": {"x": 2}}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}),
    ],
)
def test_two_layers(load, first, second, merged):
    assert load(first, second).as_dict() == merged


def test_origins(load):
    config = load({"a": {"x": 1, "y": 1}, "b": 1}, {"a": {"y": 2}}, {"b": {"z": 3}})
    assert [config.origin(key) for key in config.keys()] == ["1", "2", "3"]
    assert config.keys() == ["a.x", "a.y", "b.z"]


def test_an_origin_that_was_replaced_is_forgotten(load):
    with pytest.raises(MissingKey):
        load({"a": {"x": 1}}, {"a": 2}).origin("a.x")


def test_keys_may_be_asked_for(load):
    config = load({"a": {"x": None}})
    assert "a.x" in config
    assert "a" in config
    assert "a.y" not in config
    assert "a.x.y" not in config


def test_a_missing_key_is_named_with_a_hint(load):
    with pytest.raises(MissingKey, match="no layer has 'server.prot'; did you mean 'server.port'"):
        load({"server": {"port": 1}}).get("server.prot")


def test_layers_of_all_kinds():
    config = Config.load(
        from_dict({"server": {"host": "localhost", "port": 8000}}, name="defaults"),
        from_env("APP", {"APP_SERVER__PORT": "9000", "HOME": "/root"}),
    )
    assert config.get("server.host") == "localhost"
    assert config.get_int("server.port") == 9000
    assert config.origin("server.port") == "environment"
