"""One JSON value per line, safe for every Python string and for several writers.

UTF-8 cannot carry lone surrogates, and models and broken tools do produce them. A record that holds one is written with
its backslashes doubled and its surrogates as `\\\\udXXX`, and its `escaped` field says so: the line stays plain JSON.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

JsonObject: TypeAlias = dict[str, Any]
"""One JSON object whose values are known to its reader alone."""


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON; expected text, numbers, lists and mappings")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_sorted_encoder = msgspec.json.Encoder(enc_hook=_plain, order="sorted")
_UNSAFE = re.compile("[\\\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def encode(value: object, *, canonical: bool = False) -> bytes:
    """JSON of `value`; `canonical` sorts every key. Raises TypeError where `value` is no data."""
    encoder = _sorted_encoder if canonical else _encoder
    try:
        return encoder.encode(value)
    except UnicodeEncodeError:
        builtins = _escaped(msgspec.to_builtins(value, enc_hook=_plain, str_keys=True))
        return encoder.encode(builtins | {"escaped": True} if isinstance(builtins, dict) else builtins)


def unescaped(value: object) -> object:
    """The value that was written, from what JSON decoding made of an escaped record."""
    return _each_text(value, lambda text: _ESCAPE.sub(_unescape_one, text))


def _escaped(value: object) -> object:
    return _each_text(value, lambda text: _UNSAFE.sub(_escape_one, text))


def _each_text(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _each_text(item, change) for key, item in value.items()}
    return value


def _escape_one(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}"


def _unescape_one(match: re.Match[str]) -> str:
    return "\\" if match[1] == "\\" else chr(int(match[1][1:], 16))


def append(path: str | Path, line: bytes) -> None:
    """Add one line to a file that other processes may be adding to; all of it or, where the disk is full, nothing."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        # A writer that was killed in the middle leaves a torn line; ours must not become part of it.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        _write_all(descriptor, b"\n" * torn + line + b"\n", size=size)
    finally:
        # Not by closing alone: a child that another thread forked meanwhile has the descriptor too.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes, *, size: int) -> None:
    try:
        written = os.write(descriptor, content)
        while written < len(content):
            written += os.write(descriptor, content[written:])
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def numbered_lines(path: str | Path) -> Iterator[tuple[int, bytes, bool]]:
    """Every non-blank line with its number, counted from 1, and whether it is whole (ends with a newline)."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if content.strip():
                yield number, content, line.endswith(b"\n")
