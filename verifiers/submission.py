"""What verifiers of programs share: the submitted source, the sandbox it runs in, and reading a task's secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import TaskError, ToolFailed
from agent_envs.sandboxes.protocol import Limits, Sandbox
from agent_envs.tasks import Task

StartSandbox = Callable[..., Sandbox]
"""Starts one fresh sandbox, like `start_sandbox`; `limits=` and `packages=` are passed only where a task needs them."""

Evidence = dict[str, Any]
"""What a verdict rests on, as JSON-able data of bounded size."""

MAX_SOURCE = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Submission:
    """The program an agent left, or why there is none."""

    source: str = ""
    missing: Verdict | None = None
    flags: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Its other files, which it may import or read."""

    def place(self, sandbox: Sandbox) -> None:
        """Write its files into a sandbox's workspace."""
        for path, content in self.files.items():
            with suppress(ToolFailed):  # what does not fit is missing for the program, as it would be for anyone
                sandbox.write_file(path, content)


def submission(task: Task, artifact: Artifact) -> Submission:
    """The submitted program: the file that the secret names as `file`, else the answer without its Markdown fence."""
    name = stated(task, "file", str, "")
    if name:
        content = artifact.files.get(name)
        if content is None:
            why = artifact.rejected.get(name, "there is no such file")
            return Submission(missing=Verdict.unresolved("nothing was submitted", file=name, reason=why))
        return _bounded(Submission(content.decode("utf-8", "replace"), files=artifact.files))
    if not artifact.submitted:
        return Submission(missing=Verdict.unresolved("nothing was submitted"))
    source, flags = _unfenced(artifact.answer)
    return _bounded(Submission(source, flags=flags))


def _bounded(program: Submission) -> Submission:
    if len(program.source) <= MAX_SOURCE:
        return program
    why = f"the program is longer than {MAX_SOURCE} characters"
    return Submission(missing=Verdict.unresolved(why, characters=len(program.source)))


def stated(task: Task, name: str, kind: type[T], default: T | None = None) -> T:
    """One entry of the task's secret; raises `TaskError` where it is of another type, or missing without a default."""
    value = task.secret.get(name, default)
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return kind(value)  # type: ignore[call-arg]
    found = f"it is {type(value).__name__}" if name in task.secret else "it is missing"
    raise TaskError(f"the secret of task {task.id!r} needs {name!r} as {kind.__name__}, but {found}")


def clipped(text: str, limit: int = 500) -> str:
    """The text with a counted gap in its middle where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} ... [{len(text) - 2 * half} characters] ... {text[-half:]}"


def any_sandbox(*, limits: Limits | None = None, packages: Sequence[str] = ()) -> Sandbox:
    """A sandbox of the strongest kind that this machine allows."""
    from agent_envs.sandboxes.ladder import start_sandbox  # a verifier of plain answers needs no sandbox

    return start_sandbox(limits=limits, packages=packages)


def _unfenced(answer: str) -> tuple[str, tuple[str, ...]]:
    lines = answer.strip().splitlines()
    if len(lines) >= 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1]) + "\n", ("answer_repaired",)
    return answer, ()
