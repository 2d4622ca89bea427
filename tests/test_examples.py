"""Every example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def output_of(example: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, check=False, cwd=folder, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_environment_is_added_in_under_80_lines_and_keeps_the_contract(checkout: Path, tmp_path: Path) -> None:
    example = checkout / "examples" / "add_an_environment.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 80
    shown = output_of(example, tmp_path)
    assert "resolved" in shown
    assert "keeps every promise" in shown


def test_a_message_loop_of_the_openai_kind_repairs_a_repository(checkout: Path, tmp_path: Path) -> None:
    shown = output_of(checkout / "examples" / "repair_a_repository.py", tmp_path)
    assert "14.29 14.29 14.29 14.29 14.28 14.28 14.28" in shown
    assert shown.endswith("reward 1.0, resolved\n")


def test_a_model_is_trained_in_30_lines(checkout: Path, tmp_path: Path) -> None:
    example = checkout / "examples" / "train_grpo.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 30
    shown = output_of(example, tmp_path)
    assert float(shown.split()[-1]) > 0.9
