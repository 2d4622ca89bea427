"""Tests that do not show that they wait for an exception: the blocks around what must raise are taken away.

Work that raises only inside of such a block has not learned when to raise. What is left of the test says nothing of it:
`with _raises_("3"): f(2)` becomes `f(2)`, and the test ends there, by the exception that the trusted side waits for.
The runner lets it go on all the same, so that what the exception has left behind is told as well.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import lru_cache

from agent_envs.verifiers.swe.contradictions import tests_in
from agent_envs.verifiers.swe.sealing import RAISES


@lru_cache(maxsize=1024)
def bared(source: str, keys: Collection[str] = ()) -> str:
    """The source without the sealed blocks of these keys, its layout made anew so that no gap tells where they were."""
    return ast.unparse(_Bared(keys).visit(ast.parse(source)))


def blocks_of(source: str) -> dict[str, list[str]]:
    """The keys of the sealed blocks of each test function of a sealed source, in their order."""
    found: dict[str, list[str]] = {}
    for test in tests_in(ast.parse(source)):
        keys = [key for node in ast.walk(test) if isinstance(node, ast.With) and (key := _key(node))]
        found.setdefault(test.name, []).extend(sorted(keys, key=lambda key: int(key.rstrip("?"))))
    return {name: keys for name, keys in found.items() if keys}


def _key(block: ast.With) -> str:
    """The key of a block that does nothing but wait for an exception; empty for any other."""
    match block.items:
        case [ast.withitem(context_expr=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(key))]))] if (
            name == RAISES
        ):
            return key
    return ""


class _Bared(ast.NodeTransformer):
    def __init__(self, keys: Collection[str]) -> None:
        self._keys = keys

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if _key(node) in self._keys else node
