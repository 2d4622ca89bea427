"""What a test expects, read from its source: the condition, which parts of it are told, and which must not be seen."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from agent_envs.verifiers.swe.conditions import (
    METHODS,
    Answers,
    Close,
    Compared,
    Condition,
    Every,
    Fixed,
    IsTrue,
    Named,
    Negated,
    Operand,
    Raised,
    Recorded,
    Told,
)
from agent_envs.verifiers.swe.contradictions import EQUALITIES
from agent_envs.verifiers.swe.settled import Scope

TYPES = "[_.__name__ for _ in type({}).__mro__]"
NAMES = "[_.__name__ for _ in ({}).__mro__]"
_OPERATORS = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn")
_PLAIN_TYPES = frozenset(
    {"int", "float", "str", "bytes", "list", "tuple", "dict", "set", "bool", "complex", "date", "datetime"}
)
_QUESTIONS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.In: ("in", True),
    ast.NotIn: ("in", False),
    ast.Is: ("is", True),
    ast.IsNot: ("is", False),
    ast.Lt: ("<", True),
    ast.GtE: ("<", False),
    ast.Gt: (">", True),
    ast.LtE: (">", False),
    ast.NotEq: ("==", False),
}
"""Operator -> the question, and the right answer. Not of an equality: what equals everything says yes."""
_METHODS = {
    "assertNotEqual": ast.NotEq,
    "assertIs": ast.Is,
    "assertIsNot": ast.IsNot,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
    "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
    **dict.fromkeys(EQUALITIES, ast.Eq),
}


@dataclass(slots=True)
class Expectation:
    """One expectation while it is read."""

    scope: Scope
    exposed: Collection[str] = ()
    """Names whose values stay in sight, so that to keep them back would be of no use."""
    told: list[tuple[tuple[ast.expr, ...], str]] = field(default_factory=list)
    """What the sandbox tells: expressions, and what is made of them."""
    recorded: list[ast.expr] = field(default_factory=list)
    hidden: list[ast.expr] = field(default_factory=list)
    """What is taken out of the source."""
    bare: set[str] = field(default_factory=set)
    """The names that are recorded as they are."""
    asked: bool = False
    """Whether the sandbox is asked the whole question, where its parts cannot be told: only the answer is kept back."""

    def condition(self, node: ast.expr) -> Condition | None:
        """The condition; None where it cannot be kept back, or where nothing would be told."""
        found = self._question(node) if self.asked else self._condition(node)
        return found if self.told else None

    def _question(self, node: ast.expr) -> Condition | None:
        """`a not in b` as the question whether `a in b`, with the right answer."""
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _QUESTIONS:
                asked, answer = _QUESTIONS[type(operator)]
                told = IsTrue(self._told(left, f"({{}}) {asked} ({{}})", right))
                return told if answer else Negated(told)
        return None

    def raised(self, call: ast.expr) -> Condition | None:
        """The condition of `pytest.raises(E, match=...)` and of unittest's ways to say so."""
        match call:
            case ast.Call(func=ast.Attribute(attr="raises" | "assertRaises"), args=[kind], keywords=words):
                patterns = [word.value for word in words if word.arg == "match"]
                return self._raised(kind, patterns) if len(patterns) == len(words) else None
            case ast.Call(func=ast.Attribute(attr="assertRaisesRegex"), args=[kind, pattern], keywords=[]):
                return self._raised(kind, [pattern])
        return None

    def _raised(self, kind: ast.expr, patterns: list[ast.expr]) -> Condition | None:
        names = _names(kind)
        types = Fixed(names) if names else self._kept(kind)
        pattern = self._kept(patterns[0]) if patterns else None
        if types is None or (patterns and pattern is None):
            return None
        self.hidden.append(kind)
        return Raised(Told(0), types, pattern)

    def called(self, call: ast.Call) -> Condition | None:
        """The condition of one of unittest's methods."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        found: Condition | None = None
        match (name, call.args):
            case (_, [left, right, *_]) if name in _METHODS:
                found = self._compared(left, [_METHODS[name]()], [right])
            case ("assertIsNone" | "assertIsNotNone", [value, *_]):
                operator = ast.Is() if name == "assertIsNone" else ast.IsNot()
                found = self._compared(value, [operator], [ast.Constant(None)])
            case ("assertTrue" | "assertFalse", [value, *_]):
                part = self._condition(value)
                found = Negated(part) if part is not None and name == "assertFalse" else part
            case ("assertIsInstance", [value, kind, *_]):
                found = self._named(value, kind, TYPES)
            case ("assertAlmostEqual", [value, wanted]) if not call.keywords:
                found = self._close(value, wanted, 0.0, 0.5e-7)
        return found if self.told else None

    def _condition(self, node: ast.expr) -> Condition | None:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                parts = [self._condition(value) for value in values]
                return Every(tuple(part for part in parts if part is not None)) if None not in parts else None
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                part = self._condition(operand)
                return None if part is None else Negated(part)
            case ast.Compare(left=left, ops=operators, comparators=rest):
                return self._compared(left, operators, rest)
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
                return self._named(value, kind, TYPES)
            case ast.Call(func=ast.Name(id="issubclass"), args=[value, kind]):
                return self._named(value, kind, NAMES)
            case ast.Call(func=ast.Attribute(value=text, attr=name), args=args, keywords=[]) if name in METHODS:
                return self._answers(node, text, name, args)
            case ast.BoolOp() | ast.Constant() | ast.NamedExpr() | ast.Starred():
                return None
        return IsTrue(self._told(node))

    def _compared(self, left: ast.expr, operators: list[ast.cmpop], rest: list[ast.expr]) -> Condition | None:
        if len(rest) == 1 and isinstance(operators[0], ast.Eq | ast.Is):
            for value, wanted in ((left, rest[0]), (rest[0], left)):
                if (close := _approx(wanted)) is not None:
                    return self._close(value, *close)
            match (left, rest[0]):
                case (ast.Call(func=ast.Name(id="type"), args=[value]), ast.Name(id=name)):
                    self.hidden.append(rest[0])
                    return Compared("Eq", self._told(value, "type({}).__name__"), Fixed(name))
        names = [type(one).__name__ for one in operators]
        nodes = [left, *rest]
        operands = self._operands(nodes)
        for name, wanted in zip(names, rest, strict=True):
            if name not in _OPERATORS and not _is_single(wanted) and not self._is_settled(wanted):
                return None
        if operands is None:
            return None
        pairs = zip(names, operands, operands[1:], strict=False)
        parts = tuple(Compared(name, one, other) for name, one, other in pairs)
        return parts[0] if len(parts) == 1 else Every(parts)

    def _operands(self, nodes: list[ast.expr]) -> list[Operand] | None:
        """Literals are fixed, what is settled is recorded, all else is told: at least one of them."""
        literal = [is_literal(node) for node in nodes]
        known = [one or self._is_settled(node) for one, node in zip(literal, nodes, strict=True)]
        if all(literal):
            return None
        if all(known):
            known[literal.index(False)] = False
        return [
            self._kept(node) or self._told(node) if kept else self._told(node)
            for kept, node in zip(known, nodes, strict=True)
        ]

    def _is_settled(self, node: ast.expr) -> bool:
        return not (isinstance(node, ast.Name) and node.id in self.exposed) and self.scope.holds(node)

    def _kept(self, node: ast.expr) -> Operand | None:
        """A value that leaves the source; None where it cannot."""
        if is_literal(node):
            # unittest's `assertIsNone` has no None in its source.
            self.hidden += [node] if getattr(node, "end_lineno", None) else []
            return Fixed(ast.literal_eval(node))
        if not self._is_settled(node):
            return None
        self.hidden.append(node)
        self.recorded.append(node)
        if isinstance(node, ast.Name):
            self.bare.add(node.id)
        return Recorded(len(self.recorded) - 1)

    def _told(self, node: ast.expr, form: str = "({})", *more: ast.expr) -> Told:
        self.told.append(((node, *more), form))
        return Told(len(self.told) - 1)

    def _close(self, value: ast.expr, wanted: ast.expr, rel: float, within: float) -> Condition | None:
        told = self._told(value)
        kept = self._kept(wanted)
        return None if kept is None else Close(told, kept, rel, within)

    def _named(self, value: ast.expr, kind: ast.expr, form: str) -> Condition | None:
        names = _names(kind)
        if not names or any(isinstance(node, ast.Await) for node in ast.walk(value)):
            return None
        self.hidden.append(kind)
        return Named(self._told(value, form), names)

    def _answers(self, whole: ast.expr, text: ast.expr, name: str, args: list[ast.expr]) -> Condition | None:
        if not all(is_literal(arg) or self._is_settled(arg) for arg in args):
            return IsTrue(self._told(whole))
        told = self._told(text)
        kept = [one for arg in args if (one := self._kept(arg)) is not None]
        return Answers(told, name, tuple(kept))


def is_literal(node: ast.expr) -> bool:
    """Whether Python takes it for a literal."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, SyntaxError, RecursionError):
        return False
    return True


