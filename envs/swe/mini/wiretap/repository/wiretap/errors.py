"""What can go wrong, by what a caller may do about it."""

from __future__ import annotations


class WiretapError(Exception):
    """Base of everything this package raises on purpose."""


class SchemaError(WiretapError, ValueError):
    """A schema that contradicts itself, or a use of it that does."""


class EncodeError(WiretapError, ValueError):
    """A value that its field cannot hold."""


class DecodeError(WiretapError, ValueError):
    """Bytes that are no message."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at byte {position}")
        self.position = position


class Truncated(DecodeError):
    """The bytes end too early; with more of them it might be a message."""


class Corrupt(DecodeError):
    """The bytes cannot be right, whatever follows."""
