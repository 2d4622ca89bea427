"""What was asked of a sandbox, in order, so that a copy of it can be made by asking again, and seen to be one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.protocol import RunResult

_LARGEST = 16 << 20
_ADDRESS = re.compile(rb"0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Written:
    """A file that the host has written."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has run to its end, in a process of its own."""

    order: dict[str, object]
    body: bytes
    stdin: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class CellRan:
    """A cell that has become part of the state of a session."""

    session: int
    number: int
    code: bytes
    seconds: float
    seen: int
    """What could be seen of it, as `fingerprint` counts."""


Entry = Written | Ran | CellRan


@dataclass(slots=True)
class Journal:
    """Everything that shaped the files and the Python session of one sandbox."""

    _entries: list[Entry] = field(default_factory=list)
    _bytes: int = 0

    def add(self, entry: Entry) -> None:
        """Note what has just been done."""
        match entry:
            case Written(content=content):
                self._bytes += len(content)
            case Ran(body=body, stdin=stdin):
                self._bytes += len(body) + len(stdin)
            case CellRan(code=code):
                self._bytes += len(code)
        if self._bytes <= _LARGEST:
            self._entries.append(entry)
        else:
            self._entries.clear()

    def forget_session(self, session: int) -> None:
        """The session has lost its state: its cells shape nothing any more, but what they did to files."""
        self._entries = [e for e in self._entries if not (isinstance(e, CellRan) and e.session == session)]

    def story_of(self, session: int) -> Iterator[Entry]:
        """What has to be done again to come to this session's state; raises `ToolFailed` where that was not kept."""
        if self._bytes > _LARGEST:
            raise ToolFailed(
                f"the session cannot be copied: its history is longer than the {_LARGEST} bytes kept of it"
            )
        last = max((at for at, e in enumerate(self._entries) if _is_cell(e, session)), default=-1)
        return (e for e in self._entries[: last + 1] if not isinstance(e, CellRan) or e.session == session)


def fingerprint(result: RunResult) -> int:
    """What can be seen of a run, apart from the addresses of objects."""
    return hash(tuple(_ADDRESS.sub(b"0x", part) for part in (result.stdout, result.stderr, result.value.encode())))


def _is_cell(entry: Entry, session: int) -> bool:
    return isinstance(entry, CellRan) and entry.session == session