def _approx(node: ast.expr) -> tuple[ast.expr, float, float] | None:
    """`pytest.approx(wanted)` with its tolerances."""
    match node:
        case ast.Call(func=ast.Attribute(attr="approx") | ast.Name(id="approx"), args=[wanted], keywords=words):
            given: dict[Any, Any] = {word.arg: word.value for word in words}
            if set(given) <= {"rel", "abs"} and all(map(is_literal, given.values())):
                to = {name: float(ast.literal_eval(value)) for name, value in given.items()}
                return wanted, to.get("rel", 0.0 if "abs" in to else 1e-6), to.get("abs", 1e-12)
    return None


def _names(kind: ast.expr) -> tuple[str, ...]:
    """The names of types, of one or of several; none where it is not written as such."""
    match kind:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name[:1].isupper() or name in _PLAIN_TYPES:
            return (name,)
        case ast.Tuple(elts=kinds):
            found = [_names(one) for one in kinds]
            return tuple(name for names in found for name in names) if all(found) else ()
    return ()


def _is_single(node: ast.expr) -> bool:
    """Whether a value is there only once: None, True and False, or a member of an enumeration, by its naming."""
    match node:
        case ast.Constant(value=value):
            return value is None or isinstance(value, bool)
        case ast.Attribute(value=ast.Name() | ast.Attribute(), attr=name):
            return name.isupper()
    return False
