"""Several browsers' worth of episodes at once, and what hundreds of them in a row leave behind."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import resource_tracker

from held import Held, adopt_orphans, descendants, program, proportional_mb, still_there
from measure import Report
from web_looks import on_page
from web_player import WEB, Player
from web_site import name

from agent_envs.testing.notes import notes_tasks

AT_ONCE = 8
_WARM_UP = 20
"""Episodes after which everything that lives as long as the process is there."""
_MOST_MB = 70
_PSS = "proportional set size"


def measure_together(report: Report, *, seconds: float) -> None:
    """Environments in threads of one process, each clicking on a page of 500 elements of its own."""
    report.section(f"{AT_ONCE} episodes at once on {os.cpu_count()} cores: click and whole page, about 500 elements")
    together = threading.Barrier(AT_ONCE + 1)
    over = threading.Event()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        plays = [threads.submit(_click_on, together, over) for _ in range(AT_ONCE)]
        together.wait(timeout=120)
        began = time.perf_counter()
        time.sleep(seconds)
        weight = _weight()
        over.set()
        steps = sum(play.result() for play in plays)
        took = time.perf_counter() - began
    report.add("steps", steps / took, "per s", at_least=60, note=f"{steps} in {took:.1f} s")
    report.add("memory of the browser, for each episode", weight[True] / AT_ONCE, "MB", at_most=_MOST_MB, note=_PSS)
    report.add("memory of Playwright's driver, shared by all", weight[False], "MB", note=_PSS)


def _weight() -> dict[bool, float]:
    """Memory of the browser's processes (true) and of all others below this one."""
    found = {True: 0.0, False: 0.0}
    for pid in descendants(os.getpid()):
        found["chrom" in program(pid) or "headless" in program(pid)] += proportional_mb(pid)
    return found


def _click_on(together: threading.Barrier, over: threading.Event) -> int:
    with closing(on_page(name(500))) as player:
        player.reset()
        player.act("click", element_id='button "Buy 0"')
        together.wait(timeout=120)
        steps = 0
        while not over.is_set():
            player.act("click", element_id=f'button "Buy {steps % 60}"')
            steps += 1
        return steps


@dataclass(frozen=True, slots=True)
class _Weighed:
    """What is held, and the memory of it in parts."""

    held: Held
    browser_mb: float
    driver_mb: float

    @classmethod
    def now(cls) -> _Weighed:
        # What has just ended may still be on its way out.
        time.sleep(1)
        below = _weight()
        return cls(Held.now(), below[True], below[False])


def measure_leftovers(report: Report, *, episodes: int) -> None:
    """Many episodes in a row, in a process of its own, and what is left of them."""
    report.section(f"{episodes:,} episodes in a row: reset, the solution of a task, verdict")
    adopt_orphans()
    # A helper of multiprocessing's, which lives as long as this process.
    resource_tracker.ensure_running()
    before = set(descendants(os.getpid()))
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        with context.Pool(1, initializer=_use_folder, initargs=(folder,)) as pool:
            took, first, last, solved = pool.apply(_live, (episodes,))
            pool.close()
            pool.join()
        orphans = still_there(set(descendants(os.getpid())) - before)
        files = os.listdir(folder)
    report.add("episodes", episodes / took, "per s")
    report.add("resolved", solved, "", at_least=episodes)
    for label, begun, ended in (
        ("this process", first.held.rss_mb, last.held.rss_mb),
        ("the browser", first.browser_mb, last.browser_mb),
        ("Playwright's driver", first.driver_mb, last.driver_mb),
    ):
        report.add(f"memory of {label}, first", begun, "MB", note=f"after {_WARM_UP} episodes")
        report.add(f"memory of {label}, last", ended, "MB", at_most=round(1.1 * begun + 8, 1))
    grown = last.held.grown(first.held)
    report.add("left while the process lives", len(grown.split(", ")) if grown else 0, "", at_most=0, note=grown)
    report.add("processes left when it has ended", len(orphans), "", at_most=0)
    report.add("temporary files left", len(files), "", at_most=0, note=" ".join(files))


def _use_folder(folder: str) -> None:
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _live(episodes: int) -> tuple[float, _Weighed, _Weighed, int]:
    # Short tasks: what is left of an episode does not depend on how long it was.
    with closing(Player(WEB, task_set=notes_tasks())) as player:
        _solve(player, _WARM_UP)
        first, began = _Weighed.now(), time.perf_counter()
        solved = _solve(player, episodes)
        took = time.perf_counter() - began
        return took, first, _Weighed.now(), solved


def _solve(player: Player, episodes: int) -> int:
    """Play the solution of one task again and again; how often it was resolved."""
    solved = 0
    for _ in range(episodes):
        player.reset()
        info: dict[str, object] = {}
        for call in player.inner.task.solution:
            _, info = player.act(call.name, **call.arguments)
        solved += info["outcome"] == "resolved"
    return solved
