import pytest

from wiretap import Corrupt, EncodeError, Message, SchemaError, Truncated, decode, encode


def test_a_message_has_exactly_these_bytes(schemas, reading):
    message = Message(
        reading,
        sensor="roof",
        offset=-3,
        tags=["a", "bc"],
        place=Message(schemas["Place"], y=0.5),
        count=300,
        valid=True,
    )
    assert encode(message).hex() == (
        "0a04726f6f66"  # 1: "roof"
        "1805"  # 3: -3
        "220161"  # 4: "a"
        "22026263"  # 4: "bc"
        "2a0911000000000000e03f"  # 5: {2: 0.5}
        "30ac02"  # 6: 300
        "3801"  # 7: true
    )


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"sensor": "dächle", "value": -21.5},
        {"offset": -(2**63), "count": 2**64 - 1},
        {"tags": ["", "x", ""], "blob": b"\x00\xff"},
        {"count": 0, "valid": True},
    ],
)
def test_what_is_encoded_is_decoded(reading, values):
    message = Message(reading, **values)
    assert decode(reading, encode(message)).to_dict() == message.to_dict()


def test_defaults_are_not_written_and_come_back(reading):
    assert encode(Message(reading, count=1, sensor="", tags=[])) == b""
    empty = decode(reading, b"")
    assert (empty["count"], empty["sensor"], empty["tags"], empty["place"]) == (1, "", [], None)


def test_a_message_within_comes_back(schemas, reading):
    message = Message(reading, place=Message(schemas["Place"], x=1.5))
    assert decode(reading, encode(message))["place"]["x"] == 1.5


def test_the_last_of_several_values_counts(reading):
    assert decode(reading, bytes.fromhex("18021804"))["offset"] == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sensor": 5}, "field sensor of Reading: 5 is not a text"),
        ({"count": True}, "not a uint"),
        ({"tags": ["a", 1]}, "1 is not a text"),
        ({"place": {"x": 1}}, "not a Place"),
    ],
)
def test_a_value_of_another_kind_is_refused(reading, values, message):
    with pytest.raises(EncodeError, match=message):
        Message(reading, **values)


def test_a_field_that_is_not_there_is_an_error(reading):
    with pytest.raises(SchemaError, match="no field 'colour'"):
        Message(reading, colour="red")
    with pytest.raises(SchemaError, match="no field 'colour'"):
        Message(reading)["colour"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("0801", "field sensor has the wire type 0; expected 2"),
        ("0a01ff", "not UTF-8 at byte 2"),
        ("3802", "neither true nor false"),
        ("0000", "number 0"),
        ("0b", "wire type 3"),
    ],
)
def test_bytes_that_cannot_be_right_are_corrupt(reading, data, message):
    with pytest.raises(Corrupt, match=message):
        decode(reading, bytes.fromhex(data))


@pytest.mark.parametrize("data", ["0a", "0a04", "0a04726f6f", "11000000", "30ac"])
def test_bytes_that_end_inside_a_field_are_truncated(reading, data):
    with pytest.raises(Truncated):
        decode(reading, bytes.fromhex(data))


def test_a_message_can_be_had_with_other_values(reading):
    message = Message(reading, sensor="roof", count=2)
    other = message.replace(count=3)
    assert (message["count"], other["count"], other["sensor"]) == (2, 3, "roof")
    assert message != other


def test_a_message_is_a_dictionary_too(schemas):
    assert Message(schemas["Place"], x=1).to_dict() == {"x": 1, "y": 0.0}


def test_fields_of_a_newer_schema_survive(schemas, reading):
    new = Message(reading, sensor="roof", value=2.5, tags=["a", "b"])
    old = decode(schemas["Place"], encode(Message(reading, value=2.5, tags=["a", "b"])))
    assert old["y"] == 2.5
    assert decode(reading, encode(old.replace(x=0.0))).to_dict() == new.replace(sensor="").to_dict()
