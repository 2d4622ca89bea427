"""Python in a container: how its programs get there, and sessions that keep their state."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import namespaces
from agent_envs.sandboxes._journal import CellRan, Journal, fingerprint
from agent_envs.sandboxes.docker import _scripts
from agent_envs.sandboxes.docker._exchange import Exchange, Ground
from agent_envs.sandboxes.docker._guard import Guard
from agent_envs.sandboxes.docker._shell import ended
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status

_LEAVE_S = 5.0
_REPLAY_S = 2.0
_PATIENCE = 4.0

# Reads our modules as if they were installed, and leaves no trace of them.
_BOOT = """
import sys
folder, sys.path[:] = sys.path[:1], sys.path[1:]
def load(name, source):
    above = None
    for part in name.split("."):
        whole = part if above is None else above.__name__ + "." + part
        module = sys.modules.setdefault(whole, type(sys)(whole))
        above is None or setattr(above, part, module)
        module.__path__, above = [], module
    exec(compile(source, "<agent-envs>", "exec"), module.__dict__)
    return module
for name, source in {sources!r}:
    module = load(name, source)
for name in [name for name in sys.modules if name.partition(".")[0] == "agent_envs"]:
    del sys.modules[name]
sys.path[:0] = folder
module.main(*sys.argv[1:])
"""


@cache
def _boot() -> str:
    here = Path(__file__).parent
    names = (Path(namespaces.__file__).parent / "_guest.py", here / "guest_python.py")
    parts = ("agent_envs.sandboxes.namespaces._guest", "agent_envs.sandboxes.docker.guest_python")
    sources = [(part, path.read_text(encoding="utf-8")) for part, path in zip(parts, names, strict=True)]
    return _BOOT.replace("{sources!r}", repr(sources))


def program_words() -> list[str]:
    """The command that runs the Python program whose length and text are the beginning of its input."""
    return ["python3", "-c", _boot(), "program", ""]


class PythonProcess:
    """A Python process on a line of its own."""

    def __init__(self, ground: Ground, guard: Guard, kind: str, farewell: str) -> None:
        self._guard = guard
        guard.open()
        self.exchange = Exchange(ground, _scripts.program(ground.workspace, farewell, ["python3", "-c", _boot(), kind]))
        self.exchange.await_start()

    def end(self, began: float, others: Iterable[int]) -> None:
        """End it with everything that it has started."""
        number = self.exchange.number
        self._guard.end_since(began, root=0, spared={*others} - {number}, session=number)
        deadline = time.monotonic() + _LEAVE_S
        while not self.exchange.stream.ended and self.exchange.stream.listen(deadline):
            pass
        self.exchange.close()


class DockerPython:
    """A Python interpreter that keeps its state between cells.

    A cell that breaks it costs what it did itself: a new interpreter runs the cells before it again, where that takes
    little and shows the same. Files stay as they are, and those cells do their work on files twice.
    """

    def __init__(
        self, ground: Ground, guard: Guard, journal: Journal, others: Callable[[], Iterable[int]], *, name: int
    ) -> None:
        self.name = name
        """Its number among the sessions of the sandbox."""
        self._ground = ground
        self._guard = guard
        self._journal = journal
        self._others = others
        self._process: PythonProcess | None = None
        self._cells: list[CellRan] = []
        self._count = 0
        self._closed = False

    @property
    def number(self) -> int:
        """The number of its process inside the container, or 0."""
        return self._process.exchange.number if self._process is not None else 0

    @property
    def alive(self) -> bool:
        """Whether there is a state that could be copied."""
        return not self._closed

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell. A cell that times out, crashes or exits leaves the state as it was before it."""
        if self._closed:
            raise ToolFailed("this Python session is closed; open a new one")
        if self._process is None:
            self._process = self._start()
        self._count += 1
        source = code.encode("utf-8", "surrogatepass")
        began = time.monotonic()
        cause = self._attempt(self._count, source, began + timeout_s)
        result = self._answer(began) if cause is Status.OK else None
        if result is None:
            return self._broken(cause, began)
        cell = CellRan(self.name, self._count, source, result.wall_s, fingerprint(result))
        self._cells.append(cell)
        self._journal.add(cell)
        return result

    def repeat(self, cell: CellRan) -> None:
        """Run a cell of another session under its number; raises `ToolFailed` where something else is seen."""
        self._count = cell.number - 1
        result = self.run(cell.code.decode("utf-8", "surrogatepass"), timeout_s=_PATIENCE * cell.seconds + 1.0)
        if result.state is not SessionState.KEPT or fingerprint(result) != cell.seen:
            raise ToolFailed(
                f"the session cannot be copied: cell {cell.number} gave another result when it was repeated, as "
                "code does that depends on time, on other processes or on chance"
            )

    def close(self) -> None:
        """End the interpreter; idempotent."""
        self._closed = True
        if self._process is not None:
            self._process.exchange.close()
            self._process = None

    def _start(self) -> PythonProcess:
        return PythonProcess(self._ground, self._guard, "cells", _scripts.FRAMED)

    def _attempt(self, number: int, code: bytes, deadline: float) -> Status:
        assert self._process is not None
        return self._process.exchange.request(b"%d %d\n%b" % (number, len(code), code), deadline)

    def _answer(self, began: float) -> RunResult | None:
        """What the interpreter says of its cell; None where it has ended instead, or says nothing sensible."""
        assert self._process is not None
        exchange = self._process.exchange
        if exchange.left:
            return None
        try:
            status, raised, cpu_s, memory_kb, value = json.loads(exchange.stream.output.frame or b"")
            told = int(status), bool(raised), float(cpu_s), int(memory_kb) / 1024, str(value)
        except (ValueError, TypeError):
            return None
        output, errors, dropped = exchange.stream.take()
        return RunResult(
            status=Status.ERROR if told[1] else Status.OK,
            stdout=output,
            stderr=errors,
            value=told[4],
            exit_code=told[0],
            wall_s=time.monotonic() - began,
            cpu_s=told[2],
            max_rss_mb=told[3],
            dropped_bytes=dropped,
        )

    def _broken(self, cause: Status, began: float) -> RunResult:
        """The result of a cell that broke the interpreter, after the state before it is back, if it can be."""
        process, self._process = self._process, None
        assert process is not None
        wall_s = time.monotonic() - began
        process.end(began, self._others())
        last = ended(process.exchange.exit_status(), wall_s=wall_s)
        if cause is Status.OK:
            # It left by itself, with whatever status: the cell did not come to its end.
            cause = Status.OUT_OF_MEMORY if self._guard.new_memory_kills() else Status.KILLED
        output, errors, dropped = process.exchange.stream.take()
        return RunResult(
            status=cause,
            stdout=output,
            stderr=errors,
            exit_code=last.exit_code,
            signal=last.signal,
            wall_s=wall_s,
            dropped_bytes=dropped,
            state=self._recover(),
        )

    def _recover(self) -> SessionState:
        cells, self._cells = self._cells, []
        self._process = self._start()
        if sum(cell.seconds for cell in cells) <= _REPLAY_S and all(map(self._replay, cells)):
            self._cells = cells
            return SessionState.ROLLED_BACK
        self._process.end(time.monotonic(), self._others())
        self._process = None
        self._journal.forget_session(self.name)
        return SessionState.LOST

    def _replay(self, cell: CellRan) -> bool:
        began = time.monotonic()
        cause = self._attempt(cell.number, cell.code, began + _PATIENCE * cell.seconds + 1.0)
        result = self._answer(began) if cause is Status.OK else None
        return result is not None and fingerprint(result) == cell.seen
