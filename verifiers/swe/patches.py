"""Patches applied on the host, in memory: exactly where they say, or not at all. Git is never called.

Git applies a patch whose context has moved; here the context must stand at the very line that the patch names, since a
patch of a task is about one commit, and a place that was guessed is a wrong test.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from agent_envs.verifiers.swe._patch_data import FILE_MODES, FilePatch, Hunk, check_path, render
from agent_envs.verifiers.swe._patch_text import parse

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Tree, TreeFile

__all__ = [
    "FilePatch",
    "Hunk",
    "Overlay",
    "apply",
    "base_paths",
    "check_path",
    "diff",
    "overlay_of",
    "parse",
    "render",
    "reverse",
]

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Overlay:
    """What has to be laid over a tree."""

    files: dict[str, TreeFile]
    deleted: tuple[str, ...]


def apply(base: bytes | None, patch: FilePatch) -> bytes | None:
    """The content of the file after the patch; None stands for a file that does not exist.

    Raises `TaskError` naming file, hunk and line where the base is not what the patch expects.
    """
    if (base is None) != patch.created:
        state = "does not exist" if base is None else "exists already"
        raise TaskError(f"{patch.path} {state}, so the patch does not apply; compare it with the base commit")
    before, after, done = _lines(base or b""), list[bytes](), 0
    for number, hunk in enumerate(patch.hunks, start=1):
        start = hunk.old_start - 1 if hunk.old else hunk.old_start
        where = f"{patch.path}, hunk {number}"
        if not done <= start <= len(before):
            raise TaskError(f"{where}: it begins at line {start + 1}; the file has {len(before)}, {done} of them done")
        _check_context(before, start, hunk.old, where)
        after += before[done:start] + list(hunk.new)
        done = start + len(hunk.old)
    after += before[done:]
    if any(not line.endswith(b"\n") for line in after[:-1]):
        raise TaskError(f"{patch.path}: a line without a line feed would be followed by another; the patch is damaged")
    if patch.deleted and after:
        raise TaskError(f"{patch.path} is deleted by the patch, but {len(after)} of its lines would be left")
    return None if patch.deleted else b"".join(after)


def reverse(patch: FilePatch) -> FilePatch:
    """The patch that leads back; raises `TaskError` for a copy, whose original is not told apart from it."""
    if patch.copied:
        raise TaskError(f"the copy {patch.path!r} to {patch.new_path!r} has no reverse; write it as a new file")
    return replace(
        patch,
        path=patch.new_path,
        new_path=patch.path,
        created=patch.deleted,
        deleted=patch.created,
        old_mode=patch.new_mode,
        new_mode=patch.old_mode,
        hunks=tuple(Hunk(hunk.new_start, hunk.old_start, _swapped(hunk)) for hunk in patch.hunks),
    )


def overlay_of(patch: str | bytes, base: Tree) -> Overlay:
    """What the patch makes of the files of `base`, which needs to hold no more than the files that it changes."""
    files: dict[str, TreeFile] = {}
    deleted: list[str] = []
    for file in parse(patch):
        old = base.get(file.path)
        content = apply(None if old is None else old.content, file)
        if content is None:
            deleted.append(file.path)
            continue
        if file.path != file.new_path and file.new_path in base:
            raise TaskError(f"{file.new_path} exists already, so {file.path} cannot take its name; compare the base")
        executable = file.new_mode == FILE_MODES[1] if file.new_mode else old is not None and old.executable
        files[file.new_path] = TreeFile(content, executable=executable)
        if file.path != file.new_path and not file.copied:
            deleted.append(file.path)
    return Overlay(files, tuple(deleted))


def base_paths(patch: str | bytes) -> tuple[str, ...]:
    """The files of the base that `overlay_of` needs to see, some of which may not exist."""
    return tuple(dict.fromkeys(path for file in parse(patch) for path in (file.path, file.new_path)))


def diff(before: Tree, after: Tree) -> bytes:
    """A patch from one tree to another; raises `TaskError` for a path that no patch may name."""
    paths = sorted({*before, *after})
    return render(file for path in paths for file in _between(check_path(path), before.get(path), after.get(path)))


def _check_context(before: list[bytes], start: int, old: Iterable[bytes], where: str) -> None:
    for offset, wanted in enumerate(old):
        found = before[start + offset] if start + offset < len(before) else None
        if found != wanted:
            shown = "the file has ended" if found is None else f"the file has {_shown(found)}"
            raise TaskError(f"{where}, line {start + offset + 1}: {shown}; the patch expects {_shown(wanted)}")


def _shown(line: bytes) -> str:
    return repr(line[:120].decode("utf-8", "backslashreplace"))


def _lines(content: bytes) -> list[bytes]:
    """The lines with their line feeds; other marks that end a line elsewhere are text like any other."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _swapped(hunk: Hunk) -> tuple[tuple[str, bytes], ...]:
    """The lines with `-` and `+` exchanged, in each changed stretch what is removed first."""
    turned: list[tuple[str, bytes]] = []
    added: list[tuple[str, bytes]] = []
    for mark, line in (*hunk.lines, (" ", b"")):
        if mark == "-":
            added.append(("+", line))
        elif mark == "+":
            turned.append(("-", line))
        else:
            turned += [*added, (mark, line)]
            added = []
    return tuple(turned[:-1])


def _between(path: str, old: TreeFile | None, new: TreeFile | None) -> Iterable[FilePatch]:
    if old == new:
        return
    modes = ["" if file is None else FILE_MODES[file.executable] for file in (old, new)]
    same_mode = modes[0] == modes[1]
    yield FilePatch(
        path=path,
        new_path=path,
        created=old is None,
        deleted=new is None,
        old_mode="" if same_mode else modes[0],
        new_mode="" if same_mode else modes[1],
        hunks=tuple(_hunks(_lines(old.content if old else b""), _lines(new.content if new else b""))),
    )


def _hunks(old: list[bytes], new: list[bytes]) -> Iterable[Hunk]:
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        lines: list[tuple[str, bytes]] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [(" ", line) for line in old[old_from:old_to]]
            else:
                lines += [("-", line) for line in old[old_from:old_to]]
                lines += [("+", line) for line in new[new_from:new_to]]
        if lines:
            starts = group[0][1], group[0][3]
            spans = group[-1][2] - starts[0], group[-1][4] - starts[1]
            # A stretch without lines is named by the line before it.
            old_start, new_start = (start + (span > 0) for start, span in zip(starts, spans, strict=True))
            yield Hunk(old_start, new_start, tuple(lines))
