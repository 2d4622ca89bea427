"""Players of AgentRL/Web-v0 and AgentRL/MiniWoB-v0, and the peers that are compared with them."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
from measure import Once, Report
from peers import BROWSERGYM, PLAYWRIGHT, Peer, RunningPeer
from web_drivers import CHROMIUM, MINIWOB, PAGE, PROXY, SEEN

from agent_envs.env import AgentEnv
from agent_envs.errors import EndReason
from agent_envs.registration import register_environments

WEB, MINIWOB_ENV = "AgentRL/Web-v0", "AgentRL/MiniWoB-v0"
LONG = 10_000_000
"""Characters of an observation that is never cut."""


class Player:
    """An environment, and the parts of an episode that are timed."""

    def __init__(self, env_id: str, **options: Any) -> None:
        register_environments()
        self.env: gymnasium.Env[str, str] = gymnasium.make(
            env_id, max_steps=10**9, observation_chars=LONG, page_chars=LONG, **options
        )
        inner = self.env.unwrapped
        assert isinstance(inner, AgentEnv)
        self.inner = inner

    def reset(self, task_id: str = "") -> str:
        """Begin an episode."""
        return self.env.reset(seed=0, options={"task_id": task_id} if task_id else None)[0]

    def act(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """One action; what is shown, and its info."""
        shown, _, _, _, info = self.env.step(json.dumps({"name": tool, "arguments": arguments}))
        if info["error"]:
            raise RuntimeError(f"{tool} {arguments}: {shown}")
        return shown, info

    def drop(self) -> None:
        """End the running episode without a verdict."""
        self.inner.abort(EndReason.AGENT_ERROR, "measured")

    def close(self) -> None:
        """Release everything."""
        self.env.close()

    def timed_reset(self, task_id: str = "", *, pause_s: float = 0.0) -> Once:
        """Seconds of a reset, the former episode being over for a while."""

        def once() -> float:
            time.sleep(pause_s)
            began = time.perf_counter()
            self.reset(task_id)
            took = time.perf_counter() - began
            self.drop()
            return took

        return once


def each(once: Callable[[], object], *, batch: int = 5) -> Once:
    """Seconds of the usual one of some calls in a row, for the first one after a pause is not the usual one."""

    def several() -> float:
        taken = []
        for _ in range(batch):
            began = time.perf_counter()
            once()
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    return several


def full_browser() -> str:
    """The whole Chromium, which BrowserGym drives; empty where there is none."""
    return next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), "")


def shell() -> str:
    """The browser that ours uses as well, where it is there."""
    return shutil.which("chromium-headless-shell") or full_browser()


def started(
    report: Report, open_ones: ExitStack, drivers: dict[str, tuple[Peer, str]], *, page: str = "", proxy: str = "",
    seen: Path | None = None,
) -> dict[str, Once]:  # fmt: skip
    """The peers that are installed and start here; what does not is named in the report.

    `seen` is a folder: what each saw of the page is there under its name.
    """
    found: dict[str, Once] = {}
    for name, (peer, driver) in drivers.items():
        if not peer.installed:
            report.remark(f"{peer.name}: not installed: {peer.how}")
            continue
        if peer is BROWSERGYM and not full_browser():
            report.remark(f"{name}: it needs the whole browser: apt-get install chromium")
            continue
        values = {
            CHROMIUM: shell() if peer is PLAYWRIGHT else full_browser(),
            MINIWOB: _miniwob_pages(),
            PAGE: page,
            PROXY: proxy,
            SEEN: str(seen / name) if seen else "",
        }
        try:
            found[name] = open_ones.enter_context(RunningPeer(replace(peer, driver=driver), values))
        except RuntimeError as why:
            report.remark(f"{name}: not measured: {why}")
    return found


def _miniwob_pages() -> str:
    found = find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        return ""
    return (Path(found.submodule_search_locations[0]) / "html" / "miniwob").as_uri() + "/"


__all__ = ["BROWSERGYM", "MINIWOB_ENV", "PLAYWRIGHT", "WEB", "Player", "each", "started"]
