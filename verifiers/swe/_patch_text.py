"""Reading patches: git's unified diffs, strictly.

Nothing is guessed: a patch that does not say exactly what it does to which file is refused with the line that says so.
Lines are bytes that end at a line feed alone, so that CRLF and form feeds inside a file stay what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_envs.verifiers.swe._patch_data import DEV_NULL, FILE_MODES, FilePatch, Hunk, check_path

from agent_envs.errors import TaskError

_REFUSED_MODES = {"120000": "a symbolic link", "160000": "a submodule"}
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*", re.DOTALL)
_PREFIXES = ("a/", "b/", "i/", "w/", "c/", "o/")
"""What git puts in front of a path, also with `diff.mnemonicPrefix`."""
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_ESCAPED = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_MODES = re.compile(rb"(old mode|new mode|new file mode|deleted file mode) (\d{6})")
_MOVES = re.compile(rb"(rename|copy) (from|to) (.+)", re.DOTALL)
_SIGNATURE = b"-- "
"""Above the version of git, at the end of a patch that is a mail."""
_SILENT = (b"index ", b"similarity index ", b"dissimilarity index ")


def parse(patch: str | bytes) -> tuple[FilePatch, ...]:
    """What a patch does, file by file; raises `TaskError` with the line of the patch that cannot be honoured.

    Text before the first file, such as the message of a commit, is skipped. Refused are binary patches, links and
    submodules, and paths that are absolute, leave the repository or reach into `.git`.
    """
    reader = _Reader(patch.encode("utf-8", "surrogatepass") if isinstance(patch, str) else patch)
    files = []
    while reader.find_file():
        files.append(_file(reader))
    if not files:
        raise TaskError("the patch changes no file; expected a unified diff with `--- a/path` and `+++ b/path`")
    touched = [path for file in files for path in file.touched]
    for path in touched:
        if touched.count(path) > 1:
            raise TaskError(f"the patch has two parts about {path!r}; join them into one")
    return tuple(files)


class _Reader:
    """The lines of a patch, and the place in it for errors."""

    def __init__(self, patch: bytes) -> None:
        self._lines = patch.split(b"\n")
        if self._lines[-1] == b"":
            self._lines.pop()
        self.number = 0
        self._begun = False

    @property
    def line(self) -> bytes | None:
        """The current line, or None at the end."""
        return self._lines[self.number] if self.number < len(self._lines) else None

    def take(self) -> bytes:
        line = self._lines[self.number]
        self.number += 1
        return line

    def find_file(self) -> bool:
        """Go to the next file; after the first one there may be nothing else but a mail's signature."""
        while (line := self.line) is not None:
            if line.startswith((b"diff --git ", b"--- ")):
                self._begun = True
                return True
            if self._begun and line == _SIGNATURE:
                self.number = len(self._lines)
                return False
            if self._begun and line.strip():
                raise self.error("is no part of a patch; a hunk may be longer than its header says")
            self.take()
        return False

    def error(self, problem: str, *, back: int = 0) -> TaskError:
        number = self.number - back
        shown = self._lines[number][:120] if number < len(self._lines) else b"(the end)"
        return TaskError(f"line {number + 1} of the patch, {shown.decode('utf-8', 'replace')!r}, {problem}")


@dataclass(slots=True)
class _Head:
    """What the lines above the hunks say."""

    names: tuple[str, str] | None = None
    old: str | None = None
    new: str | None = None
    old_mode: str = ""
    new_mode: str = ""
    created: bool = False
    deleted: bool = False
    copied: bool = False
    says: bool = False
    """Whether there is anything to do without a hunk."""


def _file(reader: _Reader) -> FilePatch:
    start = reader.number
    head = _Head()
    if (reader.line or b"").startswith(b"diff --git "):
        head.names = _git_names(reader, reader.take().removeprefix(b"diff --git "))
        while (line := reader.line) and line.strip() and not line.startswith((b"--- ", b"diff --git ", _SIGNATURE)):
            _extended(reader, head)
    if (reader.line or b"").startswith(b"--- "):
        _named(reader, head)
        hunks = _hunks(reader)
    else:
        hunks = ()
    return _checked(reader, head, hunks, start)


def _extended(reader: _Reader, head: _Head) -> None:
    line = reader.take()
    if line.startswith((b"GIT binary patch", b"Binary files ")):
        raise reader.error("is about a binary file; only text can be patched, so add the file itself", back=1)
    if mode := _MODES.fullmatch(line):
        _mode(reader, head, mode[1], mode[2].decode())
    elif move := _MOVES.fullmatch(line):
        path = check_path(_path(reader, move[3]))
        head.copied, head.says = move[1] == b"copy", True
        if move[2] == b"from":
            head.old = path
        else:
            head.new = path
    elif not line.startswith(_SILENT):
        raise reader.error("is no header that git writes; compare it with the output of `git diff`", back=1)


def _mode(reader: _Reader, head: _Head, what: bytes, mode: str) -> None:
    if mode in _REFUSED_MODES:
        raise reader.error(f"makes {_REFUSED_MODES[mode]}; only regular files can be patched", back=1)
    if mode not in FILE_MODES:
        raise reader.error(f"has the mode {mode}; expected {' or '.join(FILE_MODES)}", back=1)
    head.says = True
    if what in (b"old mode", b"deleted file mode"):
        head.old_mode = mode
    else:
        head.new_mode = mode
    head.created |= what == b"new file mode"
    head.deleted |= what == b"deleted file mode"


