"""The ladder of isolation: probed for real, explained, and never silently lowered."""

from __future__ import annotations

import errno
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_envs.errors import ConfigError, SandboxUnavailable
from agent_envs.sandboxes import ladder
from agent_envs.sandboxes.ladder import TIERS, Tier, choose, probe, start_sandbox
from agent_envs.sandboxes.namespaces import _probe


def tiers(*available: str) -> tuple[Tier, ...]:
    """A machine on which only these tiers work."""
    found = (Tier(name=name, promise="p", available=False, why_not=f"no {name}", fix=f"mend {name}") for name in TIERS)
    return tuple(
        replace(tier, available=True, why_not="", fix="") if tier.name in available else tier for tier in found
    )


def test_every_tier_is_named_strongest_first() -> None:
    assert tuple(tier.name for tier in probe()) == TIERS


def test_a_tier_that_is_not_available_says_why_and_what_to_do() -> None:
    missing = [tier for tier in probe() if not tier.available]
    assert missing
    assert all(tier.why_not and tier.fix for tier in missing)


def test_the_strongest_available_tier_is_chosen() -> None:
    assert ladder._choose(tiers("namespaces", "none"), at_least="namespaces", allow_unsafe=False).name == "namespaces"


def test_a_weaker_tier_than_wanted_is_refused_with_the_remedy() -> None:
    with pytest.raises(SandboxUnavailable, match=r"no namespaces\+cgroup\. To allow it: mend namespaces\+cgroup"):
        ladder._choose(tiers("namespaces", "none"), at_least="namespaces+cgroup", allow_unsafe=False)


@pytest.mark.parametrize("at_least", ["namespaces", "none"])
def test_no_isolation_is_never_taken_unasked(at_least: str) -> None:
    with pytest.raises(SandboxUnavailable):
        ladder._choose(tiers("none"), at_least=at_least, allow_unsafe=False)


def test_no_isolation_is_taken_where_it_is_allowed_and_nothing_better_works() -> None:
    assert ladder._choose(tiers("none"), at_least="namespaces", allow_unsafe=True).name == "none"
    assert ladder._choose(tiers("namespaces", "none"), at_least="none", allow_unsafe=True).name == "namespaces"


def test_an_unknown_tier_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'docker'.*landlock"):
        choose(at_least="docker")


CAUSES = {
    "proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    "proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
    ".dockerenv": ("", "--security-opt seccomp=unconfined"),
}


@pytest.mark.parametrize("sign", CAUSES)
def test_the_remedy_fits_the_cause(sign: str, tmp_path: Path) -> None:
    content, remedy = CAUSES[sign]
    (tmp_path / sign).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / sign).write_text(content)
    why, fix = ladder._diagnose("mount", errno.EPERM, tmp_path, as_root=False)
    assert "EPERM" in why
    assert remedy in fix


def test_a_machine_that_forbids_namespaces_is_found_out() -> None:
    # A user namespace in which no further one may be made is such a machine.
    limit = "echo 0 > /proc/sys/user/max_user_namespaces && "
    inside = f"{limit} exec {sys.executable} -I -S {_probe.__file__}"
    ran = subprocess.run(["unshare", "-Ur", "sh", "-c", inside], capture_output=True, text=True, check=False)
    if "ok" not in subprocess.run([sys.executable, "-I", "-S", _probe.__file__], capture_output=True, text=True).stdout:
        pytest.skip("this machine allows none either")
    assert ran.stdout == f"user namespace {errno.ENOSPC}\n"


@pytest.mark.skipif(not choose(allow_unsafe=True).name.startswith("namespaces"), reason="needs namespaces")
def test_a_sandbox_of_the_chosen_tier_is_started() -> None:
    sandbox = start_sandbox()
    try:
        assert sandbox.isolation == choose().name
        assert sandbox.run_python("import os; print(os.getpid())").ok
    finally:
        sandbox.close()
