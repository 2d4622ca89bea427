"""Pages as text: how long a look takes, alone and after a click, and how many tokens it is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from measure import Once, Report, interleave
from peers import TOKENS, RunningPeer
from web_drivers import BROWSERGYM_CLICK_ON_PAGE, BROWSERGYM_LOOK, PLAYWRIGHT_CLICK, PLAYWRIGHT_LOOK, SEEN
from web_player import BROWSERGYM, PLAYWRIGHT, WEB, Player, each, started
from web_site import SAMPLE, SIZES, name, page_task, proxy, url

from agent_envs.tasks import TaskSet

_ARIA = "Playwright 1.65, aria_snapshot(mode='ai')"
_GYM = "BrowserGym 0.14.3, observation as text"
_OURS = "ours"
_FEWER = 0.6


def on_page(page: str, **options: str) -> Player:
    """A player whose episodes begin on a page."""
    return Player(WEB, task_set=TaskSet.of("benchmark", [page_task(page)]), **{"view": "full", **options})


def measure_looks(report: Report, *, rounds: int) -> None:
    """The whole page, from the question to the text."""
    bounds = {5000: 40}
    for size in SIZES:
        report.section(f"one look at a page of about {size:,} elements, as text")
        drivers = {_ARIA: (PLAYWRIGHT, PLAYWRIGHT_LOOK), _GYM: (BROWSERGYM, BROWSERGYM_LOOK)}
        _compare(report, size, lambda player: player.act("read_more"), drivers, rounds=rounds, at_most=bounds.get(size))


def measure_clicks(report: Report, *, rounds: int) -> None:
    """A click on a button, the wait until the page rests, and the whole page afterwards."""
    report.section("a click and the whole page afterwards, about 500 elements")
    drivers = {
        "Playwright 1.65, locator.click and aria_snapshot(mode='ai')": (PLAYWRIGHT, PLAYWRIGHT_CLICK),
        "BrowserGym 0.14.3, step": (BROWSERGYM, BROWSERGYM_CLICK_ON_PAGE),
    }
    _compare(report, 500, _click, drivers, rounds=rounds, at_most=25)


def _click(player: Player) -> None:
    player.act("click", element_id='button "Buy 0"')


def _compare(
    report: Report, size: int, act: Callable[[Player], object], drivers: dict[str, tuple], *, rounds: int,
    at_most: float | None,
) -> None:  # fmt: skip
    page = name(size)
    with tempfile.TemporaryDirectory() as seen, ExitStack() as open_ones, closing(on_page(page)) as player:
        player.reset()
        contenders: dict[str, Once] = {_OURS: each(lambda: act(player))}
        address = open_ones.enter_context(proxy())
        contenders |= started(report, open_ones, drivers, page=url(page), proxy=address, seen=Path(seen))
        spreads = interleave(contenders, rounds=rounds)
    ours = spreads[_OURS].median
    for label, spread in spreads.items():
        note = f"p95 {spread.p95 * 1e3:.1f}" + ("" if label == _OURS else f"; takes {spread.median / ours:,.1f}x ours")
        report.add(label, spread.median * 1e3, "ms", at_most=at_most if label == _OURS else None, note=note)


def measure_tokens(report: Report) -> None:
    """How many tokens the same pages are, by the vocabulary o200k_base."""
    if not TOKENS.installed:
        report.remark(f"tokens: not counted: {TOKENS.how}")
        return
    for page in (SAMPLE, *map(name, SIZES)):
        report.section(f"tokens of {page} (o200k_base)")
        with tempfile.TemporaryDirectory() as folder, ExitStack() as open_ones:
            seen = Path(folder)
            address = open_ones.enter_context(proxy())
            drivers = {_ARIA: (PLAYWRIGHT, PLAYWRIGHT_LOOK), _GYM: (BROWSERGYM, BROWSERGYM_LOOK)}
            started(report, open_ones, drivers, page=url(page), proxy=address, seen=seen)
            with closing(on_page(page)) as player:
                player.reset()
                (seen / _OURS).write_text(player.act("read_more")[0], encoding="utf-8")
            counts = {label: _tokens(seen / label) for label in (_OURS, *drivers) if (seen / label).exists()}
        for label, count in counts.items():
            report.add(label, count, "")
        if _ARIA in counts:
            report.add(f"ours / {_ARIA}", counts[_OURS] / counts[_ARIA], "x", at_most=_FEWER)


def _tokens(file: Path) -> int:
    with RunningPeer(replace(TOKENS), {SEEN: str(file)}) as count:
        return int(count())
