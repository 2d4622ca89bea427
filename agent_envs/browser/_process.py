"""The browser: one process tree per set of options, shared by every window of this process, restarted after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_envs.browser._driver import Driver, start_driver
from agent_envs.browser._ends import a_moment, unless, when_gone
from agent_envs.browser._find import BrowserOptions, find_executable, remedy
from agent_envs.browser._loop import at_exit, shelf
from agent_envs.browser.guest_warden import children
from agent_envs.errors import SandboxDied, SandboxUnavailable

if TYPE_CHECKING:
    from playwright.async_api import Browser as Handle
    from playwright.async_api import BrowserContext

_START_MS = 100_000
_TRIAL_S = 30.0
_SUSPECT_S, _ANSWER_S = 10.0, 15.0
"""After so long a time of work the browser is asked whether it is there, and given so long to answer."""
_WITHOUT = (
    # With it, every document has a frame made for it in the browser, which takes 6 ms.
    "RenderDocument",
    # With it, what was asked of a page after a click waits until the page has been painted, which takes 15 ms.
    "DeferRendererTasksAfterInput",
    # With it, the first file that a page of a context loads waits for a list of patterns to be compiled: 5 to 15 ms.
    "CacheSharingForPervasiveResources",
    # What Playwright turns off. Of several such lists on a command line the last one counts, and that is ours.
    *["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"],
    *["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"],
    *["AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin", "OptimizationHints", "AimEnabled"],
    *["NetworkTimeServiceQuerying", "PreconnectToSearch", "msForceBrowserSignIn"],
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
"""Features of the browser that are off."""
_FLAGS = (
    f"--disable-features={','.join(_WITHOUT)}",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-domain-reliability",
    "--no-first-run",
    "--no-pings",
    # A page that scrolls smoothly is seen somewhere on the way.
    "--disable-smooth-scrolling",
    # In megabytes. Otherwise a page collects no garbage before it has some 100 MB of it.
    "--js-flags=--initial-old-space-size=4",
    "--dns-prefetch-disable",
    # Frames of other sites cost no process of their own, and answer through the session of their page.
    "--disable-site-isolation-trials",
    # Below the gateway's refusals a second bar: no name has an address, and nothing goes out but through a proxy.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH")


class Browser:
    """One running browser."""

    def __init__(self, handle: Handle, driver: Driver) -> None:
        self._handle = handle
        self._driver = driver
        self.ended = asyncio.Event()
        """Set when it has crashed or was closed; whoever waits for it gives up then."""
        self._minded = False
        self.births: dict[str, Callable[[str], object]] = {}
        """Whom to tell the targets of the pages that are created in a context, in that order."""
        driver.takes_along(self.ended)
        handle.on("disconnected", lambda _: self.ended.set())

    @property
    def alive(self) -> bool:
        """Whether it can be asked for anything."""
        return not self.ended.is_set() and self._driver.alive

    async def new_context(self, options: BrowserOptions, *, port: int) -> BrowserContext:
        """A context of its own cookies, cache and storage, whose every request goes to the gateway at this port."""
        return await self._handle.new_context(
            viewport={"width": options.width, "height": options.height},
            locale=options.locale,
            timezone_id=options.timezone,
            reduced_motion="reduce",
            service_workers="block",
            proxy={"server": f"http://127.0.0.1:{port}"},
        )

    async def mind(self) -> None:
        """From now on it has ended as soon as a process has that it cannot replace.

        Without its network process no context finds its gateway; without its zygotes no further page has a process.
        Idempotent; they are there once a page is.
        """
        if self._minded:
            return
        self._minded = True
        session = await self.session()
        told = await session.send("SystemInfo.getProcessInfo")
        for process in told["processInfo"]:
            if process["type"].startswith("network"):
                when_gone(process["id"], self._lost)
            if process["type"] == "browser":
                for zygote in _zygotes(process["id"]):
                    when_gone(zygote, self._lost)
        session.on("Target.targetCreated", self._on_birth)
        await session.send("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})

    def _on_birth(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        tell = self.births.get(target.get("browserContextId", ""))
        if tell is not None:
            tell(target["targetId"])

    def _lost(self) -> None:
        if not self.ended.is_set():
            self.ended.set()
            asyncio.ensure_future(self._close_quietly())  # noqa: RUF006 - nobody waits for it

    async def _close_quietly(self) -> None:
        from playwright.async_api import Error

        with contextlib.suppress(Error):
            await self.close()

    async def session(self) -> Any:
        """A DevTools session with the browser itself."""
        return await self._handle.new_browser_cdp_session()

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Work that a browser which hangs (stopped, starved) cannot keep waiting: it is found out, and ended."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_SUSPECT_S)
            await self.question()

    async def question(self) -> None:
        """Ask whether it is there, since something took too long; where it does not answer, it is ended."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_ANSWER_S):
                session = await self.session()
                # Answered by its network process.
                await session.send("Storage.getCookies")
                await session.detach()
        except (Error, TimeoutError):
            self._kill()

    async def try_out(self) -> None:
        """Open a plain page, since a window did not open; where that cannot be had either, the browser is ended."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_TRIAL_S):
                context = await self._handle.new_context()
                await context.new_page()
                await context.close()
        except (Error, TimeoutError):
            self._kill()

    def _kill(self) -> None:
        # By force: it would not answer a request to close either.
        self.ended.set()
        self._driver.kill()

    async def close(self) -> None:
        """End it; idempotent."""
        await self._handle.close()


async def browser(options: BrowserOptions) -> Browser:
    """The browser for these options, started where none runs. Runs on the loop."""
    key = ("browser", options.executable, options.channel)
    async with _lock(key):
        running: Browser | None = shelf().get(key)
        if running is None or not running.alive:
            running = await _start(options)
            shelf()[key] = running
        return running


async def _start(options: BrowserOptions) -> Browser:
    try:
        return await _launch(options, await _driver())
    except SandboxDied:
        # That the driver is gone may be told later than that its browsers are. A new one is not.
        return await _launch(options, await _driver())


async def _launch(options: BrowserOptions, driver: Driver) -> Browser:
    from playwright.async_api import Error

    executable = "" if options.channel else find_executable(options.executable)
    # Nothing of ours is told to it, secrets least of all.
    told: dict[str, str | float | bool] = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    told |= {"HOME": str(driver.folder), "TMPDIR": str(driver.folder), "LANG": "C.UTF-8"}
    try:
        launching = driver.playwright.chromium.launch(
            executable_path=executable or None, channel=options.channel or None, timeout=_START_MS, env=told,
            args=[*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
            handle_sigint=False, handle_sigterm=False, handle_sighup=False,
        )  # fmt: skip
        handle = await unless(driver.ended, launching)
    except Error as error:
        await a_moment(driver.ended)
        if not driver.alive:
            raise SandboxDied(f"the browser's driver has ended: {_first_line(error)}") from error
        what = executable or options.channel or "Playwright's own browser"
        cure = "expected a channel such as chrome or msedge, installed here" if options.channel else remedy()
        raise SandboxUnavailable(f"{what} does not start: {_first_line(error)}; {cure}") from error
    return Browser(handle, driver)


async def _driver() -> Driver:
    async with _lock("driver"):
        running: Driver | None = shelf().get("driver")
        if running is None or not running.alive:
            running = await start_driver()
            shelf()["driver"] = running
            at_exit(running.close)
        return running


def _zygotes(browser: int) -> list[int]:
    """The processes of a browser from which it forks its others."""
    found = []
    for pid in children(browser):
        with contextlib.suppress(OSError):
            if b"--type=zygote" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def _lock(key: object) -> asyncio.Lock:
    lock: asyncio.Lock = shelf().setdefault(("lock", key), asyncio.Lock())
    return lock


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
