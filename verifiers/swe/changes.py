"""Edits of a file tree in memory: exact, or an error that says which edit does not fit."""

from __future__ import annotations

from collections.abc import Iterable

from agent_envs.verifiers.swe.task import Change

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Tree, TreeFile


def changed(tree: Tree, changes: Iterable[Change]) -> dict[str, TreeFile]:
    """The tree after the changes, in their order; raises `TaskError` naming the first one that does not fit."""
    after = dict(tree)
    for change in changes:
        if change.old is None and change.new is None:
            _text(after, change)
            del after[change.path]
        elif change.old is None:
            executable = change.path in after and after[change.path].executable
            after[change.path] = TreeFile((change.new or "").encode("utf-8"), executable=executable)
        else:
            after[change.path] = _edited(after, change, change.old)
    return after


def inverse(tree: Tree, changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that lead back from `changed(tree, changes)` to the tree.

    An edit whose new text occurs elsewhere in the file has no exact inverse; then `TaskError` says so.
    """
    before, back = dict(tree), []
    for change in changes:
        after = changed(before, [change])
        back.append(_back(before, after, change))
        before = after
    return tuple(reversed(back))


def _back(before: Tree, after: Tree, change: Change) -> Change:
    if change.old is not None:
        text, new = _text(after, change), change.new or ""
        if not new or text.count(new) != 1:
            raise TaskError(
                f"the edit of {change.path} cannot be undone: its `new` {new!r} occurs {text.count(new) if new else 0}"
                " times afterwards; expected once; lengthen `old` and `new` by the lines around them"
            )
        return Change(path=change.path, old=new, new=change.old)
    return Change(path=change.path, new=_text(before, change) if change.path in before else None)


def _edited(tree: Tree, change: Change, old: str) -> TreeFile:
    text = _text(tree, change)
    if not old or text.count(old) != 1:
        raise TaskError(
            f"{old!r} occurs {text.count(old) if old else 0} times in {change.path}; an edit needs exactly one"
            " occurrence; quote more or other lines"
        )
    return TreeFile(text.replace(old, change.new or "").encode("utf-8"), executable=tree[change.path].executable)


def _text(tree: Tree, change: Change) -> str:
    if change.path not in tree:
        raise TaskError(f"there is no file {change.path!r} to change; compare the path with the repository")
    try:
        return tree[change.path].content.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise TaskError(f"{change.path} is no UTF-8 text ({cause}); give the whole file instead of an edit") from cause
