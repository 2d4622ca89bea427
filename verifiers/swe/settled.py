"""Which expressions of a test file mean the same whatever the code under test does: what they are can be written down.

Literals, and what is made of them by Python itself, by the standard library, or by constructors of the repository.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from agent_envs.verifiers.swe.contradictions import TestFunction, cell_of, names_of

_OF_PYTHON = (
    "abs all any bool bytes bytearray chr complex dict divmod enumerate float frozenset int len list map max min ord "
    "pow range repr reversed round set sorted str sum tuple zip"
)
_OF_THE_LIBRARY = (
    "base64 collections datetime decimal enum fractions functools hashlib itertools json math operator re statistics "
    "string struct textwrap zlib zoneinfo"
)
_TYPES = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}
_BUILTINS, _MODULES = frozenset(_OF_PYTHON.split()) | _TYPES, frozenset(_OF_THE_LIBRARY.split())
_FICKLE = frozenset({"cwd", "home", "now", "today", "utcnow"})
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_NEVER = (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name gets its values, each of which can be taken out of the source."""

    name: str
    values: tuple[ast.expr, ...]
    uses: tuple[ast.Name, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names of one place are known to be."""

    settled: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    helpers: Mapping[str, TestFunction] = field(default_factory=dict)
    repository: frozenset[str] = frozenset()
    """Modules and names that are imported from the code under test."""
    definitions: tuple[Definition, ...] = ()

    def holds(self, node: ast.expr) -> bool:
        """Whether this expression is settled."""
        match node:
            case ast.Name(id=name):
                return name in self.settled or (name not in self.bound and name in _BUILTINS) or self._is_class(node)
            case ast.Attribute(value=value, attr=name):
                return name not in _FICKLE and (self.holds(value) or self._is_class(value) or self._is_class(node))
            case ast.Call(func=called, args=args, keywords=words):
                return self._makes(called) and all(map(self.holds, [*args, *(word.value for word in words)]))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return not isinstance(node, _NEVER) and all(map(self.holds, parts))

    def _makes(self, called: ast.expr) -> bool:
        if isinstance(called, ast.Name) and called.id in self.helpers and called.id not in self.bound:
            return self._helps(self.helpers[called.id])
        return self._is_class(called) or self.holds(called)

    def _is_class(self, node: ast.expr) -> bool:
        """Whether it is a class of the code under test, by the usual naming."""
        match node:
            case ast.Name(id=name):
                return name in self.repository and name not in self.bound and _camel(name)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return module in self.repository and module not in self.bound and _camel(name)
        return False

    def _helps(self, helper: TestFunction) -> bool:
        """Whether a function of the test file does nothing but compute from what it is given."""
        names = frozenset(_parameters(helper))
        inner = replace(self, settled=self.settled | names, bound=self.bound | names, helpers={})
        body = [one for one in helper.body if not _is_text(one)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None or helper.decorator_list:
            return False
        return inner.holds(body[0].value)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> bool:
        inner = self
        for one in node.generators:
            if one.is_async or not inner.holds(one.iter):
                return False
            names = frozenset(_stored(one.target))
            inner = replace(inner, settled=inner.settled | names, bound=inner.bound | names)
            if not all(map(inner.holds, one.ifs)):
                return False
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return all(map(inner.holds, made))


def file_scope(tree: ast.Module) -> Scope:
    """What the names of a test file are, outside its functions."""
    library: set[str] = set()
    repository: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    known = alias.name.partition(".")[0] in _MODULES
                    (library if known else repository).add(alias.asname or alias.name.partition(".")[0])
            case ast.ImportFrom(module=module, names=names, level=level):
                known = level == 0 and (module or "").partition(".")[0] in _MODULES
                (library if known else repository).update(alias.asname or alias.name for alias in names)
    helpers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = frozenset(name for name in _stored(tree) if not hasattr(builtins, name))
    scope = Scope(frozenset(library), assigned, helpers, frozenset(repository - library))
    return _with_definitions(scope, tree, tree.body)


def scope_of(test: TestFunction, file: Scope) -> Scope:
    """What the names of one test function are."""
    bound = frozenset([*_parameters(test), *_stored(test)])
    own = tuple(one for one in file.definitions if one.name not in bound)
    scope = replace(file, bound=file.bound | bound, settled=file.settled - bound, definitions=own)
    for name, cells in _rows(test):
        if all(map(file.holds, cells)) and name not in set(_stored(test)):
            found = Definition(name, tuple(cells), tuple(_uses(test, name)))
            scope = replace(scope, settled=scope.settled | {name}, definitions=(*scope.definitions, found))
    return _with_definitions(scope, test, list(ast.walk(test)))


def _with_definitions(scope: Scope, place: ast.AST, statements: Collection[ast.AST]) -> Scope:
    """With the names that are given one settled value each, and that nothing changes."""
    stored = list(_stored(place))
    for node in statements:
        for name, values in _given(node):
            if (
                stored.count(name) == 1
                and all(map(scope.holds, values))
                and not _is_changed(place, name, values, scope)
            ):
                found = Definition(name, tuple(values), tuple(_uses(place, name)))
                scope = replace(scope, settled=scope.settled | {name}, definitions=(*scope.definitions, found))
    return scope


def _given(node: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """What a statement gives to names: one value, or one after the other from a table that is written out."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, [value]
        case ast.For(target=ast.Name(id=name), iter=ast.List(elts=rows) | ast.Tuple(elts=rows)):
            yield name, rows
        case ast.For(target=ast.Tuple(elts=names), iter=ast.List(elts=rows) | ast.Tuple(elts=rows)):
            for position, target in enumerate(names):
                cells = [cell for row in rows if (cell := cell_of(row, position)) is not None]
                if isinstance(target, ast.Name) and len(cells) == len(rows):
                    yield target.id, cells


def _is_changed(place: ast.AST, name: str, values: list[ast.expr], scope: Scope) -> bool:
    """Whether somebody may change the value itself: one made of parts, by a method or where it is given away."""
    if not any(isinstance(value, (*_DISPLAYS, ast.Call)) for value in values):
        return False
    for node in ast.walk(place):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=changed)))) if changed == name:
                return True
            case ast.Subscript(value=ast.Name(id=changed), ctx=ast.Store() | ast.Del()) if changed == name:
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if method.startswith("assert"):
                continue
            case ast.Call(args=args, func=called) if not scope._makes(called):
                if any(isinstance(arg, ast.Name) and arg.id == name for arg in args):
                    return True
    return False


def _rows(test: TestFunction) -> Iterator[tuple[str, list[ast.expr]]]:
    """The parameters of a test, and the value of each in every row."""
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, ast.List() | ast.Tuple() as table]):
                listed = names_of(names)
                for position, name in enumerate(listed):
                    found = [cell_of(row, position if len(listed) > 1 else -1) for row in table.elts]
                    cells = [cell for cell in found if cell is not None]
                    if len(cells) == len(found):
                        yield name, cells


def _parameters(test: TestFunction) -> list[str]:
    return [one.arg for one in ast.walk(test.args) if isinstance(one, ast.arg)]


def _stored(place: ast.AST) -> Iterator[str]:
    """The names that are bound in a place, as often as they are; in a module, those of its functions do not count."""
    within = place.body if isinstance(place, ast.Module) else [place]
    for one in within:
        if isinstance(place, ast.Module) and isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(one):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id


def _uses(place: ast.AST, name: str) -> Iterator[ast.Name]:
    for node in ast.walk(place):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _camel(name: str) -> bool:
    return name[:1].isupper() and any(letter.islower() for letter in name)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
