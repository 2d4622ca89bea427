"""Writes the list of programs of the task set `codeio` (needs the extra `tasks` and a sandbox; takes minutes).

A program is listed where it imports nothing that changes between runs, is quick, and gives the same plain data under
two hash seeds for several inputs.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import closing
from pathlib import Path

from agent_envs.envs.python_sandbox.tasks.codeio import RUN, Program, every_program, key

from agent_envs.sandboxes.ladder import start_sandbox

LIST = Path(__file__).resolve().parents[1] / "envs/python_sandbox/tasks/codeio_programs.txt"
QUICK_S = 0.5
CHANGING = """
random time datetime os sys socket threading multiprocessing subprocess secrets uuid tempfile io pathlib ctypes signal
inspect gc logging warnings traceback shutil urllib platform getpass asyncio concurrent pickle resource calendar locale
"""
PURE_MODULES = frozenset(sys.stdlib_module_names) - set(CHANGING.split())
IMPORTED = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))", re.MULTILINE)
IMPURE = re.compile(r"\b(?:open|input|print|id|hash|exec|eval|globals)\s*\(")


def imports(source: str) -> set[str]:
    """The top-level packages that a source imports."""
    names = ",".join(first or second for first, second in IMPORTED.findall(source)).split(",")
    return {name.split()[0].split(".")[0] for name in names if name.strip()}


def is_fit(program: Program) -> bool:
    """Whether tasks can be made of the program on any machine, again and again."""
    if not imports(program.source) <= PURE_MODULES or IMPURE.search(program.source):
        return False
    if not imports(program.generator) <= PURE_MODULES | {"random"} or "def main_solution(" not in program.source:
        return False
    job = {"program": program.source, "generator": program.generator, "count": 12}
    for seed in (1, 2, 3):
        printed = {output(json.dumps({**job, "seed": seed}), hash_seed) for hash_seed in ("1", "2")}
        if len(printed) != 1 or b"" in printed:
            return False
    return True


def output(job: str, hash_seed: str) -> bytes:
    """What the program prints for a job; nothing where it fails or takes too long."""
    with closing(start_sandbox()) as sandbox:
        run = sandbox.run(["python3", "-c", RUN], stdin=job.encode(), timeout_s=5.0, env={"PYTHONHASHSEED": hash_seed})
        return run.stdout if run.ok and run.cpu_s < QUICK_S and not run.dropped_bytes else b""


if __name__ == "__main__":
    LIST.write_text("".join(f"{name}\n" for name in sorted({key(each) for each in every_program() if is_fit(each)})))
