"""Every example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_an_environment_is_added_in_under_80_lines_and_keeps_the_contract(checkout: Path, tmp_path: Path) -> None:
    example = checkout / "examples" / "add_an_environment.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 80
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "resolved" in done.stdout
    assert "keeps every promise" in done.stdout
