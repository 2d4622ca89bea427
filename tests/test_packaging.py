"""The package that users install is the tree that we test: nothing forgotten, nothing stray, nothing shadowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOTS = {"agent_envs": "agent_envs"} | {name: f"agent_envs.{name}" for name in ("envs", "verifiers", "trainers")}
DATA = "envs/swe/mini"
"""Repositories of bundled tasks: packages in them are no packages of ours."""
IMPORT_ALL = "import agent_envs, agent_envs.envs, agent_envs.trainers, agent_envs.verifiers"


@pytest.fixture(scope="module")
def sources(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that a build reads, so that building leaves nothing in the checkout."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(checkout / name, copy)
    for name in ROOTS:
        shutil.copytree(checkout / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def wheel(sources: Path) -> Path:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    done = subprocess.run(build, capture_output=True, text=True, check=False, cwd=sources)
    assert done.returncode == 0, done.stderr[-1000:]
    (built,) = (sources / "dist").glob("*.whl")
    return built


def python(code: str, *, cwd: Path, flags: tuple[str, ...] = (), path: str = "") -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, *flags, "-c", code],
        cwd=cwd,
        env=env | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_sub_package_of_the_tree_is_declared_and_every_declared_one_exists(checkout: Path) -> None:
    settings = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    in_tree = {
        ".".join((package, *marker.parent.relative_to(checkout / root).parts))
        for root, package in ROOTS.items()
        for marker in (checkout / root).rglob("__init__.py")
        if not marker.is_relative_to(checkout / DATA)
    }
    assert set(settings["packages"]) == in_tree
    assert settings["packages"] == sorted(settings["packages"])
    assert settings["package-dir"] == {package: root for root, package in ROOTS.items()}


def test_the_wheel_holds_every_file_of_the_four_folders_and_no_other_top_level_name(sources: Path, wheel: Path) -> None:
    expected = {
        f"{package.replace('.', '/')}/{path.relative_to(sources / root).as_posix()}"
        for root, package in ROOTS.items()
        for path in (sources / root).rglob("*")
        if path.is_file()
    }
    names = set(zipfile.ZipFile(wheel).namelist())
    metadata = {name for name in names if ".dist-info/" in name}
    assert names - metadata == expected
    assert "agent_envs/py.typed" in names
    assert len({name.split("/")[0] for name in metadata}) == 1


def test_the_wheel_carries_its_licence_and_its_readme(checkout: Path, wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    texts = {Path(name).name: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name}
    assert texts["LICENSE"] == (checkout / "LICENSE").read_text(encoding="utf-8")
    assert texts["METADATA"].endswith((checkout / "README.md").read_text(encoding="utf-8"))


def test_the_version_is_the_same_in_the_package_and_in_its_metadata(checkout: Path) -> None:
    import agent_envs

    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert agent_envs.__version__ == project["version"]


def test_the_package_is_imported_from_any_folder(tmp_path: Path) -> None:
    done = python(IMPORT_ALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_installed_wheel_is_complete_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = f"{IMPORT_ALL}; print(agent_envs.envs.__file__)"
    done = python(code, cwd=tmp_path, path=str(tmp_path / "site"))
    assert done.stdout.strip() == str(tmp_path / "site" / "agent_envs" / "envs" / "__init__.py"), done.stderr


def test_a_checkout_that_hides_the_installed_wheel_says_so(sources: Path, wheel: Path, tmp_path: Path) -> None:
    """`python -c` in a checkout finds its agent_envs/ first, and that folder alone lacks the other three."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    # -S hides an editable install, whose import hook would find the three folders; the dependencies come back by path.
    dependencies = [path for path in sys.path if path.endswith("site-packages")]
    done = python(IMPORT_ALL, cwd=sources, flags=("-S",), path=os.pathsep.join([str(site), *dependencies]))
    assert done.returncode == 1
    assert f"{sources} is on sys.path and hides the installed agent_envs" in done.stderr


def test_a_verdict_is_pickled_under_a_name_that_every_process_can_import(tmp_path: Path) -> None:
    code = "import pickle, agent_envs.verifiers as v; print(pickle.dumps(v.Verdict).hex(), v.Verdict.__module__)"
    dumped, module = python(code, cwd=tmp_path).stdout.split()
    assert module.startswith("agent_envs.")
    loaded = python(f"import pickle; print(pickle.loads(bytes.fromhex({dumped!r})))", cwd=tmp_path, flags=("-P",))
    assert loaded.stdout.strip() == f"<class '{module}.Verdict'>"