def _named(reader: _Reader, head: _Head) -> None:
    """The two lines above the hunks, which must agree with what was said before."""
    old = _prefixed(reader, reader.take().removeprefix(b"--- "))
    if not (reader.line or b"").startswith(b"+++ "):
        raise reader.error("should be the `+++` line of the file")
    new = _prefixed(reader, reader.take().removeprefix(b"+++ "))
    head.created |= old == DEV_NULL
    head.deleted |= new == DEV_NULL
    agree = (head.old in (None, old)) and (head.new in (None, new))
    if not agree or head.created != (old == DEV_NULL) or head.deleted != (new == DEV_NULL) or {old, new} == {DEV_NULL}:
        raise reader.error("contradicts the headers above it", back=1)
    if head.names and not {old, new} <= {DEV_NULL, *head.names}:
        raise reader.error(f"names another file than `diff --git`, which says {head.names[0]!r}", back=1)
    head.old, head.new = old, new


def _checked(reader: _Reader, head: _Head, hunks: tuple[Hunk, ...], start: int) -> FilePatch:
    back = reader.number - start
    # Without hunks the paths stand in `diff --git` alone.
    old, new = (head.old, head.new) if head.old and head.new else (head.names or (None, None))
    if old is None or new is None:
        raise reader.error("does not tell the two paths apart; add the `---` and `+++` lines", back=back)
    if not hunks and not head.says:
        raise reader.error("changes nothing of its file; remove it", back=back)
    if (head.created and any(hunk.old for hunk in hunks)) or (head.deleted and any(hunk.new for hunk in hunks)):
        raise reader.error("creates or deletes a file, but a hunk keeps lines that should not exist", back=back)
    path, new_path = (new if old == DEV_NULL else old), (old if new == DEV_NULL else new)
    return FilePatch(
        path=path,
        new_path=new_path,
        created=head.created,
        deleted=head.deleted,
        copied=head.copied,
        old_mode=head.old_mode,
        new_mode=head.new_mode,
        hunks=hunks,
    )


def _hunks(reader: _Reader) -> tuple[Hunk, ...]:
    hunks = []
    while (line := reader.line) is not None and line.startswith(b"@@"):
        header = _HUNK.fullmatch(line)
        if header is None:
            raise reader.error("is no header of a hunk; expected `@@ -1,2 +1,3 @@`")
        reader.take()
        old, new = int(header[2] or 1), int(header[4] or 1)
        hunks.append(Hunk(int(header[1]), int(header[3]), tuple(_hunk_lines(reader, old, new))))
    if not hunks:
        raise reader.error("should begin a hunk: the file has `---` and `+++` lines and none")
    return tuple(hunks)


def _hunk_lines(reader: _Reader, old: int, new: int) -> list[tuple[str, bytes]]:
    lines: list[tuple[str, bytes]] = []
    while old or new or (reader.line or b"").startswith(b"\\"):
        if reader.line is None:
            raise reader.error("comes too early: the last hunk is shorter than its header says; the patch is cut off")
        line = reader.take()
        # Git too reads an empty line as an empty line of context whose space an editor removed.
        mark = line[:1].decode("latin-1") or " "
        if mark == "\\":
            if not lines or not lines[-1][1].endswith(b"\n"):
                raise reader.error("follows no line that it could be about", back=1)
            lines[-1] = (lines[-1][0], lines[-1][1][:-1])
            continue
        if mark not in " -+" or (mark != "+" and not old) or (mark != "-" and not new):
            raise reader.error("does not fit the numbers in the header of its hunk", back=1)
        old, new = old - (mark != "+"), new - (mark != "-")
        lines.append((mark, line[1:] + b"\n"))
    return lines


def _git_names(reader: _Reader, names: bytes) -> tuple[str, str] | None:
    """The paths after `diff --git`, where they can be told apart; a rename tells them again."""
    quoted = re.fullmatch(rb'("(?:[^"\\]|\\.)*"|.+) ("(?:[^"\\]|\\.)*")|("(?:[^"\\]|\\.)*") (.+)', names, re.DOTALL)
    if quoted:
        old, new = (quoted[1], quoted[2]) if quoted[1] else (quoted[3], quoted[4])
    else:
        half = (len(names) - 1) // 2
        old, new = names[:half], names[half + 1 :]
        if names[half : half + 1] != b" " or old.partition(b"/")[2] != new.partition(b"/")[2]:
            return None
    return _prefixed(reader, old), _prefixed(reader, new)


def _prefixed(reader: _Reader, name: bytes) -> str:
    """A path behind its `a/` or `b/`, or `/dev/null`."""
    # A path with a space is followed by a tab, and diff puts a time behind one.
    path = _path(reader, name if name.startswith(b'"') else name.partition(b"\t")[0])
    if path == DEV_NULL:
        return path
    if path.startswith("/"):
        check_path(path)
    if not path.startswith(_PREFIXES):
        raise reader.error(f"has the path {path!r}; expected one that begins with a/ or b/", back=1)
    return check_path(path[2:])


def _path(reader: _Reader, name: bytes) -> str:
    """A path as git writes it: quoted like a string of C where it is unusual."""
    quoted = _QUOTED.fullmatch(name.rstrip(b"\t"))
    if quoted:
        name = _ESCAPED.sub(_unescaped, quoted[1])
    elif name.endswith(b"\r"):
        raise reader.error("ends with a carriage return; the patch was converted to CRLF, convert it back", back=1)
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise reader.error(f"has a path that is no UTF-8 ({cause.reason})", back=1) from cause


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([_ESCAPES[code] if code in _ESCAPES else int(code, 8)])
