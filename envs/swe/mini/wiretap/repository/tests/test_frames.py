import pytest

from wiretap import Corrupt, FrameDecoder, Truncated, frame

MESSAGES = [b"one", b"", b"x" * 200, b"last"]
STREAM = b"".join(map(frame, MESSAGES))


def test_a_frame_is_a_length_a_checksum_and_the_message():
    assert frame(b"one").hex() == "03f1866c7a" + b"one".hex()


def test_messages_come_out_of_a_stream():
    assert FrameDecoder().feed(STREAM) == MESSAGES


def test_a_message_may_come_in_two_pieces():
    decoder = FrameDecoder()
    assert decoder.feed(STREAM[:20]) == MESSAGES[:2]
    assert decoder.feed(STREAM[20:]) == MESSAGES[2:]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_pieces_of_any_size_make_no_difference(size):
    decoder = FrameDecoder()
    found = [message for at in range(0, len(STREAM), size) for message in decoder.feed(STREAM[at : at + size])]
    assert found == MESSAGES
    decoder.finish()


def test_a_damaged_message_is_left_out_and_counted():
    decoder = FrameDecoder()
    damaged = bytearray(frame(b"two"))
    damaged[-1] ^= 1
    assert decoder.feed(frame(b"one") + damaged) == [b"one"]
    assert decoder.damaged == 1
    decoder.finish()


def test_messages_after_a_damaged_one_arrive():
    decoder = FrameDecoder()
    damaged = bytearray(frame(b"two"))
    damaged[-1] ^= 1
    assert decoder.feed(frame(b"one") + damaged + frame(b"three")) == [b"one", b"three"]


def test_a_stream_that_ends_inside_a_frame_is_truncated():
    decoder = FrameDecoder()
    decoder.feed(STREAM[:-1])
    with pytest.raises(Truncated, match="ends inside a frame"):
        decoder.finish()


def test_nobody_waits_for_a_message_that_is_too_long():
    with pytest.raises(Corrupt, match="the limit is 100"):
        FrameDecoder(limit=100).feed(STREAM)
