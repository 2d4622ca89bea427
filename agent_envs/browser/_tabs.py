"""The tabs of one window, and what pages do by themselves: open and close tabs, ask questions, send files, crash."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_envs.browser._eyes import Numbers, follow
from agent_envs.browser._tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Download, Page

MOST_TABS = 20
_MOST_DOWNLOADS = 50
_QUOTED = 300
_SOON_S = 0.3
_PAGES = ("", "about", "blob", "data", "http", "https", "javascript")
_FILE = "the page asks for a file; give it one with upload_file"
_BLANK = "a blank one has taken its place"


class Tabs:
    """Every tab of a window; there is always one, and one of them is in front."""

    def __init__(self, context: BrowserContext, news: asyncio.Event) -> None:
        self.context = context
        self._news = news
        self.all: list[Tab] = []
        self.notes: list[str] = []
        """What happened since the agent was told last."""
        self.downloads: list[dict[str, Any]] = []
        self.crashed = False
        """Whether the process of a page has died that was not ended on purpose."""
        self._front: Tab | None = None
        self._opened: list[int] = []
        """The tabs that pages have opened since the agent was told last."""
        self._count = 0
        self._born: dict[str, int] = {}
        """The numbers of the targets of pages, in the order of their creation: they arrive in another one."""
        self._adopting: set[asyncio.Task[None]] = set()
        self._coming: set[Page] = set()
        self._refused = 0
        self._ours = 0
        self._numbers = Numbers()

    @property
    def front(self) -> Tab:
        """The tab that the agent sees."""
        assert self._front is not None
        return self._front

    async def begin(self, page: Page, births: dict[str, Callable[[str], object]]) -> None:
        """Take over a context whose one page is this; `births`: whom its browser tells the pages of a context."""
        self.context.on("page", self._on_page)
        self.context.on("dialog", self._on_dialog)
        self._front = await self._adopt(page)
        context = (await _target(self._front.cdp))["browserContextId"]
        births[context] = self._number

        def over(_: Any) -> None:
            births.pop(context, None)

        self.context.on("close", over)

    async def open(self) -> Tab:
        """Another tab, in front."""
        self._ours += 1
        self._front = await self._adopt(await self.context.new_page())
        return self._front

    async def close(self, tab: Tab) -> None:
        """Close a tab; the last one leaves a blank one."""
        tab.gone = "closed"
        tab.interrupted.set()
        with contextlib.suppress(Exception):  # it may be gone already, which is what is wanted
            await asyncio.wait_for(tab.page.close(), 2)
        self._forget(tab)
        await self.ensure()

    async def ensure(self) -> None:
        """See that there is a living tab in front, and that tabs on their way have arrived."""
        while self._adopting:
            await asyncio.wait(self._adopting, timeout=2)
        for tab in [tab for tab in self.all if tab.gone]:
            self._forget(tab)
            with contextlib.suppress(Exception):  # what has crashed may not even close
                await asyncio.wait_for(tab.page.close(), 1)
        if self._front is None:
            await self.open()

    def bring(self, tab: Tab) -> None:
        """Put a tab in front."""
        self._front = tab

    def told(self) -> str:
        """What happened since the last call, as one line."""
        for number in sorted(self._opened):
            self.notes.append(f"tab {number} was opened" + " and is in front" * (number == self.front.number))
        self._opened = []
        if self._refused:
            self.notes.append(f"{self._refused} more tabs were closed: there can be {MOST_TABS}")
            self._refused = 0
        notes, self.notes = self.notes, []
        return "; ".join(dict.fromkeys(notes))

    async def _adopt(self, page: Page) -> Tab:
        from playwright.async_api import Error

        cdp = await self.context.new_cdp_session(page)
        number = self._number((await _target(cdp))["targetId"])
        tab = Tab(page, cdp, number, self._news, seen={"numbers": self._numbers})
        self._coming.discard(page)
        self.all.append(tab)
        self.all.sort(key=lambda tab: tab.number)
        page.on("close", lambda _: self._on_gone(tab, f"tab {tab.number} has closed itself"))
        page.on("crash", lambda _: self._on_crash(tab))
        page.on("download", lambda download: asyncio.ensure_future(self._on_download(tab, download)))
        self._listen(tab)
        with contextlib.suppress(Error):
            await asyncio.gather(
                tab.cdp.send("Page.enable"),
                tab.cdp.send("Page.setInterceptFileChooserDialog", {"enabled": True}),
                follow(tab),
            )
        return tab

    def _number(self, target: str) -> int:
        """The number of the tab that is or will be made of a page, given by its target."""
        if target not in self._born:
            self._count += 1
            self._born[target] = self._count
        return self._born[target]

    def _listen(self, tab: Tab) -> None:
        """Keep up with what the browser says of the tab."""
        loop = asyncio.get_running_loop()

        def asked(_: Any) -> None:
            tab.leaving_until = loop.time() + _SOON_S

        def begun(event: dict[str, Any]) -> None:
            tab.loading.add(event["frameId"])
            tab.leaving_until = 0.0

        def over(event: dict[str, Any]) -> None:
            tab.loading.discard(event["frameId"])
            tab.news.set()

        def arrived(event: dict[str, Any]) -> None:
            # From here on the document itself says when it is whole.
            if "parentId" not in event["frame"]:
                over({"frameId": event["frame"]["id"]})
                if event["frame"]["url"].startswith("http"):
                    tab.opened = event["frame"]["url"]
                if tab.scripts:
                    tab.scripts.clear()

        tab.cdp.on("Page.frameRequestedNavigation", asked)
        tab.cdp.on("Page.frameStartedLoading", begun)
        tab.cdp.on("Page.frameNavigated", arrived)
        tab.cdp.on("Page.frameStoppedLoading", over)
        tab.cdp.on("Page.frameDetached", over)

        def window(event: dict[str, Any]) -> None:
            # Other addresses (mailto:) are for other programs: no page comes.
            if event["url"].partition(":")[0] in _PAGES:
                tab.opening += 1

        def download(_: Any) -> None:
            tab.opening += 1
            tab.downloads += 1
            tab.news.set()

        tab.cdp.on("Page.windowOpen", window)
        tab.cdp.on("Page.downloadWillBegin", download)
        tab.cdp.on("Page.fileChooserOpened", lambda _: self.notes.append(_FILE))

    def _on_page(self, page: Page) -> None:
        if self._ours:
            self._ours -= 1
            return
        opener = next((tab for tab in self.all if tab.opening), None)
        if opener is not None:
            opener.opening -= 1
            self._news.set()
        if len(self.all) + len(self._coming) >= MOST_TABS:
            self._refused += 1
            asyncio.ensure_future(page.close())  # noqa: RUF006 - nobody waits for it
            return
        self._coming.add(page)
        task = asyncio.ensure_future(self._arrive(page))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _arrive(self, page: Page) -> None:
        from playwright.async_api import Error

        try:
            tab = await self._adopt(page)
        except Error:
            # It was gone again before it was here.
            self._coming.discard(page)
            return
        if not tab.gone:
            self._opened.append(tab.number)
            if tab is self.all[-1]:
                self._front = tab

    def _on_crash(self, tab: Tab) -> None:
        if not tab.gone:
            self.crashed = True
        self._on_gone(tab, f"the page in tab {tab.number} has crashed")

    def _on_gone(self, tab: Tab, why: str) -> None:
        if tab.gone:
            return
        tab.gone = why
        tab.interrupted.set()
        self.notes.append(why if len(self.all) > 1 else f"{why}; {_BLANK}")

    def _forget(self, tab: Tab) -> None:
        if tab not in self.all:
            return
        at = self.all.index(tab)
        self.all.remove(tab)
        for task in tab.held:
            task.cancel()
        if self._front is tab:
            self._front = self.all[max(0, at - 1)] if self.all else None

    def _on_dialog(self, dialog: Dialog) -> None:
        tab = next((tab for tab in self.all if tab.page is dialog.page), None)
        if tab is None:
            # Asked by a page before it is a tab: there is nobody yet who could answer.
            self.notes.append(f"{describe(dialog)} was dismissed")
            asyncio.ensure_future(dialog.dismiss())  # noqa: RUF006 - nobody waits for it
            return
        tab.dialog = dialog
        tab.interrupted.set()
        self.notes.append(f"a dialog opened in tab {tab.number}: {describe(dialog)}; answer it with handle_dialog")

    async def _on_download(self, tab: Tab, download: Download) -> None:
        from playwright.async_api import Error

        name = json.dumps(download.suggested_filename)
        try:
            size = (await download.path()).stat().st_size
        except Error:
            self.notes.append(f"the download of {name} has failed")
        else:
            if len(self.downloads) < _MOST_DOWNLOADS:
                self.downloads.append({"name": download.suggested_filename, "bytes": size})
            self.notes.append(f"downloaded {name} ({size} bytes)")
        with contextlib.suppress(Error):
            await download.delete()
        tab.opening = max(0, tab.opening - 1)
        self._news.set()


async def _target(cdp: CDPSession) -> dict[str, Any]:
    """What the browser calls a page."""
    answer = await cdp.send("Target.getTargetInfo")
    return dict(answer["targetInfo"])


def describe(dialog: Dialog) -> str:
    """A dialog in words."""
    if dialog.type == "beforeunload":
        return "beforeunload: the page asks whether to leave it; changes may be lost"
    message = dialog.message
    text = _quoted(message[:_QUOTED] + ("..." if len(message) > _QUOTED else ""))
    answer = f" (suggests {_quoted(dialog.default_value[:_QUOTED])})" if dialog.default_value else ""
    return f"{dialog.type} {text}{answer}"


def _quoted(text: str) -> str:
    """A text of the page in quotes, on one line for every reader: nothing that ends a line or turns its direction."""
    return "".join(one if one.isprintable() else f"\\u{{{ord(one):x}}}" for one in json.dumps(text, ensure_ascii=False))
