"""Speed and weight of AgentRL/SWE-v0, beside Docker's own API and other systems that run commands in containers.

python benchmarks/swe.py [--quick] [--only SECTION ...] [--episodes N] [--json]
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, closing

from measure import Report
from swe_episodes import measure_resets, measure_verdicts
from swe_raw import Raw
from swe_steps import measure_steps
from swe_task import ENV_ID, Player, admitted, lent_engine
from swe_weight import measure_leftovers, measure_throughput

from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.tasks import Task

KINDS = ("docker", "namespaces")
SECTIONS = ("steps", "reset", "verify", "throughput", "leftovers")


def available(report: Report) -> dict[str, Task]:
    """The small task as each engine that works here has admitted it; the report says what the others lack."""
    tasks = {}
    for kind in KINDS:
        try:
            with lent_engine(kind) as engine:
                tasks[kind] = admitted(engine)
        except (SandboxUnavailable, MissingExtra) as lacking:
            report.remark(f"{kind}: not measured: {lacking}")
    return tasks


def measure(report: Report, tasks: dict[str, Task], wanted: set[str], *, quick: bool, episodes: int) -> None:
    """The sections that are wanted and that are possible here."""
    with ExitStack() as open_ones:
        # Held from the first section to the last, so that no figure contains the start of an engine.
        for kind in tasks:
            open_ones.enter_context(lent_engine(kind))
        players = {kind: open_ones.enter_context(closing(Player(kind, task))) for kind, task in tasks.items()}
        raw = open_ones.enter_context(closing(_raw(players["docker"]))) if "docker" in players else None
        if raw is not None and "steps" in wanted:
            measure_steps(report, players["docker"], raw, rounds=10 if quick else 40)
        if "reset" in wanted:
            measure_resets(report, players, raw, rounds=5 if quick else 25)
        if "verify" in wanted:
            measure_verdicts(report, players, raw, rounds=4 if quick else 20)
        if "throughput" in wanted:
            measure_throughput(report, tasks, episodes=1 if quick else 4)
    if "leftovers" in wanted:
        for kind, task in tasks.items():
            measure_leftovers(report, kind, task, episodes=episodes)


def _raw(player: Player) -> Raw:
    player.reset()
    try:
        return Raw(player.container)
    finally:
        player.drop()


def main() -> int:
    """Measure, print the report, and say by the exit status whether every target was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the samples, and 20 episodes in a row")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="only these sections")
    parser.add_argument("--episodes", type=int, default=0, help="how many in a row (default: 200, or 20)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    report = Report(f"{ENV_ID}")
    tasks = available(report)
    episodes = options.episodes or (20 if options.quick else 200)
    measure(report, tasks, set(options.only), quick=options.quick, episodes=episodes)
    return report.show(as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
