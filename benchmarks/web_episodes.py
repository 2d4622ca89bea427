"""What begins an episode in a browser, and one small step of it, beside BrowserGym and Playwright alone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from agent_envs.envs.web.tasks import TASK_SETS, load_task_set
from measure import Once, Report, interleave
from web_drivers import BROWSERGYM_CLICK, BROWSERGYM_NOOP, BROWSERGYM_RESET, PLAYWRIGHT_OPEN
from web_player import BROWSERGYM, MINIWOB_ENV, PLAYWRIGHT, WEB, Player, started
from web_site import name, proxy, url

_SITES = ("shop", "flights")
_BUTTON = "click-button/1"
_PAUSE_S = 0.25
"""Time in which the next window is prepared, as it is while an agent thinks."""
_FASTER = 25
_GYM = "BrowserGym: "


def measure_resets(report: Report, *, rounds: int) -> None:
    """A database of its own, a session cookie, a window, and the first page of a site, shown as text."""
    report.section("reset of a bundled site: database, cookie, window, first observation")
    with ExitStack() as open_ones:
        contenders: dict[str, Once] = {}
        for site in (one for one in _SITES if one in TASK_SETS):
            player = open_ones.enter_context(closing(Player(WEB, task_set=load_task_set(site))))
            contenders[f"ours: {site}"] = player.timed_reset(pause_s=_PAUSE_S)
            contenders[f"ours: {site}, right after another episode"] = player.timed_reset()
        drivers = {
            "Playwright alone: context, page, goto, close": (PLAYWRIGHT, PLAYWRIGHT_OPEN),
            f"{_GYM}reset of click-button": (BROWSERGYM, BROWSERGYM_RESET),
        }
        address = open_ones.enter_context(proxy())
        contenders |= started(report, open_ones, drivers, page=url(name(50)), proxy=address)
        spreads = interleave(contenders, rounds=rounds)
    for label, spread in spreads.items():
        target = 60 if label.startswith("ours") else None
        report.add(label, spread.median * 1e3, "ms", at_most=target, note=f"p95 {spread.p95 * 1e3:.1f}")


def measure_miniwob(report: Report, *, rounds: int) -> None:
    """Reset and step of the same page task: a click that ends the episode, verdict included, and a step of nothing."""
    report.section("MiniWoB++ click-button")
    reset, click, nothing = "reset", "click that ends the episode, and its verdict", "step that does nothing"
    drivers = {
        _GYM + reset: (BROWSERGYM, BROWSERGYM_RESET),
        _GYM + click: (BROWSERGYM, BROWSERGYM_CLICK),
        _GYM + nothing: (BROWSERGYM, BROWSERGYM_NOOP),
    }
    with _player() as player, _player() as idle, ExitStack() as open_ones:
        idle.reset(_BUTTON)
        contenders: dict[str, Once] = {
            f"ours: {reset}": player.timed_reset(_BUTTON, pause_s=_PAUSE_S),
            f"ours: {reset}, right after another episode": player.timed_reset(_BUTTON),
            f"ours: {click}": lambda: _clicked(player),
            f"ours: {nothing}": lambda: idle.act("wait_for", seconds=0) and None,
        }
        contenders |= started(report, open_ones, drivers)
        spreads = interleave(contenders, rounds=rounds)
    for label, spread in spreads.items():
        target = None if not label.startswith("ours") else 60 if reset in label else 25
        report.add(label, spread.median * 1e3, "ms", at_most=target, note=f"p95 {spread.p95 * 1e3:.1f}")
    for what in (reset, click, nothing):
        if theirs := spreads.get(_GYM + what):
            report.add(
                f"BrowserGym / ours: {what}", theirs.median / spreads[f"ours: {what}"].median, "x", at_least=_FASTER
            )


@contextmanager
def _player() -> Iterator[Player]:
    with closing(Player(MINIWOB_ENV)) as player:
        yield player


def _clicked(player: Player) -> float:
    """Seconds of the click on the button that is asked for."""
    shown = player.reset(_BUTTON)
    asked = re.search(r'Click on the "(.*)" button', shown)
    assert asked, shown
    began = time.perf_counter()
    _, info = player.act("click", element_id=f'button "{asked[1]}"')
    took = time.perf_counter() - began
    assert info["outcome"] == "resolved", info
    return took
