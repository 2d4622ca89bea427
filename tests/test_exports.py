"""The public surface: what `__all__` exports, docs/api.md lists, and nothing else."""

from __future__ import annotations

import importlib
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

Surface = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def surface(checkout: Path) -> Surface:
    read: Callable[[Path], Surface] = runpy.run_path(str(checkout / "scripts" / "api_index.py"))["surface"]
    return read(checkout)


def reading_order(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions: the order that ruff's RUF022 keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_exported_names_are_sorted_and_listed_once(surface: Surface) -> None:
    for module, names in surface.items():
        declared = importlib.import_module(module).__all__
        assert list(declared) == sorted(names, key=reading_order), module


def test_every_exported_name_can_be_imported(surface: Surface) -> None:
    missing = [
        f"{module}.{name}"
        for module, names in surface.items()
        for name in names
        if name not in dir(importlib.import_module(module))
    ]
    assert missing == []


def test_every_exported_name_has_a_docstring_that_opens_with_a_sentence(surface: Surface) -> None:
    silent = [f"{module}.{name}" for module, names in surface.items() for name, text in names.items() if not text]
    assert silent == []


def test_the_index_of_public_names_is_what_make_api_writes(checkout: Path) -> None:
    index: Callable[[Path], str] = runpy.run_path(str(checkout / "scripts" / "api_index.py"))["index"]
    assert (checkout / "docs" / "api.md").read_text(encoding="utf-8") == index(checkout), "run `make api`"
