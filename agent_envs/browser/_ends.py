"""The end of a process: told on the loop as soon as it has come, whatever the pipes to it say."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from agent_envs.errors import SandboxDied

T = TypeVar("T")
_MOMENT_S = 0.3


def when_gone(pid: int, tell: Callable[[], None]) -> None:
    """Call `tell` on the loop when a process has ended, where the system lets us know."""
    if sys.platform != "linux":
        return None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return tell()
    except OSError:
        return None
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        tell()

    loop.add_reader(descriptor, gone)
    return None


async def before(end: asyncio.Event, task: asyncio.Future[Any], *, within_s: float | None = None) -> bool:
    """Whether a task comes to its own end before something else has ended and before the time is over."""
    ending = asyncio.ensure_future(end.wait())
    try:
        await asyncio.wait({task, ending}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ending.cancel()
    return task.done()


async def a_moment(end: asyncio.Event) -> None:
    """Wait for an end that may be told a little later than that what has ended does not answer."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(end.wait(), _MOMENT_S)


async def unless(ended: asyncio.Event, work: Awaitable[T]) -> T:
    """What the work returns; raises `SandboxDied` as soon as what it needs has ended."""
    task = asyncio.ensure_future(work)
    try:
        await before(ended, task)
        if ended.is_set():
            raise SandboxDied("the browser has crashed or was closed under the episode")
        return task.result()
    finally:
        # What it still says is nobody's any more.
        if not task.cancel() and not task.cancelled():
            task.exception()
