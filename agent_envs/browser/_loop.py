"""One event loop per process, on a thread of its own: everything asynchronous lives there, everybody else waits for it.

So a browser works from any thread, beside a running event loop, in a notebook and in a spawned worker. A forked child
finds nothing of its parent here: it starts a loop of its own, and never touches what it has inherited.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from agent_envs.errors import SandboxDied

T = TypeVar("T")
_log = logging.getLogger(__name__)
_CLOSING_S = 10.0
_lock = threading.Lock()
_current: _Loop | None = None
_inherited: list[object] = []
"""What a forked child has from its parent: kept, because letting go of it would close what the parent uses."""


class _Loop:
    """A running event loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.shelf: dict[Any, Any] = {}
        self.thread = threading.Thread(target=self._run, name="agent-envs-browser", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(_note)
        self.loop.run_forever()
        self.loop.close()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)


def call(work: Coroutine[Any, Any, T], *, timeout_s: float) -> T:
    """Run it on the loop and wait for what it returns; raises `SandboxDied` where that takes too long.

    The limit is the last one: whoever can say more about a delay gives up before.
    """
    running = _running()
    if threading.current_thread() is running.thread:
        work.close()
        raise RuntimeError("a browser was asked to wait for itself; call it from another thread than its own")
    future = running.submit(work)
    try:
        return future.result(timeout_s)
    except TimeoutError as late:
        if future.done():
            raise
        raise SandboxDied(f"the browser did not answer within {timeout_s:g} s") from late
    except CancelledError as closed:
        raise SandboxDied("the browser was closed while it was asked for something") from closed
    finally:
        future.cancel()


def leave(work: Coroutine[Any, Any, None]) -> None:
    """Run it on the loop, where one runs, and wait for nothing. Takes no lock, so that a finalizer can call it."""
    running = _current
    if running is None:
        work.close()
    else:
        running.submit(work)


def at_exit(close: Callable[[], Awaitable[None]]) -> None:
    """Await `close()` when this process ends, last registered first. To be called on the loop."""
    _running().closers.append(close)


def shelf() -> dict[Any, Any]:
    """Where what there is once per process is kept. To be used on the loop."""
    return _running().shelf


def _running() -> _Loop:
    global _current
    with _lock:
        if _current is None:
            _current = _Loop()
        return _current


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waited for: after a crash, the library leaves such failures behind, and they were told already."""
    _log.debug("%s: %r", context.get("message"), context.get("exception"))


async def _close_all(running: _Loop) -> None:
    for close in reversed(running.closers):
        # Whatever one of them meets at this point, the next one is still to be closed.
        with contextlib.suppress(Exception):
            await close()
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.wait(rest, timeout=1) if rest else None


def _end() -> None:
    """Close everything, within a bound, and stop the thread."""
    global _current
    running, _current = _current, None
    if running is None:
        return
    with contextlib.suppress(TimeoutError, CancelledError):
        running.submit(_close_all(running)).result(_CLOSING_S)
    running.loop.call_soon_threadsafe(running.loop.stop)
    running.thread.join(1)


def _forked() -> None:
    global _current, _lock
    _inherited.append(_current)
    _current, _lock = None, threading.Lock()


atexit.register(_end)
os.register_at_fork(after_in_child=_forked)
