"""A window: one browser context, one episode. The synchronous face of what happens on the loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import weakref
from collections.abc import Coroutine, Mapping
from datetime import datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from agent_envs.browser._acts import Acting
from agent_envs.browser._addresses import address, cause
from agent_envs.browser._desk import Desk, Done, Interrupted, first_line
from agent_envs.browser._ends import unless
from agent_envs.browser._eyes import prepare
from agent_envs.browser._find import BrowserOptions
from agent_envs.browser._loop import call, leave
from agent_envs.browser._pool import take
from agent_envs.browser._tab import Tab
from agent_envs.browser._tabs import MOST_TABS
from agent_envs.errors import ConfigError, SandboxDied, ToolFailed
from agent_envs.sites import Gateway, Visit

T = TypeVar("T")
_START_S = 120.0
_LONGEST_WAIT_S = 30.0
_APOLOGY_S, _SOON_S = 1.0, 0.005


def open_window(options: BrowserOptions, *, visits: Mapping[str, Visit], now: str, seed: int) -> Window:
    """A window on these sites (by host name), in which the clock stands at `now` and chance comes from `seed`.

    Raises `SandboxUnavailable` where there is no browser, and says how to get one.
    """
    _require(options, visits, now=now, seed=seed)
    return Window(call(_open(options, visits, now=now, seed=seed), timeout_s=_START_S))


def _require(options: object, visits: object, *, now: object, seed: object) -> None:
    """Raise `ConfigError` where a window cannot be meant."""
    if not isinstance(options, BrowserOptions):
        raise ConfigError(f"options are {options!r}; expected BrowserOptions")
    if not isinstance(visits, Mapping) or not all(isinstance(visit, Visit) for visit in visits.values()):
        raise ConfigError(
            f"visits are {visits!r}; expected visits by host name, such as agent_envs.sites.begin returns"
        )
    if type(seed) is not int:
        raise ConfigError(f"seed is {seed!r}; expected a whole number")
    try:
        offset = datetime.fromisoformat(now).tzinfo  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"now is {now!r}; expected a local time such as '2026-03-10T09:00:00'") from error
    if offset is not None:
        raise ConfigError(f"now is {now!r}; expected a local time, without an offset")


async def _open(options: BrowserOptions, visits: Mapping[str, Visit], *, now: str, seed: int) -> Desk:
    from playwright.async_api import Error

    blank = await take(options)
    desk = Desk(blank, options)
    blank.gateway.serve(visits)
    try:
        cookies = [
            {"name": name, "value": value, "url": f"http://{host}/"}
            for host, visit in visits.items()
            for name, value in visit.cookies.items()
        ]
        async with blank.browser.watched():
            begun = asyncio.gather(
                prepare(blank.context, seed=seed, now_ms=_epoch_ms(now, options.timezone)),
                blank.context.add_cookies(cookies),  # type: ignore[arg-type]
            )
            await unless(blank.browser.ended, begun)
    except Error as error:
        await blank.close()
        raise SandboxDied(f"the browser prepares no window: {first_line(error)}") from error
    except BaseException:
        await blank.close()
        raise
    return desk


def _epoch_ms(now: str, timezone: str) -> int:
    return round(datetime.fromisoformat(now).replace(tzinfo=ZoneInfo(timezone)).timestamp() * 1000)


class Window(Acting):
    """One browser window with its tabs. Every method is bounded in time; threads may share it, one call at a time.

    What the agent does wrong raises `ToolFailed`; a browser that is gone raises `SandboxDied`.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk: Desk | None = desk
        self._process = os.getpid()
        self._tabs = desk.tabs
        self._forgotten = weakref.finalize(self, _abandon, desk, os.getpid())
        self._forgotten.atexit = False
        self.gateway: Gateway = desk.blank.gateway
        """What the pages asked for."""

    def navigate(self, url: str) -> Done:
        """Open an address in the front tab."""
        desk = self._open_desk()

        async def work(tab: Tab) -> str:
            return await _goto(tab, address(url, at=tab.place), desk.options.timeout_s)

        return self._run(desk.act(work))

    def go_back(self) -> Done:
        """Go to the page before this one."""
        return self._travel(-1)

    def go_forward(self) -> Done:
        """Go to the page that `go_back` came from."""
        return self._travel(+1)

    def new_tab(self, url: str = "") -> Done:
        """Open a tab in front, with an address in it."""
        desk = self._open_desk()

        async def work() -> Done:
            await desk.tabs.ensure()
            if len(desk.tabs.all) >= MOST_TABS:
                raise ToolFailed(f"there can be {MOST_TABS} tabs; close one first")
            target = address(url, at=desk.tabs.front.place) if url else ""
            tab = await desk.tabs.open()
            note = f"tab {tab.number} is in front"
            return await desk.act(lambda tab: _goto(tab, target, desk.options.timeout_s)) if target else Done(note)

        return self._run(work())

    def close_tab(self, number: int = 0) -> Done:
        """Close a tab, by its number; 0 is the one in front."""
        desk = self._open_desk()

        async def work() -> Done:
            await desk.tabs.ensure()
            await desk.tabs.close(_numbered(desk, number))
            return await desk.done(f"tab {desk.tabs.front.number} is in front")

        return self._run(work())

    def switch_tab(self, number: int) -> Done:
        """Put a tab in front."""
        desk = self._open_desk()

        async def work() -> Done:
            await desk.tabs.ensure()
            tab = _numbered(desk, number)
            desk.tabs.bring(tab)
            if tab.dialog is None:
                return await desk.act(lambda tab: _bring(tab))
            return await desk.done()

        return self._run(work())

    def handle_dialog(self, *, accept: bool, text: str = "") -> Done:
        """Answer the dialog that is open in the front tab; `text` is for a prompt."""
        desk = self._open_desk()
        return self._run(desk.answer(accept=accept, text=text))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page's own world, as JSON data. For environments, never an agent.

        None where the page does not answer; what it throws is raised as `ToolFailed`.
        """
        desk = self._open_desk()

        async def work() -> Any:
            await desk.tabs.ensure()
            tab = desk.tabs.front
            asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
            with contextlib.suppress(Interrupted):
                return _value(await desk.guard(tab, tab.cdp.send("Runtime.evaluate", asked)))
            return None

        return self._run(work())

    @property
    def crashed(self) -> bool:
        """Whether the process of one of its pages has died, be it by a fault of the browser or for want of memory."""
        return self._tabs.crashed

    def end_state(self) -> dict[str, Any]:
        """Where the window ends: the addresses of its tabs, which one is in front, and what was downloaded."""
        desk = self._open_desk()

        async def work() -> dict[str, Any]:
            await desk.tabs.ensure()
            tabs = desk.tabs
            return {
                "urls": [tab.page.url for tab in tabs.all],
                "active": tabs.all.index(tabs.front),
                "downloads": list(tabs.downloads),
            }

        return self._run(work())

    def close(self) -> None:
        """Close it with all of its tabs; idempotent, and silent where the browser is gone."""
        self._forgotten.detach()
        desk, self._desk = self._desk, None
        if desk is not None and self._process == os.getpid():
            with contextlib.suppress(SandboxDied):
                call(desk.close(), timeout_s=desk.options.timeout_s + 5)

    def _travel(self, steps: int) -> Done:
        from playwright.async_api import Error

        desk = self._open_desk()

        async def work(tab: Tab) -> str:
            at = tab.place
            history = await tab.cdp.send("Page.getNavigationHistory")
            to = history["currentIndex"] + steps
            if not 0 <= to < len(history["entries"]):
                raise ToolFailed(f"there is no {'earlier' if steps < 0 else 'later'} page in this tab")
            move = tab.page.go_back if steps < 0 else tab.page.go_forward
            try:
                await move(wait_until="commit", timeout=desk.options.timeout_s * 1000)
            except Error as error:
                if "ERR_CACHE_MISS" not in error.message:
                    raise
                await _apology(tab, error.message)
                await _goto(tab, at, desk.options.timeout_s)
                return "that page is the answer to a form, which would have to be sent again; this one is shown anew"
            return ""

        return self._run(desk.act(work))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        desk = self._open_desk()
        # Twice the limit of one thing asked of a page, since an action asks for some, and the rest of three tabs in a
        # row: the last bound, never met.
        limits = desk.options
        return call(desk.alone(work), timeout_s=2 * limits.timeout_s + 3 * limits.settle_s + _LONGEST_WAIT_S)

    def _open_desk(self) -> Desk:
        if self._desk is None:
            raise SandboxDied("this window is closed")
        if self._process != os.getpid():
            # A forked child would write into its parent's pipe: the parent acts for both, and reads both answers.
            raise SandboxDied("this window belongs to the process that this one was forked from; open one here")
        return self._desk


def _abandon(desk: Desk, process: int) -> None:
    """Close a window that nobody has closed and nobody can any more."""
    if process == os.getpid():
        leave(desk.close())


async def _goto(tab: Tab, url: str, timeout_s: float) -> str:
    from playwright.async_api import Error
    from playwright.async_api import TimeoutError as Late

    begun = tab.downloads
    try:
        # Less than the limit of an action, so that what went wrong can be said.
        answer = await tab.page.goto(url, wait_until="commit", timeout=timeout_s * 900)
    except Late as error:
        await tab.cdp.send("Page.stopLoading")
        raise ToolFailed(f"{url} did not open: there was no answer within {timeout_s * 0.9:.3g} s") from error
    except Error as error:
        if tab.gone or tab.page.is_closed():
            raise
        if "interrupted by another navigation" in error.message:
            return ""
        if "Download is starting" in error.message:
            await _until_begun(tab, begun)
            return ""
        await _apology(tab, error.message)
        raise ToolFailed(f"{url} did not open: {cause(first_line(error))}") from error
    return f"the answer has status {answer.status}" if answer is not None and answer.status >= 400 else ""


async def _until_begun(tab: Tab, downloads: int) -> None:
    """Wait until the tab knows of a download of which Playwright has heard: from then on it counts as on its way."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_APOLOGY_S):
            while tab.downloads == downloads:
                tab.news.clear()
                await tab.news.wait()


