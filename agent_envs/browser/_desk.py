"""What a window does, on the loop: one thing at a time, bounded in time, whatever the page does meanwhile.

Everything that is asked of a page races with three things: a dialog (which stops the page until it is answered), the
end of the tab, and the clock. A page that does not answer in time is stopped, and if that does not help, replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agent_envs.browser._ends import before, unless
from agent_envs.browser._eyes import look
from agent_envs.browser._find import BrowserOptions
from agent_envs.browser._pool import Blank
from agent_envs.browser._settle import settle
from agent_envs.browser._snapshot import Snapshot
from agent_envs.browser._stillness import stillness
from agent_envs.browser._tab import Tab
from agent_envs.browser._tabs import describe
from agent_envs.errors import SandboxDied, ToolFailed

T = TypeVar("T")
_STOP_S = 1.0
_MEANWHILE = re.compile(r"context|detached|closed|navigated")
_LOOKS = 3
_GLIMPSES, _GLIMPSE_S = 20, 0.02


@dataclass(frozen=True, slots=True)
class Done:
    """An action that was carried out."""

    note: str = ""
    """What happened besides, in words; empty where nothing did."""
    seen: Snapshot | None = None
    """What there is to see afterwards, where that was asked for."""


class Interrupted(Exception):
    """A dialog has opened, or the tab is gone, before the page answered. The notes of the tabs say it."""


class Desk:
    """The working side of one window."""

    def __init__(self, blank: Blank, options: BrowserOptions) -> None:
        self.blank = blank
        self.options = options
        self.tabs = blank.tabs
        self.turn = asyncio.Lock()
        self.looking = False
        """Whether what there is to see after an action is wanted with it."""

    async def alone(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work returns, one at a time; raises `SandboxDied` as soon as the browser is gone."""
        from playwright.async_api import Error

        browser = self.blank.browser
        async with self.turn:
            try:
                with stillness().broken():
                    async with browser.watched():
                        return await unless(browser.ended, work)
            except Error as error:
                raise SandboxDied(f"the browser failed: {first_line(error)}") from error

    async def act(self, work: Callable[[Tab], Awaitable[str | None]]) -> Done:
        """Do something in the front tab and wait until the page has come to rest."""
        await self.tabs.ensure()
        tab = self.tabs.front
        self._refuse_while_asked(tab)
        extra = None
        late = asyncio.get_running_loop().time() + self.options.timeout_s / 2
        try:
            with contextlib.suppress(Interrupted):
                extra = await self.guard(tab, work(tab))
        finally:
            if asyncio.get_running_loop().time() > late:
                await self.blank.browser.question()
        return await self.done(extra or "")

    async def done(self, extra: str = "") -> Done:
        """What there is to tell, after the front tab has come to rest."""
        seen = await self.view() if self.looking else await self._settle()
        await self.tabs.ensure()
        return Done("; ".join(note for note in (extra, self.tabs.told()) if note), seen)

    async def view(self) -> Snapshot:
        """What the front tab shows, once it has come to rest; of a tab that is stopped by a dialog, the dialog."""
        for _ in range(_LOOKS):
            seen = await self._settle(looking=True)
            tab = self.tabs.front
            if tab.dialog is not None:
                said = f"(a dialog is open: {describe(tab.dialog)}; answer it with handle_dialog)"
                return self._placed(_unseen(tab.page.url, said))
            with contextlib.suppress(Interrupted):
                return self._placed(await self.guard(tab, _glimpse(tab)) if seen is None else seen)
        return self._placed(_unseen("", "(the page does not answer)"))

    def _placed(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot among the tabs of the window."""
        tabs = self.tabs.all
        several = tuple((one.number, one.page.url) for one in tabs) if len(tabs) > 1 else ()
        return replace(snapshot, tab=self.tabs.front.number, tabs=several)

    async def guard(self, tab: Tab, work: Awaitable[T]) -> T:
        """What the work returns, unless the page keeps it from an answer."""
        task = asyncio.ensure_future(_run(work))
        if await before(tab.interrupted, task, within_s=self.options.timeout_s):
            return self._outcome(task, tab)
        if tab.dialog is not None and not tab.gone:
            tab.held.append(task)
            raise Interrupted
        task.cancel()
        if not tab.gone:
            await self._unstick(tab)
        raise Interrupted

    def _outcome(self, task: asyncio.Task[T], tab: Tab) -> T:
        from playwright.async_api import Error

        try:
            return task.result()
        except Error as error:
            if tab.gone:
                raise Interrupted from error
            if not self.blank.browser.alive:
                raise
            raise ToolFailed(f"the page did not do it: {plain(error)}") from error

    async def _unstick(self, tab: Tab) -> None:
        """Stop the script that keeps a page from answering; end the page where that does not help."""
        limit = self.options.timeout_s
        for method in ("Runtime.terminateExecution", "Page.stopLoading"):
            await _attempt(tab.cdp.send(method))
        if await _attempt(tab.cdp.send("Runtime.evaluate", {"expression": "1"})):
            self.tabs.notes.append(f"the page did not answer within {limit:g} s; what it was doing was stopped")
            return
        tab.gone = "stuck"
        tab.interrupted.set()
        await _attempt(tab.cdp.send("Page.crash"))
        self.tabs.notes.append(f"the page did not answer within {limit:g} s and was closed")

    async def _settle(self, *, looking: bool = False) -> Snapshot | None:
        """Wait until the front tab has come to rest, or long enough; what it shows then, where that could be had."""
        limit = self.options.settle_s
        seen = None
        for _ in range(_LOOKS):
            await self.tabs.ensure()
            tab = self.tabs.front
            if tab.interrupted.is_set():
                return None
            try:
                seen = await settle(tab, self.blank.gateway, limit_s=limit, looking=looking)
            except TimeoutError:
                await self.blank.browser.question()
                seen = None
                self.tabs.notes.append(f"the page had not come to rest after {limit:g} s")
            await self.tabs.ensure()
            if tab is self.tabs.front:
                return seen
        return None

    def _refuse_while_asked(self, tab: Tab) -> None:
        if tab.dialog is not None:
            raise ToolFailed(f"a dialog is open: {describe(tab.dialog)}; answer it with handle_dialog first")

    async def close(self) -> None:
        """Leave nothing of the window; idempotent."""
        for tab in self.tabs.all:
            for task in tab.held:
                task.cancel()
        await self.blank.close()

    async def answer(self, *, accept: bool, text: str) -> Done:
        """Answer the open dialog of the front tab, and let go on what waited for it."""
        await self.tabs.ensure()
        tab = self.tabs.front
        dialog = tab.dialog
        if dialog is None:
            raise ToolFailed("no dialog is open")
        tab.dialog = None
        tab.interrupted.clear()
        with contextlib.suppress(Interrupted):
            await self.guard(tab, dialog.accept(text) if accept and dialog.type == "prompt" else
                             dialog.accept() if accept else dialog.dismiss())  # fmt: skip
            while tab.held:
                # Their answers are nobody's any more.
                with contextlib.suppress(ToolFailed, asyncio.CancelledError):
                    await self.guard(tab, tab.held.pop(0))
        return await self.done()


async def _glimpse(tab: Tab) -> Snapshot:
    """What a tab shows that has not come to rest: its document may go away under the question, again and again."""
    from playwright.async_api import Error

    for _ in range(_GLIMPSES):
        try:
            return await look(tab)
        except Error:
            if tab.gone:
                raise
            await asyncio.sleep(_GLIMPSE_S)
    return _unseen(tab.page.url, "(the page goes on before it can be read)")


def _unseen(url: str, why: str) -> Snapshot:
    """What is shown in place of a page."""
    return Snapshot(url=url, title='""', lines=(why,), document=-1)


async def _run(work: Awaitable[T]) -> T:
    return await work


async def _attempt(work: Coroutine[Any, Any, Any]) -> bool:
    """Whether it came to an end in a short while."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(work, _STOP_S)
    except (Error, TimeoutError):
        return False
    return True


def plain(error: Exception) -> str:
    """What Playwright says, in words that mean something to an agent: of protocols and contexts it knows nothing."""
    said = first_line(error)
    if _MEANWHILE.search(said):
        return "it went on to another document meanwhile; look at it again"
    return re.sub(r"^Protocol error \([\w.]+\): ", "", said)


def first_line(error: Exception) -> str:
    """The first line of what Playwright says, without the name of its method."""
    line = str(error).strip().partition("\n")[0]
    return (
        line.partition(": ")[2] if line.startswith(("Page.", "Frame.", "CDPSession.", "Keyboard.", "Mouse.")) else line
    )
