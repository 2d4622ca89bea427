"""The sandbox of one container: the agent's shells in it, programs beside them, and its files."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agent_envs.artifact import Artifact
from agent_envs.errors import ConfigError, SandboxDied, ToolFailed
from agent_envs.sandboxes._journal import CellRan, Entry, Journal, Ran, Written
from agent_envs.sandboxes.docker import _changes
from agent_envs.sandboxes.docker._channel import DockerChannel
from agent_envs.sandboxes.docker._connect import Refused, archive, gone_or
from agent_envs.sandboxes.docker._container import USERS, Container, environment
from agent_envs.sandboxes.docker._exchange import Ground
from agent_envs.sandboxes.docker._guard import Guard
from agent_envs.sandboxes.docker._programs import Programs
from agent_envs.sandboxes.docker._python import DockerPython, program_words
from agent_envs.sandboxes.docker._shell import DockerShell
from agent_envs.sandboxes.docker._stream import require_own
from agent_envs.sandboxes.images import Manifest, Place
from agent_envs.sandboxes.protocol import RunResult

_LARGEST_FREEZE = 64 << 20


class StartTwin(Protocol):
    """How another sandbox of the same place is started, with a copy of the files of this one or those of the image."""

    def __call__(self, sandbox: DockerSandbox, *, copy_files: bool) -> DockerSandbox:
        """Start it."""


class _Line(Protocol):
    """Whatever of ours has a process in the container."""

    @property
    def number(self) -> int:
        """The number of that process, which is that of its session too; 0 where it is not known."""

    def close(self) -> None:
        """Let go of it; idempotent."""


class DockerSandbox:
    """A container for one episode; used by one thread at a time.

    An agent that kills everything it can reach loses its shell and what runs in it, never the container: process 1
    belongs to another user. A container that is gone raises `SandboxDied`.
    """

    def __init__(
        self, container: Container, place: Place, *, on_close: Callable[[DockerSandbox], None], start_twin: StartTwin
    ) -> None:
        self.place = place
        self.container = container
        self._on_close = on_close
        self._start_twin = start_twin
        self._ground = Ground(
            connections=container.connections,
            container=container.id,
            user=USERS[place.user],
            env=environment(place),
            workspace=place.image.workspace,
            output_bytes=place.limits.output_bytes,
        )
        self._guard = Guard(self._ground)
        self._shells: list[DockerShell] = []
        self._ready_shell: DockerShell | None = None
        self._programs: Programs | None = None
        self._journal = Journal()
        self._sessions: list[DockerPython] = []
        self._copied_session: DockerPython | None = None
        self._channels: list[DockerChannel] = []
        self._frozen = self._closed = False

    @property
    def isolation(self) -> str:
        """`docker`: whatever separates a container of that engine from its machine."""
        return "docker"

    def prepare(self) -> None:
        """Start what the first command needs, ahead of it."""
        self._ready_shell = self._new_shell().open()

    @property
    def is_fresh(self) -> bool:
        """Whether what was started ahead is still there."""
        return self._ready_shell is not None and self._ready_shell.is_open

    def await_ready(self) -> None:
        """Wait until that is there."""
        if self._ready_shell is not None:
            self._ready_shell.await_start()
        self._guard.await_start()

    def run(
        self,
        command: str | Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
    ) -> RunResult:
        """Run a program (a list) or a shell command line (a string) in a process of its own."""
        self._require_live()
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if not words:
            raise ConfigError("an empty list was given as a command; expected the program and its arguments")
        if self._programs is None:
            self._programs = Programs(self._ground, self._guard, self._numbers)
        order: dict[str, object] = {"command": words, "cwd": cwd, "env": dict(env or {})}
        result = self._programs.run(words, stdin=stdin, timeout_s=timeout_s, cwd=cwd, env=dict(env or {}))
        self._journal.add(Ran(order, b"", stdin, result.wall_s))
        return result

    def open_shell(self) -> DockerShell:
        """Start a shell that keeps its state."""
        self._require_live()
        shell, self._ready_shell = self._ready_shell, None
        return shell or self._new_shell().open()

    def run_python(self, code: str, *, stdin: bytes = b"", timeout_s: float = 10.0) -> RunResult:
        """Run a Python program as `__main__` in a fresh interpreter state."""
        source = code.encode("utf-8", "surrogatepass")
        return self.run(program_words(), stdin=b"%d\n%b%b" % (len(source), source, stdin), timeout_s=timeout_s)

    def open_python(self) -> DockerPython:
        """Start an interpreter that keeps its state."""
        self._require_live()
        session, self._copied_session = self._copied_session, None
        if session is None or not session.alive:
            name = len(self._sessions) + 1
            session = DockerPython(self._ground, self._guard, self._journal, self._numbers, name=name)
            self._sessions.append(session)
        return session

    def open_channel(self, code: str) -> DockerChannel:
        """Run a Python program in a fresh state with a framed message channel to the host."""
        self._require_live()
        channel = DockerChannel(self._ground, self._guard, self._numbers)
        self._channels.append(channel)
        return channel.open(code.encode("utf-8", "surrogatepass"))

    def read_file(self, path: str, *, max_bytes: int = 1 << 20) -> bytes:
        """Read a regular file of the workspace; links are not followed."""
        self._require_live()
        return self._guard.read(path, max_bytes)

    def write_file(self, path: str, content: bytes) -> None:
        """Write a regular file of the workspace, making its folders; links are not followed."""
        self._require_live()
        self._guard.write(path, content)
        self._journal.add(Written(path, content))

    def fork(self) -> DockerSandbox:
        """A second, independent sandbox with a copy of this one's files; its `open_python` goes on where the Python
        session of this one that was opened last is now.

        Without a session, every file of the container is copied, but for `/tmp` and other mounts. A session is copied
        by running again, in a container of the same image, what has led to it; then the files of the workspace are
        copied alone. It counts as a copy only if each cell shows the same again, else `ToolFailed` is raised. Running
        programs and shells are not copied.
        """
        self._require_live()
        session = self._sessions[-1] if self._sessions and self._sessions[-1].alive else None
        if session is None:
            return self._start_twin(self, copy_files=True)
        twin = self._start_twin(self, copy_files=False)
        try:
            twin._repeat(self._journal.story_of(session.name))
            twin._take_workspace(self)
        except BaseException:
            twin.close()
            raise
        return twin

    def _repeat(self, story: Iterator[Entry]) -> None:
        session = self._copied_session = self.open_python()
        for entry in story:
            match entry:
                case Written(path, content):
                    self.write_file(path, content)
                case Ran(order, _, stdin, seconds):
                    self.run(**order, stdin=stdin, timeout_s=seconds * 4.0 + 1.0)  # type: ignore[arg-type]
                case CellRan():
                    session.repeat(replace(entry, session=session.name))

    def _take_workspace(self, other: DockerSandbox) -> None:
        """Make the workspace hold what the other one's does: passed on from the engine to the engine, unread by us."""
        workspace = self.place.image.workspace
        emptied = self.run(["find", workspace, "-mindepth", "1", "-delete"])
        if not emptied.ok:
            raise ToolFailed(f"the workspace of a copy cannot be emptied: {emptied.stderr.decode(errors='replace')}")
        doing = "copy a workspace"
        try:
            with (
                self.container.connections.lend(doing, error=SandboxDied) as source,
                self.container.connections.lend(doing, error=SandboxDied) as target,
                archive(source, other.container.id, workspace) as pieces,
            ):
                target.put_archive(self.container.id, posixpath.dirname(workspace), pieces)
        except Refused as error:
            raise gone_or(error, doing) from error

    def freeze(self, *, max_bytes: int = 16 << 20) -> Artifact:
        """Stop the guest for good and carry its workspace out as data."""
        artifact = self._carry({}, max_bytes)
        artifact.state.clear()
        return artifact

    def freeze_changes(self, *, max_bytes: int = _LARGEST_FREEZE) -> Artifact:
        """Stop the guest for good and carry out what differs from the image's workspace, as the engine sees it."""
        return self._carry(self.place.image.manifest, max_bytes)

    def close(self) -> None:
        """Destroy it and everything it started; idempotent, and without effect in a forked child, whose it is not."""
        if self._closed or self._ground.process != os.getpid():
            return
        self._closed = True
        self._close_streams()
        self.container.remove()
        self._on_close(self)

    def _carry(self, base: Manifest, max_bytes: int) -> Artifact:
        require_own(self._ground.process)
        if self._closed:
            raise ToolFailed("this sandbox is closed")
        # Before anything is read, so that nothing can change what is.
        if not self._frozen:
            self.container.kill()
            self._frozen = True
            self._close_streams()
        doing = "carry the workspace out of a container"
        try:
            with (
                self.container.connections.lend(doing, error=SandboxDied) as client,
                archive(client, self.container.id, self.place.image.workspace) as pieces,
            ):
                return _changes.changes(pieces, base, max_bytes=max_bytes)
        except Refused as error:
            if error.status == 404 and "no such container" not in str(error).lower():
                return Artifact(
                    rejected={".": "the workspace is gone"}, state={"deleted": sorted(base), "executable": []}
                )
            raise gone_or(error, doing) from error

    def _new_shell(self) -> DockerShell:
        shell = DockerShell(self._ground, self._guard, self._numbers)
        self._shells.append(shell)
        return shell

    def _numbers(self) -> Iterable[int]:
        """The sessions that have nothing to do with a command that hangs."""
        return [line.number for line in self._lines() if line.number]

    def _lines(self) -> list[_Line]:
        programs = [self._programs] if self._programs is not None else []
        return [*self._shells, *self._sessions, *self._channels, *programs, self._guard]

    def _require_live(self) -> None:
        require_own(self._ground.process)
        if self._closed or self._frozen:
            raise ToolFailed("this sandbox is closed or frozen; nothing can be run in it any more")

    def _close_streams(self) -> None:
        for line in self._lines():
            line.close()
