"""Speed and weight of AgentRL/Web-v0 and AgentRL/MiniWoB-v0, beside BrowserGym and Playwright's own snapshot.

python benchmarks/web.py [--quick] [--only SECTION ...] [--episodes N] [--json]
"""

from __future__ import annotations

import argparse
import sys

from measure import Report
from web_episodes import measure_miniwob, measure_resets
from web_looks import measure_clicks, measure_looks, measure_tokens
from web_player import MINIWOB_ENV, WEB
from web_weight import measure_leftovers, measure_together

SECTIONS = ("reset", "miniwob", "look", "click", "tokens", "together", "leftovers")


def measure(report: Report, wanted: set[str], *, quick: bool, episodes: int) -> None:
    """The sections that are wanted."""
    if "reset" in wanted:
        measure_resets(report, rounds=4 if quick else 15)
    if "miniwob" in wanted:
        measure_miniwob(report, rounds=4 if quick else 15)
    if "look" in wanted:
        measure_looks(report, rounds=4 if quick else 15)
    if "click" in wanted:
        measure_clicks(report, rounds=4 if quick else 15)
    if "tokens" in wanted:
        measure_tokens(report)
    if "together" in wanted:
        measure_together(report, seconds=3 if quick else 10)
    if "leftovers" in wanted:
        measure_leftovers(report, episodes=episodes)


def main() -> int:
    """Measure, print the report, and say by the exit status whether every target was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a quarter of the samples, and 50 episodes in a row")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="only these sections")
    parser.add_argument("--episodes", type=int, default=0, help="how many in a row (default: 500, or 50)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    report = Report(f"{WEB}, {MINIWOB_ENV}")
    episodes = options.episodes or (50 if options.quick else 500)
    measure(report, set(options.only), quick=options.quick, episodes=episodes)
    return report.show(as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
