import pytest

from wiretap import Corrupt, FrameDecoder, Truncated, frame

MESSAGES = [b"first", b"", b"\x01" * 200, b"\x80" * 20_000, b"last"]
STREAM = b"".join(map(frame, MESSAGES))


def spoilt(payload, at=-1):
    data = bytearray(frame(payload))
    data[at] ^= 0x10
    return bytes(data)


def fed(decoder, stream, size):
    return [found for at in range(0, len(stream), size) for found in decoder.feed(stream[at : at + size])]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 11, 100, 20_000, 50_000])
def test_pieces_of_any_size_make_no_difference(size):
    decoder = FrameDecoder()
    assert fed(decoder, STREAM, size) == MESSAGES
    assert decoder.damaged == 0
    decoder.finish()


@pytest.mark.parametrize("cut", range(30))
def test_the_stream_may_be_cut_at_any_byte(cut):
    stream = frame(b"a") + frame(b"b" * 300)[:-280] + b"b" * 280 + frame(b"c")
    decoder = FrameDecoder()
    early = decoder.feed(stream[:cut])
    assert early == ([b"a"] if cut >= 6 else [])
    assert early + decoder.feed(b"") + decoder.feed(stream[cut:]) == [b"a", b"b" * 300, b"c"]


def test_a_message_comes_with_its_last_byte():
    decoder = FrameDecoder()
    counts = [len(decoder.feed(bytes([byte]))) for byte in frame(b"abc") + frame(b"")]
    assert counts == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("size", [1, 4, 9, 1000])
def test_only_the_damaged_message_is_lost(size):
    stream = frame(b"one") + spoilt(b"\x01" * 40) + frame(b"three") + spoilt(b"four", at=2) + frame(b"five")
    decoder = FrameDecoder()
    assert fed(decoder, stream, size) == [b"one", b"three", b"five"]
    assert decoder.damaged == 2
    decoder.finish()


def test_a_frame_within_a_damaged_message_is_none():
    decoder = FrameDecoder()
    assert decoder.feed(spoilt(frame(b"inner") + b"!") + frame(b"outer")) == [b"outer"]
    assert decoder.damaged == 1


def test_a_damaged_message_at_the_end_of_a_piece_is_counted_once():
    decoder = FrameDecoder()
    assert decoder.feed(spoilt(b"two")) == []
    assert decoder.feed(frame(b"three")) == [b"three"]
    assert decoder.damaged == 1
    decoder.finish()


@pytest.mark.parametrize("left", [1, 2, 3, 5, 6, 7, 205])
def test_an_end_inside_a_frame_is_truncated(left):
    decoder = FrameDecoder()
    decoder.feed(frame(b"one") + frame(b"x" * 200)[:left])
    with pytest.raises(Truncated):
        decoder.finish()


def test_an_end_between_frames_is_fine():
    decoder = FrameDecoder()
    decoder.finish()
    assert decoder.feed(frame(b"one")) == [b"one"]
    decoder.finish()


def test_a_length_in_two_pieces_is_still_held_against_the_limit():
    decoder = FrameDecoder(limit=1000)
    stream = frame(b"x" * 1001)
    assert decoder.feed(stream[:1]) == []
    with pytest.raises(Corrupt):
        decoder.feed(stream[1:100])
