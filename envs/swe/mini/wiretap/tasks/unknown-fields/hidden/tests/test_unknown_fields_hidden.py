import pytest

from wiretap import Corrupt, Message, SchemaError, Truncated, decode, encode, parse_schemas

OLD = """
message Place {
  2: y f64
}
message Order {
  3: name text
  5: places Place[]
  6: home Place
  20: count uint = 1
}
"""
NEW = """
message Place {
  1: label text
  2: y f64
  3: x f64
  4: levels int[]
}
message Order {
  1: sender text
  2: flag bool
  3: name text
  4: price f64
  5: places Place[]
  6: home Place
  17: tags text[]
  20: count uint = 1
  21: notes text[]
  300: blob bytes
}
"""


@pytest.fixture(scope="module")
def old():
    return parse_schemas(OLD)


@pytest.fixture(scope="module")
def new():
    return parse_schemas(NEW)


@pytest.fixture
def full(new):
    def place(number):
        return Message(new["Place"], label=f"p{number}", y=float(number), x=-1.0, levels=[number, -number, 0])

    return Message(
        new["Order"],
        sender="me",
        flag=True,
        name="box",
        price=9.5,
        places=[place(1), place(2)],
        home=place(3),
        tags=["z", "a", "m", "a"],
        count=7,
        notes=["second", "first"],
        blob=b"\x00\xff",
    )


def relayed(schema, message):
    return encode(decode(schema, encode(message)))


def test_an_older_schema_gives_back_the_same_bytes(old, full):
    assert relayed(old["Order"], full).hex() == (
        "0a026d6510011a03626f782100000000000023402a1c0a02703111000000000000f03f19000000000000f0bf2002200120002a1c"
        "0a02703211000000000000004019000000000000f0bf200420032000321c0a02703311000000000000084019000000000000f0bf"
        "2006200520008a01017a8a0101618a01016d8a010161a00107aa01067365636f6e64aa01056669727374e2120200ff"
    )


@pytest.mark.parametrize(
    ("data", "changed"),
    [
        ("1001", "1001a00109"),
        ("0a016a1a0178", "0a016a1a0178a00109"),
        ("210000000000002340", "210000000000002340a00109"),
        ("8a01017a8a010161", "8a01017a8a010161a00109"),
        ("1a0178a00107aa01016e", "1a0178a00109aa01016e"),
        ("32030a0170", "32030a0170a00109"),
    ],
    ids=["varint", "text", "f64", "repeated", "on-both-sides", "within"],
)
def test_every_field_is_in_its_place(old, data, changed):
    assert encode(decode(old["Order"], bytes.fromhex(data)).replace(count=9)).hex() == changed


def test_values_of_a_repeated_field_stay_in_order(old, new, full):
    assert decode(new["Order"], relayed(old["Order"], full))["tags"] == ["z", "a", "m", "a"]
    assert decode(new["Order"], relayed(old["Order"], full))["notes"] == ["second", "first"]


def test_messages_within_keep_theirs(old, new, full):
    back = decode(new["Order"], relayed(old["Order"], full))
    assert [place["label"] for place in back["places"]] == ["p1", "p2"]
    assert back["home"]["levels"] == [3, -3, 0]


def test_a_changed_message_keeps_them(old, new, full):
    message = decode(old["Order"], encode(full)).replace(name="crate").replace(count=8)
    assert encode(message).hex() == (
        "0a026d6510011a0563726174652100000000000023402a1c0a02703111000000000000f03f19000000000000f0bf200220012000"
        "2a1c0a02703211000000000000004019000000000000f0bf200420032000321c0a02703311000000000000084019000000000000"
        "f0bf2006200520008a01017a8a0101618a01016d8a010161a00108aa01067365636f6e64aa01056669727374e2120200ff"
    )
    assert message["name"] == "crate"


def test_a_field_that_was_not_there_is_put_into_its_place(old, new):
    sent = Message(new["Order"], sender="me", tags=["a"])
    message = decode(old["Order"], encode(sent)).replace(name="box")
    assert encode(message).hex() == "0a026d651a03626f788a010161"


def test_a_field_set_back_to_its_default_goes_alone(old, new):
    sent = Message(new["Order"], sender="me", name="box")
    assert encode(decode(old["Order"], encode(sent)).replace(name="")).hex() == "0a026d65"


def test_messages_that_differ_in_them_are_not_equal(old, new, full):
    first = decode(old["Order"], encode(full))
    assert first == decode(old["Order"], encode(full))
    assert first != decode(old["Order"], encode(full.replace(sender="you")))
    assert first != decode(old["Order"], encode(full.replace(tags=["a", "z", "m", "a"])))
    assert first != first.replace(count=8)
    assert decode(old["Order"], b"").to_dict() == {"name": "", "places": [], "home": None, "count": 1}


def test_they_have_no_names(old, full):
    message = decode(old["Order"], encode(full))
    assert list(message.to_dict()) == ["name", "places", "home", "count"]
    with pytest.raises(SchemaError):
        message["sender"]
    assert encode(Message(old["Order"], name="x")).hex() == "1a0178"


@pytest.mark.parametrize(
    ("data", "error"),
    [("0a05", Truncated), ("2100", Truncated), ("0880", Truncated), ("0b", Corrupt), ("0000", Corrupt)],
)
def test_bytes_that_are_wrong_stay_wrong(old, data, error):
    with pytest.raises(error):
        decode(old["Order"], bytes.fromhex(data))
