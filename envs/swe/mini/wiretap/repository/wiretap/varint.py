"""Numbers of variable length: 7 bits per byte, the lowest first; the highest bit says that another byte follows."""

from __future__ import annotations

from wiretap.errors import Corrupt, EncodeError, Truncated

LIMIT = 1 << 64
MOST_BYTES = 10


def encode_varint(number: int) -> bytes:
    """A number from 0 to 2^64 - 1 as bytes."""
    if not 0 <= number < LIMIT:
        raise EncodeError(f"{number} is not between 0 and 2^64 - 1")
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """The number that starts at this position, and the position after it."""
    number = 0
    for count, byte in enumerate(data[position : position + MOST_BYTES]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            if number >= LIMIT:
                break
            return number, position + count + 1
    else:
        if position + MOST_BYTES > len(data):
            raise Truncated("the bytes end inside a number", position)
    raise Corrupt("a number is larger than 2^64 - 1", position)


def zigzag(number: int) -> int:
    """A signed number as an unsigned one, so that small ones stay short: 0, -1, 1, -2 become 0, 1, 2, 3."""
    if not -(LIMIT // 2) <= number < LIMIT // 2:
        raise EncodeError(f"{number} is not between -2^63 and 2^63 - 1")
    return 2 * number if number >= 0 else -2 * number - 1


def unzigzag(number: int) -> int:
    return number // 2 if number % 2 == 0 else -(number // 2) - 1
