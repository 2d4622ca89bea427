"""The floors of the house: a lower one never imports a higher one, read from the source of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FLOORS = {
    0: ("errors", "json_lines", "spaces", "tools", "dialects"),
    1: ("artifact", "sandboxes", "browser", "sites", "tasks", "rewards", "episode", "options"),
    2: ("verifiers",),
    3: ("session", "env"),
    4: ("envs",),
    5: ("cli", "testing", "wrappers", "agents", "benchmark", "integrations", "registration", "sampling", "trainers"),
}
"""A private module is not listed: it lives as high as the highest module that it imports."""
FLOOR_OF = {part: floor for floor, parts in FLOORS.items() for part in parts}
ROOTS = {"agent_envs": "agent_envs", "envs": "agent_envs.envs"} | {
    name: f"agent_envs.{name}" for name in ("verifiers", "trainers")
}
EVERYWHERE = {"agent_envs", "gymnasium", "msgspec", "numpy", *sys.stdlib_module_names}
"""What a core module may import at module level; everything else is imported where it is used."""
AT_THE_TOP = {"cli": {"click", "rich"}}
DATA = "envs/swe/mini"
"""Repositories of bundled tasks: files of theirs are no modules of the package."""
GUEST = "guest_"
"""A module of this name is the program of another process; `tests/test_import.py` sees that it is not loaded here."""


def modules(checkout: Path) -> dict[str, ast.Module]:
    """Every module under the name that it is imported by, parsed."""
    found = {}
    for folder, package in ROOTS.items():
        for path in sorted((checkout / folder).rglob("*.py")):
            if path.is_relative_to(checkout / DATA):
                continue
            parts = path.relative_to(checkout / folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


def imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports anywhere: `from a import b` counts as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_on_load(statements: list[ast.stmt]) -> Iterator[str]:
    """The dotted names that are imported when the module itself is; not those inside functions or for types only."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from imports(statement)
        for block in ("body", "orelse", "finalbody", "handlers"):
            for child in getattr(statement, block, []):
                yield from imports_on_load(child.body if isinstance(child, ast.ExceptHandler) else [child])


def part_of(name: str) -> str:
    """`agent_envs.sandboxes.protocol` belongs to `sandboxes`; the root package belongs to no floor."""
    return name.split(".")[1] if name.startswith("agent_envs.") else ""


def floors(house: dict[str, ast.Module]) -> dict[str, int]:
    """The floor of every module. A private one may rest on another, so the answer is settled step by step."""
    private = {part_of(name): set(imports(tree)) for name, tree in house.items() if part_of(name).startswith("_")}
    known = FLOOR_OF | dict.fromkeys(private, 0)
    for _ in private:
        for part, names in private.items():
            known[part] = max((known.get(part_of(name), 0) for name in names), default=0)
    return {name: known.get(part_of(name), 0) for name in house}


@pytest.fixture(scope="module")
def house(checkout: Path) -> dict[str, ast.Module]:
    return modules(checkout)


def test_every_module_has_a_floor(house: dict[str, ast.Module]) -> None:
    assert {part for name in house if not (part := part_of(name)).startswith("_")} - {"", *FLOOR_OF} == set()


def test_a_lower_floor_never_imports_a_higher_one(house: dict[str, ast.Module]) -> None:
    floor = floors(house)
    ground = {part_of(name): floor[name] for name in house}
    upwards = [
        f"{name} -> {imported}"
        for name, tree in house.items()
        for imported in imports(tree)
        if part_of(name) and ground.get(part_of(imported), 0) > floor[name]
    ]
    assert upwards == []


def test_environments_never_import_each_other(house: dict[str, ast.Module]) -> None:
    environments = {name.split(".")[2] for name in house if name.startswith("agent_envs.envs.")}
    sideways = [
        f"{name} -> {imported}"
        for name, tree in house.items()
        for imported in imports(tree)
        for other in environments
        if name.startswith("agent_envs.envs.")
        and f"{imported}.".startswith(f"agent_envs.envs.{other}.")
        and not f"{name}.".startswith(f"agent_envs.envs.{other}.")
    ]
    assert sideways == []


def test_above_the_environments_nobody_knows_a_concrete_one(house: dict[str, ast.Module]) -> None:
    known = [
        f"{name} -> {imported}"
        for name, tree in house.items()
        for imported in imports(tree)
        if part_of(imported) == "envs" and FLOOR_OF.get(part_of(name)) == 5
    ]
    assert known == []


def test_the_four_folders_are_imported_under_the_name_of_the_package_only(house: dict[str, ast.Module]) -> None:
    bare = [
        f"{name} -> {imported}"
        for name, tree in house.items()
        for imported in imports(tree)
        if imported.split(".")[0] in {"envs", "verifiers", "trainers", "None"}
    ]
    assert bare == []


def test_a_core_module_needs_no_extra_to_be_imported(house: dict[str, ast.Module]) -> None:
    floor = floors(house)
    heavy = [
        f"{name} -> {imported}"
        for name, tree in house.items()
        if (floor[name] <= 3 or part_of(name) in {"cli", "testing", "wrappers"})
        and not name.split(".")[-1].startswith(GUEST)
        for imported in imports_on_load(tree.body)
        if imported.split(".")[0] not in EVERYWHERE | AT_THE_TOP.get(part_of(name), set())
    ]
    assert heavy == []


def test_an_import_inside_a_function_does_not_happen_on_load() -> None:
    tree = ast.parse("try:\n    import torch\nexcept ImportError:\n    import numpy\ndef f():\n    import docker\n")
    assert list(imports_on_load(tree.body)) == ["torch", "numpy"]
