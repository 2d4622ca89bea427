"""Asserts of a data set as checks between two processes, where what the asserts pass may exist in one of them only."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_envs.errors import TaskError

_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True, slots=True)
class Checks:
    """What the verifier needs, and the function that the agent is told to write."""

    shown: str
    secret: dict[str, object]


def checks_of(code: str, setup: str, tests: Sequence[str]) -> Checks:
    """The checks that `tests` make on the functions of `code`, after `setup`.

    Where tests or setup use what only the code defines (a class, mostly), no such value can travel. Each call is then
    made by a function `case_<n>` next to the submitted program, and only its result is compared outside.
    """
    if not tests:
        raise TaskError("test_list is empty, and without tests nothing can be judged; remove this row")
    trees = [_assertion(test) for test in tests]
    defined = _defined(_parsed(code, "code"))
    prepared = _parsed(setup, "test_setup_code")
    used = {name for tree in trees for name in _used(tree)}
    names = sorted(used & {name for name, node in defined.items() if isinstance(node, ast.FunctionDef)})
    if not names:
        raise TaskError(f"no test calls a function of the code; it defines: {', '.join(defined) or 'nothing'}")
    called = next((name for name in _calls(trees[0]) if name in names), names[0])
    known = _BUILTINS | set(_defined(prepared)) | set(names)
    if used <= known and _used(prepared) <= known:
        return Checks(
            called, {"entry_points": names, "asserts": [ast.unparse(tree) for tree in trees], "prelude": setup}
        )
    return Checks(called, _beside_the_program(trees, setup, called))


def _beside_the_program(trees: list[ast.Assert], setup: str, called: str) -> dict[str, object]:
    names, preamble, asserts = [], [], []
    for number, tree in enumerate(trees):
        case = f"case_{number}"
        inner = tree.test.left if isinstance(tree.test, ast.Compare) else tree.test
        if called not in _used(inner):
            raise TaskError(f"{ast.unparse(tree)!r} does not begin with a call of {called}, and uses its classes")
        body = [*ast.parse(setup).body, ast.Return(inner)]
        function = ast.parse(f"def {case}(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = body
        preamble.append(ast.unparse(ast.fix_missing_locations(function)))
        outer: ast.expr = ast.Call(ast.Name(case, ast.Load()), [], [])
        if isinstance(tree.test, ast.Compare):
            outer = ast.Compare(outer, tree.test.ops, tree.test.comparators)
        asserts.append(ast.unparse(ast.fix_missing_locations(ast.Assert(outer, tree.msg))))
        names.append(case)
    return {"entry_points": names, "asserts": asserts, "preamble": "\n\n".join(preamble) + "\n"}


def _assertion(test: str) -> ast.Assert:
    body = _parsed(test.strip(), "a test").body
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        raise TaskError(f"{test[:200]!r} is no single assert")
    return body[0]


def _parsed(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as cause:
        raise TaskError(f"{what} is not Python: {cause}") from cause


def _defined(tree: ast.Module) -> dict[str, ast.stmt]:
    """The names that a module binds at its top level."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        for name in _bound(node):
            found[name] = node
    return found


def _bound(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return [
            inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        ]
    return []


def _used(tree: ast.AST) -> set[str]:
    """The names that are read without being bound inside (arguments of lambdas, loops of comprehensions)."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - stored - arguments


def _calls(tree: ast.AST) -> list[str]:
    return [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
