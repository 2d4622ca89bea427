"""`doctor`, `selftest` and `clean`: what this machine can isolate, the proof of it, and what was left behind."""

from __future__ import annotations

import sys

import click

from agent_envs.browser import BrowserOptions, open_window
from agent_envs.cli.output import console, json_option, print_json, print_table, progress
from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.sandboxes.hostile import programs, run_suite
from agent_envs.sandboxes.ladder import Tier, choose, docker, probe, start_sandbox, sweep


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show which sandbox tiers work here, why a higher one does not, and the exact fix."""
    tiers = [*probe(), docker(), _browser()]
    best = next((tier for tier in probe() if tier.available and tier.name != "none"), None)
    if as_json:
        print_json(tiers)
    else:
        rows = [(tier.name, _works(tier), tier.why_not, tier.fix) for tier in tiers]
        print_table("Sandbox tiers, strongest first", ("tier", "works here", "why not", "fix"), rows)
        console().print(f"Environments here use: {best.name if best else 'no tier; see the fixes'}", style="bold")
        console().print(f"Images can be run in containers: {_works(tiers[-2])}", style="bold")
        console().print(f"Web sites can be visited: {_works(tiers[-1])}", style="bold")
    sys.exit(0 if best else 1)


def _browser() -> Tier:
    """Whether web sites can be visited here; no rung of the ladder either."""
    why_not = fix = ""
    try:
        open_window(BrowserOptions(ready=0), visits={}, now="2026-01-01T00:00:00", seed=0).close()
    except (SandboxUnavailable, MissingExtra) as error:
        why_not, _, fix = str(error).partition("; ")
    promise = "Web pages in a browser of their own, with no network behind their sites."
    return Tier(name="browser", promise=promise, available=not why_not, why_not=why_not, fix=fix)


def _works(tier: Tier) -> str:
    if tier.name == "none":
        return "on request"
    return "yes" if tier.available else "no"


@click.command()
@click.option("--all", "show_all", is_flag=True, help="Show every program, not only those that failed.")
@json_option
def selftest(show_all: bool, as_json: bool) -> None:
    """Run the hostile programs against the sandbox of this machine; exit status 1 if one gets through."""
    tier = choose()
    results = []
    with progress(f"hostile programs against {tier.name}", len(programs()), quiet=as_json) as advance:
        for result in run_suite(start_sandbox):
            results.append(result)
            advance()
    failed = [result for result in results if not result.passed]
    if as_json:
        print_json({"tier": tier.name, "programs": len(results), "failed": len(failed), "results": results})
    else:
        shown = results if show_all else failed
        if shown:
            rows = [(r.name, r.kind, "passed" if r.passed else "FAILED", r.seen) for r in shown]
            print_table("Hostile programs", ("program", "kind", "result", "seen"), rows)
        held = len(results) - len(failed)
        console().print(f"{held} of {len(results)} hostile programs held by tier {tier.name}", style="bold")
    sys.exit(1 if failed else 0)


@click.command()
@json_option
def clean(as_json: bool) -> None:
    """Remove what a killed process left behind; safe beside running environments."""
    removed = sweep()
    if as_json:
        print_json(removed)
        return
    for kind, count in removed.items():
        console().print(f"{kind}: {count} removed")
