"""Guest programs that stay alive between calls, without isolation: an interpreter and a message channel."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_envs.errors import SandboxDied
from agent_envs.sandboxes._subprocesses import Child
from agent_envs.sandboxes.protocol import ChannelClosed, Limits, RunResult, SessionState, Status

_LENGTH = struct.Struct("<I")
_MOST_BYTES = 64 << 20

_CELLS = """
import ast, json, os, sys, traceback
requests, answers = os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w")
names = {"__name__": "__main__"}
def run(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    return "" if value is None else repr(value)
for line in requests:
    answer = {"ok": True, "value": ""}
    try:
        answer["value"] = run(json.loads(line))
    except BaseException:
        traceback.print_exc()
        answer["ok"] = False
    sys.stdout.flush(); sys.stderr.flush()
    print(json.dumps(answer), file=answers, flush=True)
"""

_MESSAGES = """
import os, struct, sys
def receive(_read=os.fdopen(int(sys.argv[1]), "rb").read, _unpack=struct.Struct("<I").unpack):
    return _read(_unpack(_read(4))[0])
def send(message, _to=os.fdopen(int(sys.argv[2]), "wb"), _pack=struct.Struct("<I").pack):
    _to.write(_pack(len(message)) + message); _to.flush()
exec(compile(open(sys.argv[3]).read(), "<program>", "exec"), {"__name__": "__main__", "receive": receive, "send": send})
"""


class Guest:
    """A guest program with a pipe in each direction besides its standard streams."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str], program: str, *arguments: str) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        command = [sys.executable, "-u", "-c", program, str(theirs_in), str(theirs_out), *arguments]
        try:
            self._child = Child(command, limits=limits, cwd=root / "work", env=env, descriptors=(theirs_in, theirs_out))
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self.alive = True

    def _send(self, data: bytes) -> None:
        self._out.write(data)

    def close(self) -> None:
        """End it; idempotent."""
        if self.alive:
            self.alive = False
            self._child.kill()
            self._in.close()
            self._out.close()


class UnsafePython(Guest):
    """An interpreter that keeps its state; a cell that must be killed takes the state with it."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str]) -> None:
        self._start = (root, limits, env)
        super().__init__(*self._start, _CELLS)

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell."""
        if not self.alive:
            super().__init__(*self._start, _CELLS)
        self._child.forget()
        line = b""
        with contextlib.suppress(BrokenPipeError):
            self._send(json.dumps(code).encode() + b"\n")
        answered = self._child.wait_for(self._in.fileno(), timeout_s=timeout_s)
        if answered:
            line = self._in.readline()
        try:
            answer = json.loads(line)
            value, status = str(answer["value"]), Status.OK if answer["ok"] else Status.ERROR
        except (ValueError, KeyError, TypeError):
            result = self._child.finish(late=not answered, state=SessionState.LOST)
            self.close()
            return result
        return self._child.result(status, code=int(status is Status.ERROR), value=value, state=SessionState.KEPT)


class UnsafeChannel(Guest):
    """A guest program that exchanges messages with the host."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str], program: Path) -> None:
        super().__init__(root, limits, env, _MESSAGES, str(program))

    def send(self, message: bytes, *, timeout_s: float) -> None:
        """Send one message; it is bounded by what the pipe takes in time."""
        packet = memoryview(_LENGTH.pack(len(message)) + message)
        os.set_blocking(self._out.fileno(), False)
        while packet:
            try:
                packet = packet[os.write(self._out.fileno(), packet) :]
            except BlockingIOError:
                if not self._child.wait_writable(self._out.fileno(), timeout_s=timeout_s):
                    raise ChannelClosed("the program does not read its messages") from None
            except BrokenPipeError:
                raise ChannelClosed("the program has ended") from None

    def receive(self, *, timeout_s: float) -> bytes:
        """Wait for one message."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size, timeout_s))
        if length > _MOST_BYTES:
            raise ChannelClosed(f"the program announced a message of {length} bytes; {_MOST_BYTES} are allowed")
        return self._exactly(length, timeout_s)

    def result(self) -> RunResult:
        """End the program and say how it ended."""
        if not self.alive:
            raise SandboxDied("the channel has been closed already")
        result = self._child.finish(late=False)
        self.close()
        return result

    def _exactly(self, size: int, timeout_s: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            if not self._child.wait_for(self._in.fileno(), timeout_s=timeout_s):
                raise ChannelClosed("the program stayed silent")
            more = os.read(self._in.fileno(), size - len(data))
            if not more:
                raise ChannelClosed("the program has ended")
            data += more
        return bytes(data)
