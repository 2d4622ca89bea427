"""The hostile suite against the namespaces backend, as whoever runs the tests and as an ordinary user."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import agent_envs
from agent_envs.errors import ConfigError
from agent_envs.sandboxes.hostile import LIMITS, PROGRAMS, HostileProgram, HostileResult, Mode, programs, run_suite
from agent_envs.sandboxes.images import Place, Recipe
from agent_envs.sandboxes.ladder import probe
from agent_envs.sandboxes.namespaces import NamespaceSandbox, start_namespace_sandbox
from agent_envs.sandboxes.protocol import Limits
from agent_envs.sandboxes.roots import NamespaceEngine
from agent_envs.sandboxes.unsafe import UnsafeSandbox

needs_namespaces = pytest.mark.skipif(
    not any(tier.available for tier in probe() if tier.name == "namespaces"), reason="no namespaces can be made here"
)

NOBODY = 65534


def start(*, limits: Limits) -> NamespaceSandbox:
    return start_namespace_sandbox(limits=limits)


def attack(program: HostileProgram, mode: Mode = Mode.FRESH) -> HostileResult:
    """What the suite says of one program."""
    (result,) = run_suite(start, attacks=[("test", program, mode)])
    return result


@needs_namespaces
@pytest.mark.parametrize("kind", PROGRAMS)
def test_no_hostile_program_gets_through(kind: str) -> None:
    results = list(run_suite(start, attacks=[each for each in programs() if each[0] == kind]))
    assert len(results) > 10
    assert [f"{result.name} ({result.mode}): {result.seen}" for result in results if not result.passed] == []


OF_THE_HOST = {"read the shadow passwords", "read the users of the host"}
"""Written for a guest whose files are this machine's: over an image these are the files of the image."""


@needs_namespaces
@pytest.mark.parametrize("kind", ["escape", "files", "resources", "signals"])
def test_no_hostile_program_gets_through_over_an_image(engine: NamespaceEngine, kind: str) -> None:
    image = engine.build(Recipe())
    attacks = [
        each for each in programs() if each[0] == kind and each[2] is Mode.FRESH and each[1].name not in OF_THE_HOST
    ]
    assert len(attacks) > 10
    results = list(run_suite(lambda *, limits: engine.start(Place(image=image, limits=limits)), attacks=attacks))
    assert [f"{result.name}: {result.seen}" for result in results if not result.passed] == []


@needs_namespaces
def test_no_hostile_program_of_an_ordinary_users_machine_gets_through(tmp_path_factory: pytest.TempPathFactory) -> None:
    if os.getuid() != 0:
        pytest.skip("the other tests have run as an ordinary user already")
    place = tmp_path_factory.mktemp("ordinary")
    # Up to the folder of all temporary files: a worker of pytest-xdist has one more above its own.
    for folder in (place, *itertools.takewhile(lambda each: each != Path(tempfile.gettempdir()), place.parents)):
        folder.chmod(0o755)
    python = readable_python(place)
    code = (
        "import json; from agent_envs.sandboxes.hostile import run_suite; "
        "from agent_envs.sandboxes.namespaces import start_namespace_sandbox as start; "
        "print(json.dumps([[r.name, r.mode, r.seen] for r in run_suite(start)]))"
    )
    ran = as_nobody([python, "-c", code], place)
    assert ran.returncode == 0, ran.stderr[-2000:]
    results = json.loads(ran.stdout)
    assert len(results) > 400
    assert [result for result in results if result[2]] == []


def as_nobody(command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd="/",
        env={"PYTHONPATH": str(place), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )


def readable_python(place: Path) -> str:
    """An interpreter of this version that nobody can run, with the package and what it imports laid out at `place`."""
    package = Path(agent_envs.__file__).parent
    # Which others may be writing to.
    bytecode = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, place / "agent_envs", ignore=bytecode)
    for part in ("envs", "verifiers", "trainers"):
        if not (place / "agent_envs" / part).exists():
            shutil.copytree(package.parent / part, place / "agent_envs" / part, ignore=bytecode)
    for name in ("gymnasium", "numpy", "msgspec", "cloudpickle", "farama_notifications", "typing_extensions"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        source = Path(str(spec.origin))
        for found in (source.parent if source.name == "__init__.py" else source, source.parents[1] / f"{name}.libs"):
            if found.is_dir():
                shutil.copytree(found, place / found.name, dirs_exist_ok=True)
            elif found.exists():
                shutil.copy(found, place)
    wanted = f"import sys, agent_envs; assert sys.version_info[:2] == {sys.version_info[:2]}"
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if as_nobody([python, "-c", wanted], place).returncode == 0:
                return python
        except PermissionError:
            continue
    pytest.skip("no interpreter of this version can be run by an ordinary user")


@needs_namespaces
def test_a_program_that_gets_something_is_reported() -> None:
    assert "printed what it must not have" in attack(HostileProgram("breach", "print('BREACH')")).seen


@needs_namespaces
def test_a_program_that_ends_otherwise_than_allowed_is_reported() -> None:
    assert "status error, allowed ok" in attack(HostileProgram("fails", "1 / 0")).seen


@needs_namespaces
def test_an_attack_that_did_not_take_place_is_reported() -> None:
    program = HostileProgram("silent", "pass", requires=("refused:",))
    assert "printed no 'refused:'" in attack(program).seen


@needs_namespaces
def test_a_secret_of_the_host_is_recognised() -> None:
    os.environ["AGENT_ENVS_TEST_API_KEY"] = "0123456789"
    try:
        assert "must not have" in attack(HostileProgram("leak", "print('0123' + '456789')")).seen
    finally:
        del os.environ["AGENT_ENVS_TEST_API_KEY"]


@needs_namespaces
def test_an_exception_of_the_backend_is_reported() -> None:
    program = HostileProgram("breaks the host", "pass", check=lambda sandbox: str(1 // 0))
    assert "ZeroDivisionError" in attack(program).seen


def test_the_suite_is_never_run_without_isolation() -> None:
    with pytest.raises(ConfigError, match="attack the machine itself"):
        list(run_suite(lambda *, limits: UnsafeSandbox(limits=limits)))


def test_every_program_has_a_name_of_its_own() -> None:
    names = [program.name for members in PROGRAMS.values() for program in members]
    assert len(names) == len(set(names))
    assert LIMITS.memory_mb < Limits().memory_mb
