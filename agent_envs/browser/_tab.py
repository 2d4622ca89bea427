"""One tab: a page of Playwright, the raw DevTools session next to it, and what is known of it between two calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog, Page


@dataclass(slots=True, eq=False)
class Tab:
    """What one tab is made of. Lives on the loop of `agent_envs.browser._loop`, like everything it holds."""

    page: Page
    cdp: CDPSession
    number: int
    """Counts the tabs of a window from 1; never given twice."""
    news: asyncio.Event
    """Set when something is over that was waited for: the window's, which its gateway sets too."""
    opened: str = ""
    """The address of the last page of a site that has opened in it."""
    dialog: Dialog | None = None
    """What is open and waits for an answer: meanwhile nothing in the page runs, and nothing asked of it is answered."""
    gone: str = ""
    """Why there is nothing behind it any more, in words; empty while it lives."""
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while a dialog is open, and when the tab is gone: whoever waits for the page gives up then."""
    loading: set[str] = field(default_factory=set)
    """The frames on their way to another document: the main one until that is there, others until it is whole."""
    leaving_until: float = 0.0
    """Until when, by the clock of the loop, a navigation that was asked for may not have begun."""
    scripts: set[str] | None = None
    """The scripts that were asked for and are not there yet; None where nobody keeps up with that."""
    unanswered: int = 0
    """Requests for whose answers nobody waits any more."""
    opening: int = 0
    """The tabs and downloads that it has begun and that are not there yet."""
    downloads: int = 0
    """How many downloads it has begun."""
    held: list[asyncio.Task[Any]] = field(default_factory=list)
    """What was asked of the page and waits for the answer to a dialog."""
    seen: dict[str, Any] = field(default_factory=dict)
    """What looking keeps from one look to the next: references, frames, contexts."""

    @property
    def place(self) -> str:
        """The address of the page that it shows; where that is none of a site, of the last one; empty without one."""
        return self.page.url if self.page.url.startswith("http") else self.opened
