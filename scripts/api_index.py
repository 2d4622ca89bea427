"""Write docs/api.md: every name in an `__all__`, with the first line of its docstring, read from source alone.

Nothing is imported, so the index needs no extras and sees what a reader of the source sees.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOTS = {"agent_envs": "agent_envs"} | {name: f"agent_envs.{name}" for name in ("envs", "verifiers", "trainers")}
HEAD = """\
# Public names

Everything that is exported, under the name to import it by. What is not listed here may change without notice.
This page is written by `make api` from the docstrings; edit those.
"""

DATA = "envs/swe/mini"
"""Repositories of bundled tasks: files of theirs are no modules of the package."""

Modules = dict[str, ast.Module]


def parse_modules(checkout: Path) -> Modules:
    """Every module of the package, by the name that it is imported under."""
    found = {}
    for folder, package in ROOTS.items():
        for path in sorted((checkout / folder).rglob("*.py")):
            if path.is_relative_to(checkout / DATA):
                continue
            parts = path.relative_to(checkout / folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


def exported(module: ast.Module) -> list[str]:
    """The module's `__all__`; empty where it declares none."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0].strip()


def defined_sentences(module: ast.Module) -> Iterator[tuple[str, str]]:
    """What a module defines at its top level, each with the first line of its docstring, above or below."""
    for statement, following in zip(module.body, [*module.body[1:], None], strict=True):
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name, first_line(ast.get_docstring(statement))
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            match following:
                case ast.Expr(ast.Constant(str(below))):
                    yield ast.unparse(target), first_line(below)


def sentence(modules: Modules, module: str, name: str) -> str:
    """The docstring's first line of a name, followed through the imports that re-export it."""
    if f"{module}.{name}" in modules:
        return first_line(ast.get_docstring(modules[f"{module}.{name}"]))
    for node in ast.walk(modules[module]):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return sentence(modules, node.module, alias.name)
    return dict(defined_sentences(modules[module])).get(name, "")


def surface(checkout: Path) -> dict[str, dict[str, str]]:
    """Every public module that exports something: its names, each with its sentence."""
    modules = parse_modules(checkout)
    return {
        module: {name: sentence(modules, module, name) for name in exported(tree)}
        for module, tree in sorted(modules.items())
        if exported(tree) and not any(part.startswith("_") for part in module.split("."))
    }


def index(checkout: Path) -> str:
    """The text of docs/api.md."""
    modules = parse_modules(checkout)
    lines = [HEAD]
    for module, names in surface(checkout).items():
        lines += [f"## `{module}`", "", first_line(ast.get_docstring(modules[module])), ""]
        lines += [f"- `{name}`: {text}" for name, text in names.items()]
        lines += [""]
    return "\n".join(lines)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    (root / "docs" / "api.md").write_text(index(root), encoding="utf-8")
