"""A Python session, as the host sees it: cells go in, and a cell that ends badly is undone.

What an interpreter claims is believed about its own cell only. That it died, and how, process 1 says.
"""

from __future__ import annotations

import contextlib
import time

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes._journal import CellRan, Journal, fingerprint
from agent_envs.sandboxes.namespaces._control import Control, Exit, OutOfMemory
from agent_envs.sandboxes.namespaces._interpreter import Interpreter, Reply
from agent_envs.sandboxes.namespaces._record import Cell, Record
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status

_PATIENCE = 4.0
"""How many times longer a cell may take when it is repeated in a copy."""
_REPLAY_S = 8.0
"""What repeating the cells since the last snapshot may take, which took a quarter of it at most the first time."""


class NamespaceSession:
    """A Python interpreter that keeps its state between cells, and loses no more than the cell that broke it.

    Rolling back concerns the memory of the interpreter alone: files stay as the cell left them, and programs that
    the session had started are ended. Between a snapshot and the broken cell lie at most a few cheap cells, which are
    run again: what they print is dropped, what they do to files happens twice. While the session has threads of its
    own running no snapshot can be taken, and a broken cell may then cost the whole state; the result says so.
    """

    def __init__(self, control: Control, journal: Journal, *, output_bytes: int, name: int) -> None:
        self.name = name
        """Its number among the sessions of the sandbox."""
        self._control = control
        self._journal = journal
        self._interpreter = Interpreter(control, output_bytes)
        self._record = Record()
        self._count = 0
        self._save_first = False
        self._closed = False

    def run(self, code: str, *, timeout_s: float = 10.0) -> RunResult:
        """Run one cell. A cell that times out, crashes or exits leaves the state as it was before it."""
        if self._closed:
            raise ToolFailed("this Python session is closed; open a new one")
        try:
            return self._run(code.encode("utf-8", "surrogatepass"), timeout_s)
        except OutOfMemory:
            return RunResult(status=Status.OUT_OF_MEMORY, exit_code=-1, signal=9, state=SessionState.LOST)

    def close(self) -> None:
        """End the interpreter; idempotent."""
        if self._closed:
            return
        self._closed = True
        if not self._control.closed and self._interpreter.running:
            with contextlib.suppress(OutOfMemory):
                self._interpreter.end(keep=0)
        self._interpreter.close()

    @property
    def alive(self) -> bool:
        """Whether there is a state that could be copied."""
        return not self._closed

    def repeat(self, cell: CellRan) -> None:
        """Run a cell of another session under its number; raises `ToolFailed` where something else is seen."""
        self._count = cell.number - 1
        result = self._run(cell.code, _PATIENCE * cell.seconds + 1.0)
        if result.state is not SessionState.KEPT or fingerprint(result) != cell.seen:
            raise ToolFailed(
                f"the session cannot be copied: cell {cell.number} gave another result when it was repeated, as "
                "code does that depends on time, on other processes or on chance"
            )

    def _run(self, code: bytes, timeout_s: float) -> RunResult:
        began, kills = time.monotonic(), self._control.oom_kills()
        if not self._interpreter.running:
            self._interpreter.start()
        self._count += 1
        reply = self._attempt(Cell(self._count, code), began + timeout_s)
        seconds = time.monotonic() - began
        if isinstance(reply, Reply):
            self._record.add(Cell(self._count, code, seconds))
            result = self._finished(reply, seconds)
            self._journal.add(CellRan(self.name, self._count, code, seconds, fingerprint(result)))
            return result
        return self._broken(reply, seconds, kills)

    def _attempt(self, cell: Cell, deadline: float) -> Reply | Status:
        save_first, self._save_first = self._save_first, False
        reply = self._interpreter.run(cell.number, cell.code, save_first=save_first, deadline=deadline)
        self._note_snapshots()
        return reply

    def _note_snapshots(self) -> None:
        for notice in self._interpreter.take_notices():
            if self._record.snapshot:
                self._control.discard(self._record.snapshot)
            self._record.rebase(notice.exit_code, notice.number)

    def _finished(self, reply: Reply, seconds: float) -> RunResult:
        output, errors, dropped = self._interpreter.streams.take()
        return RunResult(
            status=Status.ERROR if reply.raised else Status.OK,
            stdout=output,
            stderr=errors,
            value=reply.value,
            exit_code=reply.exit_code,
            wall_s=seconds,
            cpu_s=reply.cpu_s,
            max_rss_mb=reply.max_rss_mb,
            dropped_bytes=dropped,
        )

    def _broken(self, cause: Status, seconds: float, kills: int) -> RunResult:
        self._interpreter.read_notices()
        self._note_snapshots()
        ended, kept = self._interpreter.end(keep=self._record.snapshot)
        self._interpreter.streams.finish()
        oom = cause is Status.KILLED and self._control.oom_kills() > kills
        output = self._interpreter.streams.take()
        state = self._recover(kept)
        return _broken_result(ended, cause, output, seconds=seconds, oom=oom, state=state)

    def _recover(self, kept: int) -> SessionState:
        """Bring the state before the broken cell back."""
        usable = kept == self._record.snapshot and not self._interpreter.hung_up
        if usable and self._record.repeatable and self._repeat(kept):
            return SessionState.ROLLED_BACK
        if kept or self._interpreter.running:
            self._interpreter.end(keep=0)
        self._interpreter.streams.take()
        self._interpreter.start()
        self._record = Record()
        self._journal.forget_session(self.name)
        self._save_first = False
        return SessionState.LOST

    def _repeat(self, kept: int) -> bool:
        cells = list(self._record.cells)
        if kept:
            self._interpreter.wake()
            self._record.consume_base()
            self._save_first = True
        else:
            self._interpreter.start()
        deadline = time.monotonic() + _REPLAY_S
        for cell in cells:
            if not isinstance(self._attempt(cell, deadline), Reply):
                return False
            self._interpreter.streams.take()
        return True


def _broken_result(
    ended: Exit, cause: Status, output: tuple[bytes, bytes, int], *, seconds: float, oom: bool, state: SessionState
) -> RunResult:
    return RunResult(
        status=Status.OUT_OF_MEMORY if oom else cause,
        stdout=output[0],
        stderr=output[1] + (f"{ended.refused}\n".encode() if ended.refused else b""),
        exit_code=ended.exit_code,
        signal=ended.signal,
        wall_s=seconds,
        cpu_s=ended.cpu_s,
        max_rss_mb=ended.max_rss_mb,
        dropped_bytes=output[2],
        state=state,
    )
