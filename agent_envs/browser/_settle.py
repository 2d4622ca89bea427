"""Waiting until a page has come to rest: no document on its way, no request, no short timer, no change."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from agent_envs.browser._eyes import ask, sight
from agent_envs.browser._tab import Tab

if TYPE_CHECKING:
    from agent_envs.sites import Gateway

_POLL_S = 0.002


async def settle(tab: Tab, gateway: Gateway, *, limit_s: float) -> bool:
    """Whether the tab has come to rest within the limit; a dialog counts as rest, since it stops everything."""
    try:
        return await asyncio.wait_for(_rest(tab, gateway, limit_s), limit_s)
    except TimeoutError:
        # Whatever is on its way still is not waited for again.
        tab.unanswered, tab.opening = gateway.in_flight, 0
        tab.loading.clear()
        return False


def _coming(tab: Tab) -> bool:
    """Whether another document is on its way, so that the present one need not be asked."""
    return bool(tab.loading or tab.opening or asyncio.get_running_loop().time() < tab.leaving_until)


def busy(tab: Tab, gateway: Gateway) -> bool:
    """Whether a document or an answer is on its way."""
    tab.unanswered = min(tab.unanswered, gateway.in_flight)
    return _coming(tab) or gateway.in_flight > tab.unanswered


async def _pause(tab: Tab) -> None:
    tab.news.clear()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_POLL_S):
            await tab.news.wait()


async def _rest(tab: Tab, gateway: Gateway, limit_s: float) -> bool:
    from playwright.async_api import Error

    while not tab.interrupted.is_set():
        while _coming(tab) and not tab.interrupted.is_set():
            await _pause(tab)
        asked = asyncio.ensure_future(rest(tab, cap_s=limit_s))
        stopped = asyncio.ensure_future(tab.interrupted.wait())
        try:
            await asyncio.wait({asked, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return True
            answer = asked.result()
        except Error:
            # The document went away under the question.
            await asyncio.sleep(_POLL_S)
            continue
        finally:
            stopped.cancel()
            asked.cancel()
        if not busy(tab, gateway):
            return not answer
        await _pause(tab)
    return True


async def rest(tab: Tab, *, cap_s: float) -> str:
    """Wait until what was begun in the documents of a tab is over; empty, or what was going on still after `cap_s`."""
    seen = await sight(tab)
    said = await ask(seen.main, "settle", cap_s * 1000)
    for view in seen.views()[1:]:
        if said == "quiet":
            said = await ask(view, "settle", cap_s * 1000)
    return "" if said == "quiet" else str(said)
