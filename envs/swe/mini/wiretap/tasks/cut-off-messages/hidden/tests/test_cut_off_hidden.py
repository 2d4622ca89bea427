import pytest

from wiretap import Corrupt, Message, Truncated, decode, encode
from wiretap.varint import decode_varint

WHOLE = bytes.fromhex(
    "0a04726f6f66"  # 1: "roof", up to 6
    "110000000000803540"  # 2: 21.5, up to 15
    "2a09110000000000000840"  # 5: {2: 3.0}, up to 26
    "30ac02"  # 6: 300, up to 29
    "4a8001" + "ab" * 128  # 9: 128 bytes, up to 160
)
ENDS = [0, 6, 15, 26, 29, 160]


def test_the_whole_message_is_fine(schemas, reading):
    place = Message(schemas["Place"], y=3.0)
    message = Message(reading, sensor="roof", value=21.5, place=place, count=300, blob=b"\xab" * 128)
    assert encode(message) == WHOLE
    assert decode(reading, WHOLE).to_dict() == message.to_dict()


def test_every_other_end_is_truncated(reading):
    fine = []
    for end in range(len(WHOLE) + 1):
        try:
            decode(reading, WHOLE[:end])
        except Truncated:
            continue
        fine.append(end)
    assert fine == ENDS


def test_what_the_schema_does_not_know_is_checked_too(schemas):
    tail = WHOLE[15:]
    fine = []
    for end in range(len(tail) + 1):
        try:
            decode(schemas["Place"], tail[:end])
        except Truncated:
            continue
        fine.append(end)
    assert fine == [0, 11, 14, 145]


@pytest.mark.parametrize(
    ("data", "position"),
    [("0a04726f6f6630ac", 7), ("0a04726f", 2), ("110000", 1), ("0a", 1), ("0a80", 1), ("80", 0), ("4a05", 2)],
)
def test_the_position_is_where_the_cut_off_part_starts(reading, data, position):
    with pytest.raises(Truncated) as refusal:
        decode(reading, bytes.fromhex(data))
    assert refusal.value.position == position


def test_a_message_within_may_be_cut_off_although_its_length_is_right(reading):
    with pytest.raises(Truncated):
        decode(reading, bytes.fromhex("2a03110000"))


@pytest.mark.parametrize(("data", "position"), [("", 0), ("80", 0), ("ffff", 0), ("05", 1), ("05ff", 1), ("80" * 9, 0)])
def test_a_number_alone_is_truncated(data, position):
    with pytest.raises(Truncated) as refusal:
        decode_varint(bytes.fromhex(data), position)
    assert refusal.value.position == position


def test_whole_numbers_are_read_up_to_the_last_byte():
    assert decode_varint(bytes.fromhex("ac02"), 0) == (300, 2)
    assert decode_varint(bytes.fromhex("ffffffffffffffffff01"), 0) == (2**64 - 1, 10)
    assert decode_varint(bytes.fromhex("ff05"), 1) == (5, 2)


@pytest.mark.parametrize("data", ["80" * 10, "ff" * 9 + "02", "38" + "ff" * 12])
def test_what_is_too_large_stays_corrupt(reading, data):
    with pytest.raises(Corrupt):
        decode(reading, bytes.fromhex(data))


def test_empty_values_are_not_cut_off(reading):
    assert decode(reading, bytes.fromhex("0a00"))["sensor"] == ""
    assert decode(reading, bytes.fromhex("4a00"))["blob"] == b""
