"""What a guest may see of the interpreter and the packages installed here, found out on the host.

Every folder of installed packages is covered, and only what was asked for is shown in it: an installed data set with
reference solutions must not be one `import` away from the agent.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import site
import sys
from collections.abc import Iterator
from importlib import metadata

from agent_envs.errors import ConfigError
from agent_envs.sandboxes.namespaces._rootfs import Plan

_UNPRIVILEGED_ID = 64999
_PACKAGES_AT = "/packages"
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)([^;]*)(?:;(.*))?")
_COVERED = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib64/python*/site-packages", "src")


@functools.lru_cache(maxsize=64)
def plan_for(packages: tuple[str, ...]) -> Plan:
    """The plan that shows these packages (names of distributions or of modules) with all that they require."""
    prefixes = tuple(dict.fromkeys(os.path.realpath(path) for path in (sys.base_prefix, sys.base_exec_prefix)))
    masked = sorted({path for prefix in ("/usr", "/usr/local", *prefixes) for path in _package_folders(prefix)})
    distributions = _with_requirements(packages)
    entries = dict(entry for distribution in distributions.values() for entry in _entries(distribution))
    own = [path for path in site.getsitepackages([sys.base_prefix]) if os.path.realpath(path) in masked]
    return Plan(
        shown=[f"{prefix}/{part}" for prefix in prefixes if prefix != "/usr" for part in ("bin", "lib", "lib64")],
        masked=masked,
        packages=entries,
        packages_at=os.path.realpath(own[0]) if own else _PACKAGES_AT,
        preload=[module for name in packages for module in _modules(distributions[_canonical(name)], name)],
        unprivileged_id=_UNPRIVILEGED_ID,
    )


def plan_for_images(folder: str) -> Plan:
    """The plan of a zygote whose guests see nothing of this machine but an image out of this folder."""
    prefixes = tuple(dict.fromkeys(os.path.realpath(path) for path in (sys.base_prefix, sys.base_exec_prefix)))
    return Plan(
        shown=[f"{prefix}/{part}" for prefix in prefixes if prefix != "/usr" for part in ("bin", "lib", "lib64")],
        masked=[],
        packages={},
        packages_at=_PACKAGES_AT,
        preload=["hashlib"],
        unprivileged_id=_UNPRIVILEGED_ID,
        images=folder,
    )


def outer_id() -> int:
    """Whom guests are outside of their namespaces, and so whom everything in a stored image must belong to."""
    return os.geteuid() or _UNPRIVILEGED_ID


def interpreter() -> str:
    """The interpreter that zygotes and guests run: the one behind the virtual environment, if we are in one."""
    return os.path.realpath(vars(sys).get("_base_executable") or sys.executable)


def _package_folders(prefix: str) -> Iterator[str]:
    for pattern in _COVERED:
        yield from (os.path.realpath(path) for path in glob.glob(f"{prefix}/{pattern}") if os.path.isdir(path))


def _with_requirements(packages: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """The distributions of these packages and of what they require, by the names they were asked for."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(name, True) for name in packages]
    while waiting:
        name, asked_for = waiting.pop()
        if _canonical(name) in found:
            continue
        distribution = _distribution(name)
        if distribution is None:
            if asked_for:
                raise ConfigError(f"the package {name!r} is not installed here, so a sandbox cannot offer it")
            # What is required under conditions that do not hold here is simply not installed.
            continue
        found[_canonical(name)] = distribution
        waiting += [(required, False) for required in _requirements(distribution)]
    return found


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        providers = metadata.packages_distributions().get(name)
        return metadata.distribution(providers[0]) if providers else None


def _requirements(distribution: metadata.Distribution) -> Iterator[str]:
    for line in distribution.requires or ():
        match = _REQUIREMENT.match(line)
        if match and "extra" not in (match[3] or ""):
            yield match[1]


def _entries(distribution: metadata.Distribution) -> Iterator[tuple[str, str]]:
    """The top-level files and folders of a distribution: (name, where it is)."""
    if not distribution.files:
        raise ConfigError(f"{distribution.name} does not list its files (an editable install?), so it cannot be shown")
    names = {path.parts[0] for path in distribution.files} - {"..", "__pycache__"}
    for name in sorted(names):
        place = os.path.realpath(str(distribution.locate_file(name)))
        if os.path.exists(place):
            yield name, place


def _modules(distribution: metadata.Distribution, asked_for: str) -> list[str]:
    """The modules to import ahead: the one of the name that was asked for, else every package of the distribution."""
    names = {path.parts[0].split(".")[0] for path in distribution.files or () if path.suffix in (".py", ".so")}
    plain = asked_for.replace("-", "_")
    return [plain] if plain in names else sorted(name for name in names if name.isidentifier())


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
