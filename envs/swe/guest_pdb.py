"""Runs one pytest target under Python's own debugger, inside the agent's sandbox; the host speaks for the keyboard."""

from __future__ import annotations

import io
import json
import os
import pdb
import sys
from collections.abc import Callable
from typing import Any


def serve(receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Take one job, and send what a person would see each time the debugger waits for a command, and at the end."""
    job = json.loads(receive())
    os.chdir(job["folder"])
    sys.path[:0] = job["paths"]
    sys.dont_write_bytecode = True
    import pytest

    screen = io.StringIO()
    keyboard = _Keyboard(screen, receive, send)
    debugger = _Debugger(stdin=keyboard, stdout=screen, nosigint=True, readrc=False)  # type: ignore[arg-type]
    debugger.shown = (job["folder"], job["root"])
    refused = [debugger.set_break(file, line, cond=condition) for file, line, condition in job["breaks"]]
    sys.stdout = sys.stderr = screen
    options = ["-q", "-s", "--tb=short", "-p", "no:cacheprovider", "--no-header", f"--rootdir={job['root']}"]
    plugin = _StopAtFailure(debugger)
    screen.write("".join(f"{problem}\n" for problem in refused if problem))
    _trace(debugger)
    status = pytest.main([*options, job["target"]], plugins=[plugin])
    sys.settrace(None)
    keyboard.show(ended=True, status=int(status))


class _Debugger(pdb.Pdb):
    """Python's debugger, which shows of the stack only what is the agent's business."""

    shown: tuple[str, ...] = ()

    def print_stack_trace(self) -> None:
        for entry in self.stack:
            if entry[0].f_code.co_filename.startswith(self.shown):
                self.print_stack_entry(entry)


def _trace(debugger: pdb.Pdb) -> None:
    """Stop at breakpoints only, and not at the first line of pytest itself."""
    debugger.reset()
    here = sys._getframe()
    debugger.botframe = here
    debugger._set_stopinfo(here, None, -1)  # type: ignore[attr-defined]
    sys.settrace(debugger.trace_dispatch)


class _Keyboard:
    """What the debugger reads its commands from."""

    def __init__(self, screen: io.StringIO, receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
        self._screen = screen
        self._receive = receive
        self._send = send

    def readline(self) -> str:
        self.show(ended=False, status=-1)
        return self._receive().decode("utf-8", "replace") + "\n"

    def show(self, *, ended: bool, status: int) -> None:
        """Send what is on the screen, and clear it."""
        seen = self._screen.getvalue()
        self._screen.seek(0)
        self._screen.truncate()
        self._send(json.dumps({"seen": seen, "ended": ended, "status": status}).encode())


class _StopAtFailure:
    """A pytest plugin: the debugger looks at a test where it failed."""

    def __init__(self, debugger: pdb.Pdb) -> None:
        self._debugger = debugger

    def pytest_exception_interact(self, call: Any) -> None:
        error = call.excinfo.value
        sys.settrace(None)
        self._debugger.message(f"the test fails here: {type(error).__name__}: {error}")
        self._debugger.reset()
        self._debugger.interaction(None, call.excinfo.tb)
