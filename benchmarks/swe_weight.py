"""Many episodes of AgentRL/SWE-v0: several at once, and what hundreds in a row leave behind."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import resource_tracker

from agent_envs.envs.swe.tasks import load_task_set
from agent_envs.verifiers.swe.task import RequiredSet, from_task
from held import Held, adopt_orphans, descendants, still_there
from measure import Report
from swe_task import Player

from agent_envs.tasks import Task

_REMOVED_S = 1.0
"""Within which what has ended is gone: the engine removes it behind the caller's back."""

AT_ONCE = 8
_WARM_UP = 5
"""Episodes after which everything that lives as long as the process is there."""


def measure_throughput(report: Report, small: Mapping[str, Task], *, episodes: int) -> None:
    """Environments in threads of one process, each solving bundled tasks by their references."""
    bundled = [one for one in load_task_set("mini") if _is_certified(one)]
    what = "bundled tasks" if bundled else "the small task, for no bundled one is certified"
    report.section(f"{AT_ONCE} episodes at once on {os.cpu_count()} cores: {what}, reset to verdict")
    for kind, task in small.items():
        with ThreadPoolExecutor(AT_ONCE) as threads:
            together = threading.Barrier(AT_ONCE + 1)
            plays = [threads.submit(_play, kind, bundled or [task], own, episodes, together) for own in range(AT_ONCE)]
            together.wait(timeout=600)
            began = time.perf_counter()
            solved = sum(play.result() for play in plays)
            took = time.perf_counter() - began
        whole = AT_ONCE * episodes
        report.add(f"episodes, {kind}", whole / took, "per s", note=f"{whole} in {took:.1f} s")
        report.add(f"resolved, {kind}", solved, "", at_least=whole)
        if kind == "docker":
            time.sleep(_REMOVED_S)
            report.add("containers lost or left", len(ours(os.getpid())["containers"]), "", at_most=0)


def _is_certified(task: Task) -> bool:
    expect = from_task(task).expect
    return bool(task.solution) and isinstance(expect, RequiredSet) and bool(expect.fail_to_pass)


def _play(kind: str, tasks: list[Task], own: int, episodes: int, together: threading.Barrier) -> int:
    mine = [tasks[(own * episodes + number) % len(tasks)] for number in range(episodes)]
    with closing(Player(kind, *dict.fromkeys(mine))) as player:
        # Their images are built before the time begins.
        for one in mine:
            player.env.reset(options={"task_id": one.id})
        player.drop()
        together.wait(timeout=600)
        return sum(player.solve(one) for one in mine)


def measure_leftovers(report: Report, kind: str, task: Task, *, episodes: int) -> None:
    """Many episodes in a row, in a process of its own, and what is left of them."""
    report.section(f"{episodes:,} episodes in a row, {kind}: reset, edit, submit, verdict")
    adopt_orphans()
    # A helper of multiprocessing's, which lives as long as this process.
    resource_tracker.ensure_running()
    before = set(descendants(os.getpid()))
    context = multiprocessing.get_context("spawn")
    with _folder() as folder, context.Pool(1, initializer=_use_folder, initargs=(folder,)) as pool:
        took, first, last, kept = pool.apply(_live, (kind, task, episodes))
        pid = pool.apply(os.getpid)
        files = pool.apply(_entries, (folder,))
        pool.close()
        pool.join()
    orphans = set(descendants(os.getpid())) - before
    report.add("episodes", episodes / took, "per s")
    report.add("resident memory, first", first.rss_mb + first.below_mb, "MB", note=f"after {_WARM_UP} episodes")
    report.add("resident memory, last", last.rss_mb + last.below_mb, "MB", at_most=first.rss_mb + first.below_mb + 8)
    grown = last.grown(first)
    report.add("left while the process lives", len(grown.split(", ")) if grown else 0, "", at_most=0, note=grown)
    report.add("processes left when it has ended", len(still_there(orphans)), "", at_most=0)
    report.add("temporary files left", files, "", at_most=0)
    if kind == "docker":
        report.add("containers left between episodes", kept, "", at_most=0)
        for name, left in ours(pid).items():
            report.add(f"{name} left when it has ended", len(left), "", at_most=0)


@contextmanager
def _folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def _use_folder(folder: str) -> None:
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _live(kind: str, task: Task, episodes: int) -> tuple[float, Held, Held, int]:
    with closing(Player(kind, task)) as player:
        _solve(player, _WARM_UP)
        first, began = Held.now(), time.perf_counter()
        _solve(player, episodes)
        took = time.perf_counter() - began
        time.sleep(_REMOVED_S)
        kept = len(ours(os.getpid())["containers"]) if kind == "docker" else 0
        return took, first, Held.now(), kept


def _solve(player: Player, episodes: int) -> None:
    for _ in range(episodes):
        player.repair()
        player.submit()


def _entries(folder: str) -> int:
    return len(os.listdir(folder))


def ours(pid: int) -> dict[str, list[str]]:
    """The containers and volumes in the Docker engine that a process of this machine has made."""
    import docker

    from agent_envs.sandboxes.docker._owner import OWNER

    def made(labels: dict[str, str] | None) -> bool:
        return f":{pid}:" in (labels or {}).get(OWNER, "")

    with closing(docker.from_env().api) as client:
        wanted = {"label": OWNER}
        containers = [one["Id"] for one in client.containers(all=True, filters=wanted) if made(one["Labels"])]
        volumes = [one["Name"] for one in client.volumes(filters=wanted)["Volumes"] or [] if made(one["Labels"])]
    return {"containers": containers, "volumes": volumes}