async def _apology(tab: Tab, message: str) -> None:
    """Wait until the browser shows its own page about what did not open, since it takes the place of any other one."""
    from playwright.async_api import Error

    if "net::ERR_" not in message or "ERR_ABORTED" in message:
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_APOLOGY_S):
            while True:
                with contextlib.suppress(Error):
                    # Refused in between.
                    await tab.cdp.send("Page.getNavigationHistory")
                    if not tab.page.url.startswith("http"):
                        return
                await asyncio.sleep(_SOON_S)


def _value(answer: Mapping[str, Any]) -> Any:
    """What an expression was worth, from the browser's answer."""
    if wrong := answer.get("exceptionDetails"):
        said = wrong.get("exception", {}).get("description") or wrong["text"]
        raise ToolFailed(f"the page did not do it: {said.partition(chr(10))[0]}")
    return answer["result"].get("value")


async def _bring(tab: Tab) -> str:
    await tab.page.bring_to_front()
    return ""


def _numbered(desk: Desk, number: int) -> Tab:
    if number == 0:
        return desk.tabs.front
    for tab in desk.tabs.all:
        if tab.number == number:
            return tab
    there = ", ".join(str(tab.number) for tab in desk.tabs.all)
    raise ToolFailed(f"there is no tab {number}; the tabs are {there}")
