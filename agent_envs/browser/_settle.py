"""Waiting until a page has come to rest: no document on its way, no request, no short timer, no change."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from agent_envs.browser._ends import before
from agent_envs.browser._eyes import ask, look, sight
from agent_envs.browser._tab import Tab

if TYPE_CHECKING:
    from agent_envs.browser._snapshot import Snapshot
    from agent_envs.sites import Gateway

_AGAIN_S = 0.002
_READING_S = 0.05
_LONGEST_S = 0.02
"""Nobody says it when a navigation that was asked for has not begun in time."""


async def settle(tab: Tab, gateway: Gateway, *, limit_s: float, looking: bool = False) -> Snapshot | None:
    """Wait until the tab has come to rest; a dialog counts as rest, since it stops everything.

    Where it is `looking`, what there is to see then is asked for in the same question; None where nobody answered it.
    Raises `TimeoutError` where the tab has not come to rest within the limit.
    """
    try:
        return await asyncio.wait_for(_rest(tab, gateway, limit_s, looking=looking), limit_s)
    except TimeoutError:
        # Whatever is on its way still is not waited for again.
        tab.unanswered, tab.opening = gateway.in_flight, 0
        tab.loading.clear()
        if tab.scripts:
            tab.scripts.clear()
        raise


def _busy(tab: Tab, gateway: Gateway) -> bool:
    """Whether a document or an answer is on its way, so that the present document need not be asked."""
    tab.unanswered = min(tab.unanswered, gateway.in_flight)
    coming = tab.loading or tab.opening or tab.scripts or asyncio.get_running_loop().time() < tab.leaving_until
    return bool(coming) or gateway.in_flight > tab.unanswered


async def _follow_scripts(tab: Tab) -> None:
    """Keep up with the scripts that the tab asks for: of `import()` a document knows nothing, nor soon the gateway."""
    loop = asyncio.get_running_loop()
    tab.scripts = scripts = set()

    def asked(event: dict[str, Any]) -> None:
        if event.get("type") == "Script":
            scripts.add(event["requestId"])

    def gone(script: str) -> None:
        scripts.discard(script)
        tab.news.set()

    def over(event: dict[str, Any]) -> None:
        # What it needs itself is asked for when it has been read.
        loop.call_later(_READING_S, gone, event["requestId"])

    tab.cdp.on("Network.requestWillBeSent", asked)
    tab.cdp.on("Network.loadingFinished", over)
    tab.cdp.on("Network.loadingFailed", over)
    await tab.cdp.send("Network.enable")


async def _pause(tab: Tab) -> None:
    tab.news.clear()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_S):
            await tab.news.wait()


async def _rest(tab: Tab, gateway: Gateway, limit_s: float, *, looking: bool) -> Snapshot | None:
    from playwright.async_api import Error

    while not tab.interrupted.is_set():
        while _busy(tab, gateway) and not tab.interrupted.is_set():
            await _pause(tab)
        if gateway.imports and tab.scripts is None:
            await _follow_scripts(tab)
        known = await sight(tab)
        first = known.numbers.next
        asked = asyncio.ensure_future(_seen(tab, limit_s) if looking else rest(tab, cap_s=limit_s))
        try:
            if not await before(tab.interrupted, asked):
                return None
            seen = asked.result()
        except Error:
            # The document went away under the question.
            await asyncio.sleep(_AGAIN_S)
            continue
        finally:
            asked.cancel()
        if not _busy(tab, gateway):
            return seen
        # It was asked too soon: what it has numbered meanwhile may be gone again, in one run and not in another.
        known.forget(first)
    return None


async def _seen(tab: Tab, limit_s: float) -> Snapshot:
    known = await sight(tab)
    while True:
        first = known.numbers.next
        if len(known.views()) == 1:
            seen = await look(tab, rest_s=limit_s)
            known.main.rested = known.main.document
        else:
            await rest(tab, cap_s=limit_s)
            seen = await look(tab)
        if all(view.rested == view.document for view in known.views()):
            return seen
        # A frame was seen for the first time: what was begun in it may not be over.
        known.forget(first)


async def rest(tab: Tab, *, cap_s: float) -> None:
    """Wait until what was begun in the documents of a tab is over; raises `TimeoutError` after `cap_s`.

    Frames talk with one another, so they are asked in turns until none of them has changed since its last turn.
    """
    known = await sight(tab)
    calm = False
    while not calm:
        calm = True
        for view in known.views():
            changed, said = await ask(view, "calm", cap_s * 1000)
            if said != "quiet":
                raise TimeoutError(said)
            calm = calm and not changed and view.rested == view.document
            view.rested = view.document
        calm = calm or len(known.views()) == 1
