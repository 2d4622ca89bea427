import pytest

from wiretap import Corrupt, EncodeError, Truncated
from wiretap.varint import decode_varint, encode_varint, unzigzag, zigzag

SAMPLES = [
    (0, "00"),
    (1, "01"),
    (127, "7f"),
    (128, "8001"),
    (300, "ac02"),
    (2**32, "8080808010"),
    (2**64 - 1, "ffffffffffffffffff01"),
]


@pytest.mark.parametrize(("number", "data"), SAMPLES)
def test_numbers_have_seven_bits_a_byte(number, data):
    assert encode_varint(number).hex() == data
    assert decode_varint(bytes.fromhex(data), 0) == (number, len(data) // 2)


def test_decoding_starts_and_stops_where_it_should():
    assert decode_varint(b"\xff\xac\x02\xff", 1) == (300, 3)


@pytest.mark.parametrize("number", [-1, 2**64])
def test_other_numbers_are_refused(number):
    with pytest.raises(EncodeError):
        encode_varint(number)


@pytest.mark.parametrize("data", ["ff" * 9 + "02", "80" * 10 + "00", "ff" * 11])
def test_a_number_that_is_too_large_is_corrupt(data):
    with pytest.raises(Corrupt, match="larger than"):
        decode_varint(bytes.fromhex(data), 0)


@pytest.mark.parametrize("data", ["", "80", "ac", "ffff"])
def test_a_number_that_is_cut_off_is_truncated(data):
    with pytest.raises(Truncated, match="end inside a number"):
        decode_varint(bytes.fromhex(data), 0)


@pytest.mark.parametrize(
    ("signed", "unsigned"), [(0, 0), (-1, 1), (1, 2), (-2, 3), (2**63 - 1, 2**64 - 2), (-(2**63), 2**64 - 1)]
)
def test_small_signed_numbers_stay_small(signed, unsigned):
    assert zigzag(signed) == unsigned
    assert unzigzag(unsigned) == signed
