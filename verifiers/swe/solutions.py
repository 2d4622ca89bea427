"""A task's own solutions as work: its edits applied to the base, on the host, or played in a sandbox."""

from __future__ import annotations

from agent_envs.verifiers.swe.changes import changed
from agent_envs.verifiers.swe.task import Solution, SweTask
from agent_envs.verifiers.swe.work import Work, everything

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import Image, ImageEngine, Place, Tree, TreeFile


def difference(before: Tree, after: Tree) -> Work:
    """What leads from one tree to the other."""
    write = {path: file for path, file in after.items() if before.get(path) != file}
    return Work(write, tuple(path for path in before if path not in after))


def work_of_solution(task: SweTask, engine: ImageEngine, image: Image, solution: Solution) -> Work:
    """What the work looks like once this solution is carried out."""
    if not solution.command and all(
        change.path in task.recipe.files or change.path not in image.manifest for change in solution.changes
    ):
        return difference(task.recipe.files, changed(task.recipe.files, solution.changes))
    return _played(task, engine, image, solution)


def _played(task: SweTask, engine: ImageEngine, image: Image, solution: Solution) -> Work:
    sandbox = engine.start(Place(image=image, user=task.user))
    try:
        base = {
            change.path: TreeFile(sandbox.read_file(change.path))
            for change in solution.changes
            if change.path in image.manifest
        }
        work = difference(base, changed(base, solution.changes))
        for path, file in work.write.items():
            sandbox.write_file(path, file.content)
        if work.delete:
            sandbox.run(["rm", "--", *work.delete], cwd=image.workspace)
        for path, content in solution.files.items():
            writing = ["sh", "-c", 'mkdir -p "${1%/*}/" && cat > "$1"', "sh", path]
            if not sandbox.run(writing, stdin=content.encode("utf-8"), cwd=image.workspace).ok:
                raise TaskError(f"the solution of task {task.id!r} cannot be written to {path} by {task.user!r}")
        if solution.command:
            ran = sandbox.run(solution.command, timeout_s=task.runner.timeout_s, cwd=image.workspace)
            if not ran.ok:
                why = ran.stderr.decode("utf-8", "replace")[-500:]
                raise TaskError(f"the solution of task {task.id!r} failed: {ran.status}, {why}")
        return everything(sandbox.freeze_changes())
    finally:
        sandbox.close()
