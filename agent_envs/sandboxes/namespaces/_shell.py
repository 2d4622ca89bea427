"""A shell that keeps its state: one process, fed command by command over a private line.

The shell itself reports each command's exit status over that line, which commands do not inherit.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes.namespaces import _processes, _run
from agent_envs.sandboxes.namespaces._control import Control, Exit, OutOfMemory
from agent_envs.sandboxes.namespaces._entry import PRIVATE
from agent_envs.sandboxes.namespaces._streams import Streams
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status

# The redirections hold for one command, even if it closes its output for good; the shell keeps its own copies of the
# line and the pipes where no program inherits them.
_BASH = r"""
shopt -s expand_aliases
exec 5>&1 6>&2
while IFS= read -r -d '' -u 3 agent_command; do
  eval "$agent_command" </dev/null >&5 2>&6 3<&- 5>&- 6>&-
  printf '%s %s\0' "$?" "$PWD" >&3
done
"""
# A shell without `read -d`: a command comes as one line, with its backslashes and line ends written in octal.
_SH = r"""
exec 5>&1 6>&2
while IFS= read -r agent_command <&3; do
  agent_command=$(printf '%b.' "$agent_command")
  eval "${agent_command%.}" </dev/null >&5 2>&6 3<&- 5>&- 6>&-
  printf '%s %s\0' "$?" "$PWD" >&3
