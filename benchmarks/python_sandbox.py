"""Speed and weight of AgentRL/PythonSandbox-v0, beside programs that do the same with less or more isolation.

python benchmarks/python_sandbox.py [--quick] [--only SECTION ...] [--episodes N] [--json]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from measure import Report, Spread, interleave, repeat, spawned
from peers import BUBBLEWRAP, GEM, SMOLAGENTS, RunningPeer, bubblewrap
from python_sandbox_loop import (
    ENV_ID,
    add_spread,
    cold_program,
    cold_session,
    make,
    measure_steps,
    measure_throughput,
)
from python_sandbox_weight import measure_leftovers, measure_memory

from agent_envs.artifact import Outcome
from agent_envs.env import AgentEnv
from agent_envs.registration import ENVIRONMENTS
from agent_envs.sandboxes.ladder import start_sandbox

SYSTEM_PYTHON = "/usr/bin/python3"


def measure_cold(report: Report, *, rounds: int) -> None:
    """A whole isolated episode of one cell, beside what others need for one piece of Python."""
    report.section("a cold episode: create, run print(1), destroy")
    ours = "ours, isolated: persistent interpreter"
    system, running = f"{SYSTEM_PYTHON} -c pass", f"{sys.executable} -c pass"
    contenders: dict[str, Callable[[], float | None]] = {
        ours: cold_session,
        "ours, isolated: fresh program": cold_program,
    }
    contenders["/bin/true (the price of any process)"] = spawned("/bin/true")
    if os.access(SYSTEM_PYTHON, os.X_OK):
        contenders[system] = spawned(SYSTEM_PYTHON, "-c", "pass")
    contenders[running] = spawned(sys.executable, "-c", "pass")
    with ExitStack() as peers:
        contenders |= _peers(report, peers)
        spreads = interleave(contenders, rounds=rounds)
    base = spreads[ours].median
    for name, spread in spreads.items():
        beside = f"p95 {spread.p95 * 1e3:.2f}" + ("" if name == ours else f"; ours takes {base / spread.median:.2f}x")
        report.add(name, spread.median * 1e3, "ms", at_most=5 if name == ours else None, note=beside)
    for name in (system, running):
        if name in spreads:
            report.add(f"ours / {name}", base / spreads[name].median, "x", at_most=0.6)


def _peers(report: Report, running: ExitStack) -> dict[str, Callable[[], float | None]]:
    """Every peer that is installed; what is not is named in the report."""
    found: dict[str, Callable[[], float | None]] = {}
    bwrap = bubblewrap()
    if not bwrap:
        report.remark(f"bubblewrap: not installed: {BUBBLEWRAP.how} (or the system package)")
    elif os.access(SYSTEM_PYTHON, os.X_OK):
        view = [
            word
            for path in ("/usr", "/lib", "/lib64", "/bin")
            if Path(path).exists()
            for word in ("--ro-bind", path, path)
        ]
        flags = ["--unshare-all", "--die-with-parent", *view, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        found[f"bwrap + {SYSTEM_PYTHON}"] = spawned(bwrap, *flags, SYSTEM_PYTHON, "-c", "print(1)")
    for label, peer in (
        ("GEM 0.1.0, Python tool, not isolated", GEM),
        ("smolagents 1.26, LocalPythonExecutor, not isolated", SMOLAGENTS),
    ):
        if peer.installed:
            found[label] = running.enter_context(RunningPeer(peer))
        else:
            report.remark(f"{peer.name}: not installed: {peer.how}")
    return found


def measure_calls(report: Report, *, rounds: int) -> None:
    """What calls cost inside an episode that is there already."""
    report.section("calls inside a live sandbox")
    with closing(start_sandbox()) as sandbox:
        report.remark(f"isolation: {sandbox.isolation}")
        session = sandbox.open_python()
        cell = repeat(lambda: _discard(session.run("print(1)")), rounds=rounds * 10)
        fresh = repeat(lambda: _discard(sandbox.run_python("print(1)")), rounds=rounds * 2)
        shell = sandbox.open_shell()
        assert shell.run("echo 1").stdout == b"1\n"
        command = repeat(lambda: _discard(shell.run("echo 1")), rounds=rounds * 5)
        file = repeat(lambda: sandbox.write_file("a/b.txt", b"1" * 1000), rounds=rounds * 5)
    add_spread(report, "cell of the persistent interpreter", cell)
    add_spread(report, "run_python: fresh interpreter state", fresh, at_most=1.6)
    add_spread(report, "command of the persistent shell (echo)", command)
    add_spread(report, "write_file", file)


def _discard(_: object) -> None:
    return None


def measure_fork(report: Report, *, rounds: int) -> None:
    """Copies of a sandbox whose interpreter holds state."""
    report.section("fork() of a live sandbox")
    forks: list[float] = []
    used: list[float] = []
    with closing(start_sandbox()) as sandbox:
        assert sandbox.open_python().run("x = list(range(1000))").ok
        for _ in range(rounds):
            began = time.perf_counter()
            with closing(sandbox.fork()) as twin:
                forks.append(time.perf_counter() - began)
                assert twin.open_python().run("len(x)").value == "1000"
                used.append(time.perf_counter() - began)
    add_spread(report, "fork()", Spread.of(forks), at_most=2.5)
    add_spread(report, "fork(), and the first cell of the copy", Spread.of(used))


def measure_humaneval(report: Report, *, rounds: int) -> None:
    """Every reference solution of HumanEval, from make to verdict."""
    report.section("HumanEval: all 164 references, reset ... submit ... verdict")
    with closing(make(task_set="humaneval")) as env:
        inner = env.unwrapped
        assert isinstance(inner, AgentEnv)
        env.reset(seed=0)
        began, solved, taken = time.perf_counter(), 0, []
        for task in inner.tasks:
            started = time.perf_counter()
            env.reset(options={"task_id": task.id})
            for call in task.solution:
                *_, info = env.step(call.to_json())
            taken.append(time.perf_counter() - started)
            solved += info["outcome"] == Outcome.RESOLVED
        whole = time.perf_counter() - began
    spread = Spread.of(taken)
    report.add(
        "all of them", whole, "s", at_most=6, note=f"each {spread.median * 1e3:.1f} ms, p95 {spread.p95 * 1e3:.1f}"
    )
    report.add("resolved", solved, "", at_least=164)


def measure_import(report: Report, *, rounds: int) -> None:
    """What `import agent_envs` adds to `import gymnasium`."""
    report.section("import, in fresh interpreters")
    env_module = ENVIRONMENTS[ENV_ID].partition(":")[0]
    programs = {
        "import gymnasium": "import gymnasium",
        "import gymnasium, agent_envs": "import gymnasium, agent_envs",
        "the same, and the environment's modules": f"import gymnasium, agent_envs, {env_module}",
    }
    spreads = interleave(
        {name: spawned(sys.executable, "-P", "-c", code) for name, code in programs.items()}, rounds=max(5, rounds // 3)
    )
    base = spreads["import gymnasium"].median
    for name, spread in spreads.items():
        report.add(name, spread.median * 1e3, "ms")
    more = spreads["import gymnasium, agent_envs"].median - base
    report.add("import agent_envs, alone", more * 1e3, "ms", at_most=150)
    most = spreads["the same, and the environment's modules"].median - base
    report.add("with the environment's modules", most * 1e3, "ms")


SECTIONS = {
    "cold": measure_cold,
    "calls": measure_calls,
    "fork": measure_fork,
    "steps": measure_steps,
    "throughput": measure_throughput,
    "memory": measure_memory,
    "humaneval": measure_humaneval,
    "import": measure_import,
}


def main() -> int:
    """Measure, print the report, and say by the exit status whether every target was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the samples")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS, "leftovers"], default=[], help="only these sections")
    parser.add_argument("--episodes", type=int, default=1000, help="how many in a row (default: 1000)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    report = Report(f"{ENV_ID}")
    for name, measure in SECTIONS.items():
        if not options.only or name in options.only:
            measure(report, rounds=10 if options.quick else 50)
    if not options.only or "leftovers" in options.only:
        measure_leftovers(report, episodes=options.episodes)
    return report.show(as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
