"""Which pages of MiniWoB++ are solved by scripts that see our text and use our tools, and nothing else.

python benchmarks/miniwob_pages.py [PAGE ...] [--instances N ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing

from agent_envs.envs.web.miniwob import MiniWobEnv
from agent_envs.envs.web.oracles import INSTANCES, POLICIES, play


def main() -> int:
    """Play each page, print what was solved, and say by the exit status whether everything was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", choices=[[], *sorted(POLICIES)], help="which ones (default: all)")
    parser.add_argument("--instances", nargs="+", type=int, default=INSTANCES, help="the numbers of the instances")
    options = parser.parse_args()
    pages = options.pages or sorted(POLICIES)
    missed = 0
    with closing(MiniWobEnv(dialect="json", view="full", max_steps=500)) as env:
        for number, page in enumerate(pages, start=1):
            began = time.perf_counter()
            solved = [play(env, f"{page}/{instance}") for instance in options.instances]
            took = (time.perf_counter() - began) / len(solved)
            missed += not all(solved)
            print(f"{number:4} {page:32} {sum(solved)} of {len(solved)}  {took * 1e3:6.0f} ms", flush=True)
    print(f"{len(pages) - missed} pages solved, every instance with the page's own full reward")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
