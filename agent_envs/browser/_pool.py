"""Windows kept open in advance: each is taken by one episode and never again, and made anew behind its back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_envs.browser._ends import a_moment, before, unless
from agent_envs.browser._find import BrowserOptions
from agent_envs.browser._loop import at_exit, shelf
from agent_envs.browser._process import Browser, browser
from agent_envs.browser._rehearsal import rehearse
from agent_envs.browser._stillness import stillness
from agent_envs.browser._tabs import Tabs
from agent_envs.errors import SandboxDied, SandboxUnavailable
from agent_envs.sites import Gateway

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

_OPENING_S, _REHEARSAL_S = 60.0, 5.0
_PATIENCE_S = 0.5
"""A new window is begun while no window is being acted in, so that it slows nobody down; or after this many seconds."""


@dataclass(slots=True, eq=False)
class Blank:
    """A window in which nothing has happened yet."""

    browser: Browser
    gateway: Gateway
    context: BrowserContext
    tabs: Tabs

    async def close(self) -> None:
        """Cut it off from its sites, and let nobody wait until the browser has put it away; idempotent."""
        self.gateway.cut_off()
        leaving: set[asyncio.Task[None]] = shelf().setdefault("leaving", set())
        leaving.add(task := asyncio.create_task(_put_away(self)))
        task.add_done_callback(leaving.discard)


class _Pool:
    """The blank windows for one set of options."""

    def __init__(self, options: BrowserOptions) -> None:
        self.options = options
        self.made: list[Blank] = []
        self.making: asyncio.Task[Blank] | None = None
        self.wanted = asyncio.Event()
        """Set when somebody waits for what is being made."""
        self.closed = False

    async def take(self) -> Blank:
        if not self.made and self.making is not None and not self.wanted.is_set():
            # It is there sooner than another one, and two at once hinder each other.
            self.wanted.set()
            await asyncio.wait({self.making})
        blank = await self._ready() or await _open(self.options)
        self._refill()
        return blank

    async def _ready(self) -> Blank | None:
        while self.made:
            blank = self.made.pop()
            if blank.browser.alive and not blank.tabs.crashed:
                return blank
            await blank.close()
        return None

    async def close(self) -> None:
        """Close what is ready; idempotent."""
        self.closed = True
        if self.making is not None:
            self.making.cancel()
            await asyncio.wait({self.making}, timeout=1)
        while self.made:
            await self.made.pop().close()

    def _refill(self) -> None:
        if not self.closed and self.making is None and len(self.made) < self.options.ready:
            self.wanted.clear()
            self.making = asyncio.create_task(self._make())
            self.making.add_done_callback(self._put)

    async def _make(self) -> Blank:
        reasons = [asyncio.ensure_future(self.wanted.wait()), asyncio.ensure_future(stillness().lasting())]
        try:
            await asyncio.wait(reasons, timeout=_PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for reason in reasons:
                reason.cancel()
        blank = await _open(self.options)
        if self._spare():
            await _rehearsed(blank, self._spare)
        return blank

    def _spare(self) -> bool:
        """Whether there is time for what nobody waits for."""
        return stillness().now and not self.wanted.is_set()

    def _put(self, task: asyncio.Task[Blank]) -> None:
        self.making = None
        # Where it could not be made, the next taker tries again, and is told.
        if not task.cancelled() and task.exception() is None:
            self.made.append(task.result())
            self._refill()


async def take(options: BrowserOptions) -> Blank:
    """A blank window, at once where one is ready. Runs on the loop."""
    pools: dict[BrowserOptions, _Pool] = shelf().setdefault("pools", {})
    if options not in pools:
        pools[options] = _Pool(options)
        at_exit(pools[options].close)
    return await pools[options].take()


async def _rehearsed(blank: Blank, go_on: Callable[[], bool]) -> None:
    """Rehearse in a window; one in which that does not come to an end soon is put away, and `SandboxDied` raised."""
    tab = blank.tabs.front
    rehearsal = asyncio.ensure_future(rehearse(tab, go_on=go_on))
    rehearsal.add_done_callback(lambda task: task.cancelled() or task.exception())
    done = False
    try:
        done = await before(tab.interrupted, rehearsal, within_s=_REHEARSAL_S) and rehearsal.exception() is None
    finally:
        rehearsal.cancel()
        if not done:
            await blank.close()
    if not done:
        raise SandboxDied("the browser has not shown a first page")


async def _put_away(blank: Blank) -> None:
    from playwright.async_api import Error

    try:
        # Silent where the browser is gone.
        with contextlib.suppress(Error):
            await blank.context.close()
    finally:
        # Not before: what its pages still ask for would be asked of whoever gets the port.
        await blank.gateway.close()


async def _blank(process: Browser, options: BrowserOptions, gateway: Gateway) -> Blank:
    context = await process.new_context(options, port=gateway.port)
    tabs = Tabs(context, gateway.news)
    await tabs.begin(await context.new_page(), process.births)
    await process.mind()
    return Blank(process, gateway, context, tabs)


async def _open(options: BrowserOptions) -> Blank:
    from playwright.async_api import Error

    gateway = await Gateway().open()
    process: Browser | None = None
    try:
        process = await browser(options)
        async with process.watched(), asyncio.timeout(_OPENING_S):
            return await unless(process.ended, _blank(process, options, gateway))
    except (Error, TimeoutError) as error:
        await gateway.close()
        if process is not None:
            await a_moment(process.ended)
            if process.alive:
                await process.try_out()
        why = f"the browser opens no window: {str(error).partition(chr(10))[0] or 'it takes too long'}"
        if process is None or process.alive:
            # By these options, or by a process that died: who tries again may have better luck.
            raise SandboxUnavailable(why, passing=True) from error
        raise SandboxDied(why) from error
    except BaseException:
        await gateway.close()
        raise
