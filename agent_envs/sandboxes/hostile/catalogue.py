"""Every hostile program by kind, in the order in which they are run."""

from __future__ import annotations

from agent_envs.sandboxes.hostile import escape, files, forging, ordinary, output, resources, signals
from agent_envs.sandboxes.hostile.program import HostileProgram

PROGRAMS: dict[str, tuple[HostileProgram, ...]] = {
    "ordinary": ordinary.PROGRAMS,
    "resources": resources.PROGRAMS,
    "escape": escape.PROGRAMS,
    "signals": signals.PROGRAMS,
    "output": output.PROGRAMS,
    "files": files.PROGRAMS,
    "forging": forging.PROGRAMS,
}
"""The hostile programs by kind."""
