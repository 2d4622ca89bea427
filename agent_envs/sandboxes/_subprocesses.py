"""Plain child processes with a time limit and an output limit, for the backend without isolation.

Every process leads a group of its own, which is killed whole; what leaves the group is out of reach, and that is one of
the reasons why the backend is called unsafe.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_envs.sandboxes.protocol import Limits, RunResult, SessionState, Status

_CHUNK = 1 << 16
# `ulimit` in a shell and not a `preexec_fn`, which must not be used where there are threads.
_LIMITED = 'ulimit -c 0; ulimit -f "$1"; ulimit -n "$2"; shift 2; exec "$@"'


class Child:
    """One running program whose output is kept up to a limit."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        limits: Limits,
        cwd: Path,
        env: Mapping[str, str],
        descriptors: Sequence[int] = (),
    ) -> None:
        self._limit = limits.output_bytes
        bounds = (str(limits.file_mb * 2048), str(limits.open_files))
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, "sh", *bounds, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            pass_fds=tuple(descriptors),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._streams = (self.process.stdin, self.process.stdout, self.process.stderr)
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
        self.forget()

    def forget(self) -> None:
        """Count output anew from here on."""
        self._kept = {self._streams[1].fileno(): bytearray(), self._streams[2].fileno(): bytearray()}
        self._dropped = 0
        self._began = time.monotonic()

    def wait(self, *, stdin: bytes, timeout_s: float) -> RunResult:
        """Feed and read it until it ends, its time is up or it prints too much; its group is dead afterwards."""
        with selectors.DefaultSelector() as selector, memoryview(stdin) as rest:
            selector.register(self._streams[0], selectors.EVENT_WRITE)
            for stream in self._streams[1:]:
                selector.register(stream, selectors.EVENT_READ)
            deadline = self._began + timeout_s
            fed = 0
            # Not until the end of its output: a grandchild may hold that open for ever.
            while self.process.poll() is None and time.monotonic() < deadline and not self._dropped:
                for key, _ in selector.select(min(0.01, max(0.0, deadline - time.monotonic()))):
                    if key.fileobj is not self._streams[0]:
                        if not self._read(key.fd):
                            selector.unregister(key.fileobj)
                        continue
                    with contextlib.suppress(BlockingIOError, BrokenPipeError):
                        fed += os.write(key.fd, rest[fed : fed + _CHUNK])
                    if fed == len(rest):
                        selector.unregister(key.fileobj)
                        self._streams[0].close()
            late = self.process.poll() is None
        return self.finish(late=late)

    def wait_for(self, descriptor: int, *, timeout_s: float) -> bool:
        """Read its output until something arrives at the descriptor; False where that does not happen in time."""
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            for readable in (descriptor, *self._kept):
                selector.register(readable, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0 and not self._dropped:
                for key, _ in selector.select(left):
                    if key.fd == descriptor:
                        self.drain()
                        return True
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
        return False

    def wait_writable(self, descriptor: int, *, timeout_s: float) -> bool:
        """Read its output until the descriptor takes more; False where that does not happen in time."""
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_WRITE)
            while (left := deadline - time.monotonic()) > 0:
                self.drain()
                if selector.select(min(left, 0.01)):
                    return True
        return False

    def drain(self) -> None:
        """Take what lies in the pipes now."""
        for descriptor in self._kept:
            while not self._dropped and self._read(descriptor):
                pass

    def result(self, status: Status, *, code: int = 0, value: str = "", state: SessionState) -> RunResult:
        """What it has printed so far, with this verdict."""
        out, err = self._kept.values()
        return RunResult(
            status=status,
            stdout=bytes(out),
            stderr=bytes(err),
            value=value,
            exit_code=max(code, -1),
            signal=max(-code, 0),
            wall_s=time.monotonic() - self._began,
            dropped_bytes=self._dropped,
            state=state,
        )

    def finish(self, *, late: bool, state: SessionState = SessionState.KEPT) -> RunResult:
        """End it, and say how it ended."""
        self.drain()
        flooded = self._dropped > 0
        result_of = self.process.returncode
        self.kill()
        if flooded:
            return self.result(Status.OUTPUT_LIMIT, code=-signal.SIGKILL, state=state)
        if late:
            return self.result(Status.TIMEOUT, code=-signal.SIGKILL, state=state)
        code = self.process.returncode if result_of is None else result_of
        status = Status.OK if code == 0 else Status.KILLED if code < 0 else Status.ERROR
        return self.result(status, code=code, state=state)

    def kill(self) -> None:
        """Kill it and its group and close its streams; idempotent."""
        # The group may outlive its leader, and its number is not given away while one of it lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if not self._streams[1].closed:
            self.drain()
        for stream in self._streams:
            stream.close()

    def _read(self, descriptor: int) -> bool:
        """Whether there was something to read."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        kept = self._kept[descriptor]
        room = self._limit - len(kept)
        kept += data[:room]
        self._dropped += max(0, len(data) - room)
        return bool(data)
