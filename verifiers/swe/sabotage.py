"""Sabotage: the same tests on the same work, but what they use of it raises.

The targets are the names that the tests themselves import from the repository. A test that calls `split` must fail
where `split` raises, however anybody implements it; a run that passes all the same is forged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

_PLANTED = """

(lambda module, broken: [
    setattr(__import__("functools").reduce(getattr, path[:-1], module), path[-1], broken)
    for path in {paths!r}
])(__import__("sys").modules[__name__], lambda *_, **__: (_ for _ in ()).throw(RuntimeError({why!r})))
"""
_WHY = "internal error"


def targets_of(test_sources: Iterable[str], modules: Mapping[str, str]) -> tuple[str, ...]:
    """What these tests use of the repository's modules, as `module:name`, sorted.

    `modules` maps the dotted names of the repository's modules to their paths.
    """
    found = set()
    for source in test_sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        found |= set(_imported(tree, modules)) | set(_attributes(tree, modules))
    return tuple(sorted(found))


def _imported(tree: ast.AST, modules: Mapping[str, str]) -> Iterator[str]:
    """`from package import name`, unless the name is a module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in modules:
            for alias in node.names:
                if f"{node.module}.{alias.name}" not in modules and alias.name != "*":
                    yield f"{node.module}:{alias.name}"


def _attributes(tree: ast.AST, modules: Mapping[str, str]) -> Iterator[str]:
    """`module.name` of a module that was imported as such, under whatever name."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in modules}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            full = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name: module for name, module in full.items() if module in modules}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in names:
            module = names[ast.unparse(node.value)]
            if f"{module}.{node.attr}" not in modules:
                yield f"{module}:{node.attr}"


def modules_of(paths: Iterable[str], roots: Iterable[str]) -> dict[str, str]:
    """The modules that these files are when the roots are on `sys.path`: dotted name -> path."""
    listed = [path for path in paths if path.endswith(".py")]
    found: dict[str, str] = {}
    for root in roots:
        prefix = "" if root in (".", "") else root.rstrip("/") + "/"
        for path in listed:
            parts = path.removeprefix(prefix).removesuffix(".py").split("/")
            if path.startswith(prefix) and all(part.isidentifier() for part in parts):
                name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
                found.setdefault(name, path)
    return found


def planting(targets: Iterable[str]) -> dict[str, str]:
    """For each module the source that, added at its end, replaces these attributes by something that raises."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for target in targets:
        module, _, name = target.partition(":")
        found.setdefault(module, []).append(tuple(name.split(".")))
    return {module: _PLANTED.format(paths=paths, why=_WHY) for module, paths in found.items()}
