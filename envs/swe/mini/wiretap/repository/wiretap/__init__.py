"""Compact binary messages with schemas that may grow."""

from wiretap.decode import decode
from wiretap.encode import encode
from wiretap.errors import Corrupt, DecodeError, EncodeError, SchemaError, Truncated, WiretapError
from wiretap.evolve import History
from wiretap.frames import FrameDecoder, frame
from wiretap.message import Message
from wiretap.schema import Field, Schema
from wiretap.schema_text import parse_schemas

__all__ = [
    "Corrupt",
    "DecodeError",
    "EncodeError",
    "Field",
    "FrameDecoder",
    "History",
    "Message",
    "Schema",
    "SchemaError",
    "Truncated",
    "WiretapError",
    "decode",
    "encode",
    "frame",
    "parse_schemas",
]
