"""The tiers of isolation, strongest first: which of them this machine allows, and what would allow the others.

Each is tried for real. A weaker tier is never taken silently: whoever wants less than namespaces says so.
"""

from __future__ import annotations

import errno
import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_envs.errors import ConfigError, MissingExtra, SandboxUnavailable
from agent_envs.sandboxes import unsafe
from agent_envs.sandboxes.namespaces import _cgroup, _probe
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup
from agent_envs.sandboxes.protocol import Limits, Sandbox

TIERS = ("namespaces+cgroup", "namespaces", "landlock", "none")
"""The names of the tiers, strongest first; `Sandbox.isolation` is one of them, or that of another backend."""

_PROBE_S = 20.0

_DOCKER_FIX = (
    "start the container with: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined ..."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One level of isolation, as found on this machine."""

    name: str
    promise: str
    """What it gives, in one sentence."""
    available: bool
    why_not: str = ""
    """Why it cannot be used here; empty where it can."""
    fix: str = ""
    """What would make it usable: a command, or a sentence where no command does."""


@functools.cache
def probe() -> tuple[Tier, ...]:
    """Try every tier, strongest first; the answer is kept for the life of this process."""
    failure, fix = _namespaces_problem()
    group_failure, group_fix = _groups_problem()
    return (
        Tier(
            name="namespaces+cgroup",
            promise="Own processes, files and network; filtered system calls; memory bounded over the whole sandbox.",
            available=not failure and not group_failure,
            why_not=failure or group_failure,
            fix=fix if failure else group_fix,
        ),
        Tier(
            name="namespaces",
            promise="The same, but memory is bounded for each process and not for all of them together.",
            available=not failure,
            why_not=failure,
            fix=fix,
        ),
        Tier(
            name="landlock",
            promise="Files and system calls are confined; processes are seen but cannot be signalled.",
            available=False,
            why_not="not built yet",
            fix="use another tier",
        ),
        Tier(
            name="none",
            promise="Nothing: guest code runs as you, with your files and your network.",
            available=True,
        ),
    )


def choose(*, at_least: str = "namespaces", allow_unsafe: bool = False) -> Tier:
    """The strongest tier this machine allows, which is `at_least` or stronger.

    `allow_unsafe` admits `none`, no isolation at all, where nothing else can be had; nothing but it does.
    Raises `SandboxUnavailable` with the remedy where there is no such tier.
    """
    if at_least not in TIERS:
        raise ConfigError(f"no tier of isolation is called {at_least!r}; they are {', '.join(TIERS)}")
    return _choose(probe(), at_least=at_least, allow_unsafe=allow_unsafe)


def start_sandbox(
    *,
    limits: Limits | None = None,
    packages: Sequence[str] = (),
    at_least: str = "namespaces",
    allow_unsafe: bool = False,
) -> Sandbox:
    """Start a sandbox of the strongest tier this machine allows.

    `packages` are the top-level Python packages that guest code may import besides the standard library. Raises
    `SandboxUnavailable` where no tier admitted by `at_least` and `allow_unsafe` (see `choose`) can be had.
    """
    tier = choose(at_least=at_least, allow_unsafe=allow_unsafe)
    limits = checked(limits or Limits())
    if tier.name == "none":
        return unsafe.UnsafeSandbox(limits=limits)
    from agent_envs.sandboxes.namespaces import start_namespace_sandbox

    sandbox = start_namespace_sandbox(limits=limits, packages=packages)
    if TIERS.index(sandbox.isolation) > TIERS.index(tier.name):
        sandbox.close()
        raise SandboxUnavailable(
            f"the sandbox came up as {sandbox.isolation} where {tier.name} was expected; "
            "run `agent-envs doctor` to see what has changed on this machine"
        )
    return sandbox


def checked(limits: Limits) -> Limits:
    """The same limits; raises `ConfigError` where one of them is no bound."""
    for name, value in asdict(limits).items():
        if type(value) is not int or value < 1:
            raise ConfigError(f"the limit {name} is {value!r}; expected a whole number of at least 1")
    return limits


def sweep() -> dict[str, int]:
    """Remove what killed processes have left behind on this machine, and say how many of each kind there were."""
    # Not at the top: the engine behind it asks this module what the machine allows.
    from agent_envs.sandboxes.roots.store import Store, default_folder

    half_made = Store(default_folder()).sweep()
    here = {"control groups": _cgroup.sweep(), "folders": unsafe.sweep(), "half-made images": half_made}
    return here | _sweep_docker()


def docker() -> Tier:
    """Whether containers can be used here; asked anew each time, and no rung of the ladder above."""
    from agent_envs.sandboxes.docker import DockerEngine

    engine = DockerEngine()
    why_not = fix = ""
    try:
        engine.connect()
    except (SandboxUnavailable, MissingExtra) as error:
        why_not, _, fix = str(error).partition("; ")
    finally:
        engine.close()
    promise = "Images in containers: no privilege, no network, bounded memory; what the Docker engine gives."
    return Tier(name="docker", promise=promise, available=not why_not, why_not=why_not, fix=fix)


def _sweep_docker() -> dict[str, int]:
    """The same for containers, where there is an engine at all."""
    from agent_envs.sandboxes import docker as containers

    try:
        return containers.sweep() if containers.is_likely_here() else containers.NOTHING_SWEPT
    except (SandboxUnavailable, MissingExtra):
        return containers.NOTHING_SWEPT


def _choose(tiers: Sequence[Tier], *, at_least: str, allow_unsafe: bool) -> Tier:
    floor = TIERS.index("none" if allow_unsafe else at_least)
    for tier in tiers:
        admitted = TIERS.index(tier.name) <= floor and (tier.name != "none" or allow_unsafe)
        if tier.available and admitted:
            return tier
    wanted = next(tier for tier in tiers if tier.name == at_least)
    reason = wanted.why_not or "it gives no isolation and has not been allowed"
    remedy = wanted.fix or "pass allow_unsafe=True if you trust the code that will run"
    raise SandboxUnavailable(
        f"no sandbox of tier {at_least} or stronger can be started here: {reason}. To allow it: {remedy}"
    )


def _namespaces_problem() -> tuple[str, str]:
    """Why a sandbox of namespaces cannot be made here, and what would allow it; both empty where it can."""
    if sys.platform != "linux":
        return f"namespaces are part of Linux, and this is {sys.platform}", "run in a Linux virtual machine"
    answer = subprocess.run(
        [sys.executable, "-I", "-S", _probe.__file__],
        capture_output=True,
        text=True,
        timeout=_PROBE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if answer.stdout == "ok\n":
        return "", ""
    if not answer.stdout:
        return f"the probe died with status {answer.returncode}: {answer.stderr.strip()[-200:]}", "report this"
    step, _, number = answer.stdout.strip().rpartition(" ")
    return _diagnose(step, int(number), Path("/"), as_root=os.getuid() == 0)


def _diagnose(step: str, number: int, root: Path, *, as_root: bool) -> tuple[str, str]:
    """Cause and remedy of one failed step, from what `root` tells of the machine."""
    failed = f"{errno.errorcode.get(number, str(number))} at the step '{step}'"
    if step == "architecture":
        machine = os.uname().machine
        return f"no tested table of system calls exists for {machine}", "use an x86_64 machine, or the docker backend"
    if step == "seccomp":
        return f"the kernel refuses a system call filter ({failed})", "use a kernel with CONFIG_SECCOMP_FILTER"
    if _sysctl(root, "kernel/apparmor_restrict_unprivileged_userns") == "1" and not as_root:
        return (
            f"AppArmor restricts user namespaces of ordinary users ({failed})",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    if _sysctl(root, "kernel/unprivileged_userns_clone") == "0" and not as_root:
        return (
            f"user namespaces of ordinary users are switched off ({failed})",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        )
    if number == errno.ENOSPC or _sysctl(root, "user/max_user_namespaces") == "0":
        return f"no more user namespaces are allowed ({failed})", "sudo sysctl -w user.max_user_namespaces=15000"
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return f"the container runtime forbids namespaces ({failed})", _DOCKER_FIX
    if number == errno.EINVAL:
        return (
            f"this kernel has no such namespace ({failed})",
            "use a kernel with CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS",
        )
    return (
        f"the kernel refuses it ({failed})",
        f"look for a security policy around this process (a container? SELinux?); in a container, {_DOCKER_FIX}",
    )


def _groups_problem() -> tuple[str, str]:
    if sys.platform != "linux" or MemoryGroup.available():
        return "", ""
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return (
            "no control group with memory and pids is handed to this process (version 2)",
            "systemd-run --user --scope -p Delegate=yes <your command>; in a container: docker run --privileged ...",
        )
    return (
        "the control groups memory and pids cannot be written by this process (version 1)",
        "sudo cgcreate -a $USER -t $USER -g memory,pids:$USER && cgexec -g memory,pids:$USER <your command>",
    )


def _sysctl(root: Path, name: str) -> str:
    try:
        return (root / "proc/sys" / name).read_text().strip()
    except OSError:
        return ""
