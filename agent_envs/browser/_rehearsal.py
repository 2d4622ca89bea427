"""A page before the first page: what a new process of the browser does once in its life is done before it is needed.

Loading fonts, compiling our scripts and setting up its layout is a third of the time that the first page of an episode
takes. Nothing of the rehearsal is left: it happens in a document that another blank one replaces, before the window
has a clock, a seed, cookies or sites.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from agent_envs.browser._eyes import ask, sight

if TYPE_CHECKING:
    from agent_envs.browser._tab import Tab

_BLANK = "about:blank"
_REST_MS = 1000


async def rehearse(tab: Tab, *, go_on: Callable[[], bool]) -> None:
    """Show a page of a bit of everything and look at it; before each step it is asked whether to go on."""
    put = f"document.documentElement.innerHTML = {json.dumps(_page())}; document.documentElement.offsetHeight"
    try:
        # Our scripts run in documents that come after the first one.
        await tab.page.goto(_BLANK)
        if go_on():
            await tab.cdp.send("Runtime.evaluate", {"expression": put})
        if go_on():
            await ask((await sight(tab)).main, "rested", [1, 0], _REST_MS)
    finally:
        await tab.page.goto(_BLANK)


@cache
def _page() -> str:
    return files("agent_envs.browser").joinpath("rehearsal.html").read_text("utf-8")
