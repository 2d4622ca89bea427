"""Tests that come as a patch: applied to the files of the image, on the host, before anything is judged."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from hashlib import sha256

from agent_envs.verifiers.swe.patches import base_paths, overlay_of
from agent_envs.verifiers.swe.task import SweTask

from agent_envs.errors import TaskError, VerifierFailed
from agent_envs.sandboxes.images import Entry, Image, ImageEngine, Place, Tree, TreeFile
from agent_envs.sandboxes.protocol import Limits

_KEPT = 128
"""Tasks whose tests are remembered."""
_READ_BYTES = 64 << 20


def with_test_patch(task: SweTask, base: Tree) -> SweTask:
    """The task with its `test_patch` as files; `base` holds what the image has of `base_paths`."""
    if not task.test_patch:
        return task
    try:
        overlay = overlay_of(task.test_patch, base)
    except TaskError as cause:
        raise TaskError(f"the test_patch of task {task.id!r} does not fit its image: {cause}") from cause
    return replace(
        task,
        test_patch="",
        hidden_tests={**task.hidden_tests, **overlay.files},
        deleted_tests=(*task.deleted_tests, *overlay.deleted),
    )


class PatchedTests:
    """Makes files of test patches, once for each task and image."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], SweTask] = {}

    def of(self, task: SweTask, engine: ImageEngine, image: Image) -> SweTask:
        """The task with all its tests as files; raises `TaskError` where the patch does not fit the image."""
        if not task.test_patch:
            return task
        key = (task.id, image.digest, sha256(task.test_patch.encode("utf-8", "surrogatepass")).hexdigest())
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = with_test_patch(task, read_base(engine, image, base_paths(task.test_patch)))
        known = self._known[key]
        return replace(task, test_patch="", hidden_tests=known.hidden_tests, deleted_tests=known.deleted_tests)


def read_base(engine: ImageEngine, image: Image, paths: tuple[str, ...]) -> dict[str, TreeFile]:
    """What the image's workspace has of these paths, each file compared with the manifest."""
    wanted = {path: entry for path in paths if (entry := image.manifest.get(path))}
    if not wanted:
        return {}
    place = Place(image=image, user="root", limits=Limits(output_bytes=_READ_BYTES))
    ran = engine.run_once(place, ["tar", "-cf", "-", "--", *wanted], cwd=image.workspace)
    try:
        with tarfile.open(fileobj=io.BytesIO(ran.stdout)) as archive:
            return {path: _file(archive, path, entry) for path, entry in wanted.items()}
    except (tarfile.TarError, KeyError) as cause:
        why = ran.stderr.decode("utf-8", "replace")[-300:]
        raise VerifierFailed(f"files of the image {image.name} could not be read: {ran.status}, {why}") from cause


def _file(archive: tarfile.TarFile, path: str, entry: Entry) -> TreeFile:
    content = archive.extractfile(path) if entry.kind == "file" else None
    if content is None:
        raise TaskError(f"{path} is no regular file in the image, so no patch can change it")
    file = TreeFile(content.read(), entry.executable)
    if Entry.of(file) != entry:
        raise VerifierFailed(f"{path} was not read as the image's manifest describes it")
    return file
