"""Before an agent may see a repository: one commit of history, and nothing on the image that gives the solution away.

An image is looked through once; a leak refuses to start and says where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha1
from importlib.resources import files

from agent_envs.verifiers.swe.changes import changed
from agent_envs.verifiers.swe.patches import parse
from agent_envs.verifiers.swe.solutions import difference
from agent_envs.verifiers.swe.task import SweTask

from agent_envs.errors import SandboxDied, TaskError
from agent_envs.sandboxes.images import Image, ImageEngine, Place

_SHORTEST = 16
"""A shorter line may stand anywhere by chance."""
_LEAKING_SHARE = 0.6
_LOOK_S = 300.0


class Inspector:
    """Looks through images for what an agent must not find, each once."""

    def __init__(self) -> None:
        self._clean: set[tuple[str, str]] = set()

    def require_clean(self, task: SweTask, engine: ImageEngine, image: Image) -> None:
        """Raise `TaskError` that says where the image gives the task away."""
        if (task.id, image.digest) in self._clean:
            return
        leaks = look_through(task, engine, image)
        if leaks:
            raise TaskError(f"task {task.id!r} gives itself away and is not started: {'; '.join(leaks[:5])}")
        self._clean.add((task.id, image.digest))


def look_through(task: SweTask, engine: ImageEngine, image: Image) -> list[str]:
    """What on this image gives the task's solution or somebody's credentials away; empty where nothing does."""
    after = _solved(task)
    job = {
        "workspace": image.workspace,
        "lines": telling_lines(task, after.values()),
        "share": _LEAKING_SHARE,
        "blobs": [_blob(content) for content in after.values()],
    }
    place = Place(image=image, user="root")
    command = [task.runner.python.split()[0], "-I", "-c", _program()]
    ran = engine.run_once(place, command, stdin=json.dumps(job).encode(), timeout_s=_LOOK_S)
    if ran.exit_code == 127:
        return []  # without a Python there is nobody to look; the image's author vouches for it
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        why = ran.stderr.decode("utf-8", "replace")[-300:]
        raise SandboxDied(f"the image of task {task.id!r} could not be looked through: {ran.status}, {why}") from None
    return [str(leak) for leak in found]


def telling_lines(task: SweTask, after: Iterable[bytes]) -> list[str]:
    """The lines that the reference adds and that stand nowhere in the repository as the agent gets it."""
    known = {line.strip() for file in task.recipe.files.values() for line in _lines(file.content)}
    patched = list(_patch_lines(task))
    known |= {line for mark, line in patched if mark != "+"}
    added = dict.fromkeys(line.strip() for content in after for line in _lines(content))
    added |= dict.fromkeys(line for mark, line in patched if mark == "+")
    return [line for line in added if len(line) >= _SHORTEST and line not in known]


def _patch_lines(task: SweTask) -> Iterator[tuple[str, str]]:
    """The lines of a reference that is told as a patch, with their marks."""
    for path, text in task.reference.files.items():
        if path.endswith((".patch", ".diff")):
            for hunk in (hunk for file in parse(text) for hunk in file.hunks):
                yield from ((mark, line.decode("utf-8", "replace").strip()) for mark, line in hunk.lines)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _solved(task: SweTask) -> dict[str, bytes]:
    """The files as the reference leaves them, where it is told as edits of a repository that is at hand."""
    if task.reference.command or not task.recipe.files:
        return {}
    work = difference(task.recipe.files, changed(task.recipe.files, task.reference.changes))
    return {path: file.content for path, file in work.write.items()}


def _blob(content: bytes) -> str:
    """The name git gives to this content."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@cache
def _program() -> str:
    return files("agent_envs.envs.swe").joinpath("guest_look.py").read_text("utf-8")