done
"""
_SURVIVE_S = 3.0
"""How long a shell may take to go on once what it waited for is dead; after that it is the shell itself that hangs."""
_LARGEST_REPORT = 1 << 14


class NamespaceShell:
    """A bash that keeps its working directory, variables and functions between commands.

    A hung command is killed with everything it started, and the shell goes on. Where the shell itself hangs or exits,
    the next command runs in a new one in the last working directory; the result says `SessionState.LOST`.
    """

    def __init__(self, control: Control, *, output_bytes: int, bash: bool | None = None) -> None:
        self._control = control
        self._output_bytes = output_bytes
        self._bash = os.path.exists("/bin/bash") if bash is None else bash
        self._process: _ShellProcess | None = None
        self._folder = ""
        self._closed = False

    def run(self, command: str, *, timeout_s: float = 60.0) -> RunResult:
        """Run one command line. A hung command is killed with everything it started; the shell stays usable."""
        if self._closed:
            raise ToolFailed("this shell is closed; open a new one")
        if "\0" in command:
            return RunResult(status=Status.ERROR, stderr=b"a command line cannot hold a zero byte\n", exit_code=126)
        try:
            return self._run(command.encode("utf-8", "surrogateescape"), timeout_s)
        except OutOfMemory:
            return RunResult(status=Status.OUT_OF_MEMORY, exit_code=-1, signal=9, state=SessionState.LOST)

    def close(self) -> None:
        """End the shell; idempotent."""
        self._closed = True
        if self._process is not None and not self._control.closed:
            with contextlib.suppress(OutOfMemory):
                self._process.end()
        if self._process is not None:
            self._process.close()
            self._process = None

    def _run(self, command: bytes, timeout_s: float) -> RunResult:
        began, kills = time.monotonic(), self._control.oom_kills()
        if self._process is None:
            self._process = _ShellProcess(self._control, self._output_bytes, bash=self._bash).start(self._folder)
        process = self._process
        since = _processes.now()
        cause = process.command(command, began + timeout_s)
        if cause is not Status.OK:
            self._control.kill(process.number, keep_root=True, since=since)
            process.listen(time.monotonic() + _SURVIVE_S, limited=False)
        wall_s = time.monotonic() - began
        if process.report is None:
            self._process = None
            return _lost(process, cause, wall_s=wall_s, oom=self._control.oom_kills() > kills)
        exit_code, self._folder = process.report
        if cause is Status.OK and exit_code:
            cause = Status.OUT_OF_MEMORY if self._control.oom_kills() > kills else Status.ERROR
        output, errors, dropped = process.streams.take()
        return RunResult(
            status=cause, stdout=output, stderr=errors, exit_code=exit_code, wall_s=wall_s, dropped_bytes=dropped
        )


def _lost(process: _ShellProcess, cause: Status, *, wall_s: float, oom: bool) -> RunResult:
    """The result of a command that took the shell with it."""
    ended = process.end()
    process.streams.finish()
    result = _run.result(ended, process.streams, cause=cause, wall_s=wall_s, oom=oom, state=SessionState.LOST)
    process.close()
    return result


class _ShellProcess:
    """One shell, from its start to its end."""

    def __init__(self, control: Control, output_bytes: int, *, bash: bool) -> None:
        self._control = control
        self.streams = Streams(output_bytes)
        self.number = 0
        self.report: tuple[int, str] | None = None
        """Exit status and working directory after the last command, once the shell has told."""
        self._received = bytearray()
        self._line, self._far_line = socket.socketpair()
        self._poll = select.poll()
        self._bash = bash

    def start(self, folder: str) -> _ShellProcess:
        """Start the shell in this folder."""
        self._line.setblocking(False)
        self.streams.open()
        for close in (self._line.close, self.streams.close):
            self._control.descriptors.own(close)
        argv = ["/bin/bash", "-c", _BASH, "bash"] if self._bash else ["/bin/sh", "-c", _SH, "sh"]
        with self._far_line:
            guest_ends = {PRIVATE: self._far_line.fileno(), **self.streams.guest_ends}
            self.number = self._control.spawn("exec", guest_ends, argv=argv, env={}, cwd=folder)
        self.streams.close_guest_ends()
        for line in (self._line, self._control.socket):
            self._poll.register(line, select.POLLIN)
        self.streams.watch(self._poll)
        return self

    def command(self, command: bytes, deadline: float) -> Status:
        """Give the shell a command and wait for its report; a status other than OK says why to wait no longer."""
        if self._bash:
            packet = command + b"\0"
        else:
            packet = command.replace(b"\\", b"\\0134").replace(b"\n", b"\\0012") + b"\n"
        self.report = None
        left = memoryview(packet)
        while left:
            try:
                left = left[self._line.send(left) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return Status.TIMEOUT
                time.sleep(0.001)
            except OSError:
                # It has ended, and process 1 will say so.
                break
        return self.listen(deadline)

    def listen(self, deadline: float, *, limited: bool = True) -> Status:
        """Wait for the report, or the end of the shell; not limited: whatever it prints meanwhile."""
        while self.report is None and not self._control.has_exit(self.number):
            left = deadline - time.monotonic()
            if left <= 0:
                return Status.TIMEOUT
            for descriptor, _ in self._poll.poll(left * 1000 + 1):
                if descriptor == self._control.socket.fileno():
                    self._control.pump()
                elif descriptor == self._line.fileno():
                    self._read_report()
                elif not limited:
                    self.streams.finish()
                elif not self.streams.drain(self._poll):
                    return Status.OUTPUT_LIMIT
        return Status.OK if self.streams.drain() or not limited else Status.OUTPUT_LIMIT

    def end(self) -> Exit:
        """End the shell and all that belongs to it."""
        if not self._control.has_exit(self.number):
            self._control.kill(self.number)
        return self._control.wait_exit(self.number)

    def close(self) -> None:
        """Close the line and the pipes; idempotent."""
        for close in (self._line.close, self.streams.close):
            close()
            self._control.descriptors.disown(close)

    def _read_report(self) -> None:
        try:
            self._received += self._line.recv(_LARGEST_REPORT)
        except OSError:
            self._poll.unregister(self._line)
            return
        if not self._received:
            self._poll.unregister(self._line)
        if b"\0" not in self._received:
            del self._received[_LARGEST_REPORT:]
            return
        status, _, folder = bytes(self._received).split(b"\0")[0].partition(b" ")
        self._received.clear()
        if status.isdigit():
            self.report = int(status), os.fsdecode(folder)
