"""The weight of AgentRL/PythonSandbox-v0: memory of idle episodes, and what thousands of them leave behind."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from contextlib import ExitStack, closing
from multiprocessing import resource_tracker

import gymnasium
from held import Held, adopt_orphans, descendants, private_mb, still_there
from measure import Report
from python_sandbox_loop import CELL, SUBMIT, cold_session, make

from agent_envs.sandboxes.ladder import start_sandbox

IDLE = 20
"""Episodes that are idle at once where their memory is measured."""


def measure_memory(report: Report, *, rounds: int) -> None:
    """Private memory of episodes that have run one cell and wait for the next."""
    report.section("memory of an idle episode")
    cold_session()
    shared = set(descendants(os.getpid()))
    with ExitStack() as idle:
        for _ in range(IDLE):
            sandbox = idle.enter_context(closing(start_sandbox()))
            assert sandbox.open_python().run("x = 1").ok
        own = set(descendants(os.getpid())) - shared
        report.add(
            "private memory per episode",
            sum(map(private_mb, own)) / IDLE,
            "MB",
            at_most=3,
            note=f"{len(own) / IDLE:g} processes each",
        )
        report.add(
            "shared by all episodes of this process",
            sum(map(private_mb, shared)),
            "MB",
            note=f"{len(shared)} processes",
        )


def measure_leftovers(report: Report, *, episodes: int) -> None:
    """Many episodes in a row, in a process of its own, and what is left of them."""
    report.section(f"{episodes:,} episodes in a row: reset, one cell, submit, verdict")
    adopt_orphans()
    # A helper of multiprocessing's, which lives as long as this process.
    resource_tracker.ensure_running()
    before = set(descendants(os.getpid()))
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, context.Pool(1, initializer=_use_folder, initargs=(folder,)) as pool:
        took, first, last = pool.apply(_live, (episodes,))
        files = pool.apply(_entries_after, (folder,))
        pool.close()
        pool.join()
    orphans = set(descendants(os.getpid())) - before
    report.add("episodes", episodes / took, "per s")
    report.add("resident memory, first", first.rss_mb + first.below_mb, "MB", note="after 50 episodes")
    report.add("resident memory, last", last.rss_mb + last.below_mb, "MB", at_most=first.rss_mb + first.below_mb + 4)
    grown = last.grown(first)
    report.add("left while the process lives", len(grown.split(", ")) if grown else 0, "", at_most=0, note=grown)
    report.add("processes left when it has ended", len(still_there(orphans)), "", at_most=0)
    report.add("temporary files left", files, "", at_most=0)


def _use_folder(folder: str) -> None:
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _live(episodes: int) -> tuple[float, Held, Held]:
    with closing(make()) as env:
        _play(env, 50)
        first, began = Held.now(), time.perf_counter()
        _play(env, episodes)
        took = time.perf_counter() - began
        time.sleep(0.2)
        return took, first, Held.now()


def _play(env: gymnasium.Env[str, str], episodes: int) -> None:
    for seed in range(episodes):
        env.reset(seed=seed)
        env.step(CELL)
        env.step(SUBMIT)


def _entries_after(folder: str) -> int:
    return len(os.listdir(folder))
