"""Exact-match editing of text, with errors that tell an agent what to do next."""

from __future__ import annotations

from difflib import SequenceMatcher

from agent_envs.errors import ToolFailed

_SHOWN_PLACES = 5
_LIKE_ENOUGH = 0.6


def replaced(content: str, old: str, new: str, *, path: str) -> str:
    """The content with the one occurrence of `old` replaced; raises `ToolFailed` where there is not exactly one."""
    if not old:
        raise ToolFailed(f"`old` is empty; give the exact text of {path} to replace, or write a new file with create")
    if old == new:
        raise ToolFailed("`old` and `new` are the same text, so nothing would change")
    count = content.count(old)
    if count == 1:
        return content.replace(old, new)
    if count > 1:
        lines = ", ".join(map(str, _lines_of(content, old)))
        raise ToolFailed(
            f"`old` occurs {count} times in {path} (lines {lines}); include more lines around the one meant"
        )
    raise ToolFailed(f"`old` does not occur in {path}; {_hint(content, old)}")


def window(content: str, piece: str, position: int, *, margin: int = 3) -> str:
    """The numbered lines of a piece that stands at this position of the text, and some around it."""
    first = content.count("\n", 0, position) + 1
    last = first + piece.rstrip("\n").count("\n")
    return numbered(content, first=max(1, first - margin), last=last + margin)


def numbered(content: str, *, first: int = 1, last: int = 0) -> str:
    """The lines of a text from `first` to `last` (0: to the end), each with its number."""
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    last = min(last or len(lines), len(lines))
    return "\n".join(f"{number:6d}\t{lines[number - 1]}" for number in range(max(1, first), last + 1))


def _lines_of(content: str, old: str) -> list[int]:
    found: list[int] = []
    start = content.find(old)
    while start >= 0 and len(found) < _SHOWN_PLACES:
        found.append(content.count("\n", 0, start) + 1)
        start = content.find(old, start + 1)
    return found


def _hint(content: str, old: str) -> str:
    """Why the text was not found: other whitespace, or where something like it stands."""
    lines, wanted = content.split("\n"), old.strip("\n").split("\n")
    bare = [line.strip() for line in lines]
    for number in range(len(bare) - len(wanted) + 1):
        if bare[number : number + len(wanted)] == [line.strip() for line in wanted]:
            place = numbered(content, first=number + 1, last=number + len(wanted))
            return f"only the whitespace differs from lines {number + 1} to {number + len(wanted)}, which are:\n{place}"
    likeness, number = max(((_likeness(line, wanted[0]), number) for number, line in enumerate(bare)), default=(0.0, 0))
    if likeness >= _LIKE_ENOUGH:
        place = numbered(content, first=max(1, number - 1), last=number + len(wanted) + 1)
        return f"the nearest lines are:\n{place}"
    return "view the file and copy the text exactly"


def _likeness(line: str, wanted: str) -> float:
    matcher = SequenceMatcher(None, line, wanted.strip(), autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LIKE_ENOUGH else 0.0
