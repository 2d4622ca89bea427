import pytest

from confetti import Field, Invalid, Schema

SCHEMA = Schema(
    {
        "server.host": Field(),
        "server.port": Field(type=int, minimum=1, maximum=65535),
        "log.level": Field(required=False, default="info", choices=("debug", "info")),
        "tags": Field(type=list, required=False),
    }
)


def test_values_are_converted_and_defaults_filled_in(load):
    config = load({"server": {"host": "x", "port": "80"}})
    assert SCHEMA.validate(config) == {"server.host": "x", "server.port": 80, "log.level": "info", "tags": None}


def test_all_problems_are_reported_in_the_order_of_the_fields(load):
    with pytest.raises(Invalid) as caught:
        SCHEMA.validate(load({"server": {"port": 0}}, {"log": {"level": "loud"}, "tags": 5}))
    assert caught.value.problems == [
        "no layer has 'server.host'; did you mean 'server.port'?",
        "server.port is 0 (from 1); expected at least 1",
        "log.level is 'loud' (from 2); expected one of debug, info",
        "tags is 5 (from 2); expected a list",
    ]


@pytest.mark.parametrize(("port", "fits"), [(1, True), (65535, True), (65536, False), ("x", False)])
def test_limits(load, port, fits):
    config = load({"server": {"host": "x", "port": port}})
    if fits:
        assert SCHEMA.validate(config)["server.port"] == port
    else:
        with pytest.raises(Invalid):
            SCHEMA.validate(config)


def test_a_closed_schema_knows_all_keys(load):
    schema = Schema({"a": Field(type=int)}, closed=True)
    with pytest.raises(Invalid, match=r"b.c \(from 1\) is not known"):
        schema.validate(load({"a": 1, "b": {"c": 2}}))
