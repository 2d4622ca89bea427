"""Reading foreign rows: text cells, JSON cells, packed cells, and calls with JSON values as asserts."""

from __future__ import annotations

import json
import keyword
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import decompressobj
from zlib import error as NotZlib  # noqa: N812 - an exception, named like one

from agent_envs.errors import TaskError

Row = Mapping[str, Any]
"""One row of a foreign data set, as it came."""
MAX_UNPACKED = 256 << 20
"""The largest packed cell that is unpacked; a small one can claim to be endless."""
SAME = """
def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def close(value, wanted):
    if isinstance(wanted, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        return abs(value - wanted) <= 1e-6 * max(1.0, abs(wanted))
    if isinstance(wanted, list) and isinstance(value, list):
        return len(value) == len(wanted) and all(map(close, value, wanted))
    if isinstance(wanted, dict) and isinstance(value, dict):
        return value.keys() == wanted.keys() and all(close(value[key], wanted[key]) for key in wanted)
    return type(value) is type(wanted) and value == wanted


def same(value, wanted):
    return close(plain(value), plain(wanted))
"""
"""Source of `same(value, wanted)`: equal as JSON, where floats may differ by rounding."""
_EITHER = """

def same_or_only(value, wanted):
    return same(value, wanted) or isinstance(wanted, list) and len(wanted) == 1 and same(value, wanted[0])
"""
_STRING_OPCODES = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"})
_HARMLESS_OPCODES = frozenset({"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP"})


def text_of(row: Row, key: str) -> str:
    """A text cell; empty where it is absent."""
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TaskError(f"{key} is {type(value).__name__}; expected text")
    return value


def required_text(row: Row, key: str) -> str:
    """A text cell that must say something."""
    value = text_of(row, key)
    if not value.strip():
        raise TaskError(f"{key} is missing or empty; expected text (the row has: {', '.join(map(str, row))})")
    return value


def texts_of(row: Row, key: str) -> list[str]:
    """A list of texts; empty where it is absent."""
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TaskError(f"{key} is no list of texts")
    return value


def json_value(text: str, what: str) -> Any:
    """The value of JSON text; integers keep all their digits, and NaN is refused."""
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as cause:
        raise TaskError(f"{what} is text that is not JSON ({cause})") from cause


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def packed_text(cell: str) -> str:
    """JSON text as it is, or the JSON text inside base64, zlib and a pickled string, which is never unpickled."""
    if not cell.strip() or cell.lstrip()[0] in "[{":
        return cell
    try:
        inflate = decompressobj()
        content = inflate.decompress(b64decode(cell, validate=True), MAX_UNPACKED)
    except (NotBase64, NotZlib, ValueError) as cause:
        raise TaskError(f"private_test_cases is neither JSON nor base64 of zlib ({cause})") from cause
    if not inflate.eof:
        raise TaskError(f"private_test_cases is cut off, or larger than {MAX_UNPACKED >> 20} MiB when unpacked")
    return content.decode("utf-8", "strict") if content[:1] in (b"[", b"{") else _pickled_string(content)


def _pickled_string(content: bytes) -> str:
    """The text that a pickle of one plain string holds, read from its opcodes; anything else is refused."""
    from pickletools import genops

    found: list[str] = []
    try:
        for opcode, argument, _ in genops(content):
            if opcode.name in _STRING_OPCODES and not found:
                found.append(str(argument))
            elif opcode.name not in _HARMLESS_OPCODES:
                raise TaskError(f"private_test_cases is a pickle with {opcode.name}; only a pickled text is read")
    except ValueError as cause:
        raise TaskError(f"private_test_cases is no pickled text ({cause})") from cause
    if not found:
        raise TaskError("private_test_cases is a pickle without a text")
    return found[0]


def call_asserts(name: str, pairs: Sequence[tuple[object, object]], *, either: bool) -> tuple[list[str], str]:
    """One assert for each pair of arguments and result, and the source of the comparison they use.

    `either` also accepts the only item of a list, because some data sets wrap results in one.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise TaskError(f"the function is called {name!r}, which is no name")
    asserts = []
    for arguments, wanted in pairs:
        if not isinstance(arguments, list):
            raise TaskError(f"the arguments of a call are {type(arguments).__name__}; expected a list")
        given = ", ".join(map(repr, arguments))
        asserts.append(f"assert {'same_or_only' if either else 'same'}({name}({given}), {wanted!r})")
    return asserts, SAME + (_EITHER if either else "")
