"""The browser that web environments act in: real pages, one window per episode. Needs the extra `web`."""

from __future__ import annotations

from agent_envs.browser._desk import Done
from agent_envs.browser._find import BrowserOptions
from agent_envs.browser._snapshot import Snapshot
from agent_envs.browser._window import Window, open_window

__all__ = ["BrowserOptions", "Done", "Snapshot", "Window", "open_window"]
