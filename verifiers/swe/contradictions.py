"""The ways to contradict what one test expects, as edits of its source."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from agent_envs.verifiers.swe.wrong_values import other_error, other_value, unlikely

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef

LITERAL, PARAMETER, SHAPE, OPPOSITE = range(4)
"""How blunt a contradiction is. A wrong value unmasks an object that equals everything; an opposite operator does not,
since such an object is honest about not being unequal."""

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_OPPOSITE_METHOD = {
    "assertTrue": "assertFalse",
    "assertIs": "assertIsNot",
    "assertIn": "assertNotIn",
    "assertIsNone": "assertIsNotNone",
    "assertIsInstance": "assertNotIsInstance",
    "assertAlmostEqual": "assertNotAlmostEqual",
    "assertEqual": "assertNotEqual",
    "assertGreater": "assertLessEqual",
    "assertLess": "assertGreaterEqual",
}
_OPPOSITE_METHOD |= {opposite: method for method, opposite in _OPPOSITE_METHOD.items()}
EQUALITIES = ("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual")
SEALED = "_sealed_"
"""The function that a sealed test calls (see `sealing`); of two values that it tells, the relation can be wrong."""
_RAISES = ("raises", "assertRaises", "assertRaisesRegex")
_OPERATOR = re.compile(rb"==|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b|\bis\s+not\b|\bis\b")


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of source and what takes its place; columns count UTF-8 bytes, as `ast` does."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""
    how: str = "replace"
    """`replace`; `operator`: only the comparison operator in the piece; `wrap`: the piece stays, inside of a list."""

    @property
    def keeps_lines(self) -> bool:
        """Whether the lines of the source stay where they are."""
        return self.how != "replace" or self.line == self.end_line


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Edits that together contradict one expectation."""

    bluntness: int
    edits: list[Edit]
    line: int = 0
    """Where what it contradicts stands."""


def tests_in(tree: ast.AST) -> Iterator[TestFunction]:
    """The test functions of a file, by pytest's own naming."""
    for node in ast.walk(tree):
        if isinstance(node, TestFunction) and node.name.startswith("test"):
            yield node


def contradictions(test: TestFunction, rng: random.Random, *, equal: Collection[str] = ()) -> Iterator[Contradiction]:
    """Every way found to contradict one expectation of this test.

    `equal` are the keys of sealed expectations that want two reported values to be equal.
    """
    for node in ast.walk(test):
        found: Iterator[Contradiction] = iter(())
        match node:
            case ast.Assert(test=condition):
                found = _of_condition(test, condition, rng)
            case ast.Call(func=ast.Attribute() as method):
                found = _of_call(test, node, method, rng)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=key), ast.List(elts=[left, right])]) if (
                name == SEALED
            ):
                found = _of_relation(left, right, rng, equal=key in equal)
        yield from (replace(one, line=getattr(node, "lineno", 0)) for one in found)


def _of_condition(test: TestFunction, condition: ast.expr, rng: random.Random) -> Iterator[Contradiction]:
    match condition:
        case ast.Call(func=ast.Name(id=name)) if name == SEALED:
            return
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            yield from _unequal(test, right, left, rng)
        case ast.Compare(left=ast.Constant() as wanted, ops=[ast.In()]) if unlikely(wanted.value, rng):
            yield Contradiction(LITERAL, [_replace(wanted, unlikely(wanted.value, rng))])
        case ast.BoolOp(op=ast.And(), values=parts):
            # One wrong part is enough to contradict them all.
            for part in parts:
                yield from _of_condition(test, part, rng)
            return
        case ast.BoolOp(op=ast.Or(), values=parts):
            each = [_subtlest(list(_of_condition(test, part, rng))) for part in parts]
            if all(found and found[0].bluntness != OPPOSITE for found in each):
                chosen = [rng.choice(found) for found in each]
                edits = [edit for one in chosen for edit in one.edits]
                yield Contradiction(max(one.bluntness for one in chosen), edits)
            return
    yield from (Contradiction(OPPOSITE, [edit]) for edit in _negations(condition))


def _of_relation(left: ast.expr, right: ast.expr, rng: random.Random, *, equal: bool) -> Iterator[Contradiction]:
    """Of two reported values: another input of one side makes them unequal, and a list equals neither."""
    for side in (right, left):
        if equal and (edits := _wrong(side, rng)):
            yield from (Contradiction(LITERAL, [edit]) for edit in edits)
            return
    yield Contradiction(SHAPE, [_wrap(right)])


def _subtlest(found: list[Contradiction]) -> list[Contradiction]:
    return [one for one in found if one.bluntness == min(other.bluntness for other in found)]


def _of_call(test: TestFunction, call: ast.Call, method: ast.Attribute, rng: random.Random) -> Iterator[Contradiction]:
    """Of unittest's methods, and of `pytest.raises`."""
    if method.attr in EQUALITIES and len(call.args) >= 2:
        yield from _unequal(test, call.args[1], call.args[0], rng)
    if method.attr in _RAISES and call.args:
        patterns = [word.value for word in call.keywords if word.arg == "match"]
        if patterns and isinstance(patterns[0], ast.Constant) and isinstance(patterns[0].value, str):
            yield Contradiction(LITERAL, [_replace(patterns[0], unlikely(patterns[0].value, rng))])
        yield Contradiction(
            OPPOSITE,
            [
                _replace(
                    call.args[0],
                    other_error(call.args[0], rng),
                )
            ],
        )
    if method.attr in _OPPOSITE_METHOD and method.end_lineno is not None and method.end_col_offset is not None:
        start = method.end_col_offset - len(method.attr)
        name = Edit(method.end_lineno, start, method.end_lineno, method.end_col_offset, _OPPOSITE_METHOD[method.attr])
        yield Contradiction(OPPOSITE, [name])


def _unequal(test: TestFunction, right: ast.expr, left: ast.expr, rng: random.Random) -> Iterator[Contradiction]:
    """Another value on one side of an equality: a wrong literal, wrong parameters, or the same inside of a list."""
    for expected in (right, left):
        if _is_value(expected):
            yield from (Contradiction(LITERAL, [edit]) for edit in _wrong(expected, rng))
            return
    for expected in (right, left):
        if isinstance(expected, ast.Name) and (edits := _wrong_parameters(test, expected.id, rng)):
            yield Contradiction(PARAMETER, edits)
    yield Contradiction(SHAPE, [_wrap(right)])


def _wrong_parameters(test: TestFunction, name: str, rng: random.Random) -> list[Edit]:
    """Wrong values for one parameter in every row of `parametrize`; none where the test uses it as an input too."""
    uses = [node for statement in test.body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    if sum(node.id == name for node in uses) != 1:
        return []
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=rows) | ast.Tuple(elts=rows)]
            ):
                listed = names_of(names)
                if name in listed:
                    position = listed.index(name) if len(listed) > 1 else -1
                    cells = [cell_of(row, position) for row in rows]
                    return [edit for cell in cells if cell is not None for edit in (_one(cell, rng) or [_wrap(cell)])]
    return []


def names_of(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(names)):
            return [name.strip() for name in names.split(",") if name.strip()]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [str(part.value) for part in parts if isinstance(part, ast.Constant)]
    return []


def cell_of(row: ast.expr, position: int) -> ast.expr | None:
    """The value at this position of a row, or the row itself where there is one parameter only."""
    if isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute) and row.func.attr == "param":
        return row.args[max(position, 0)] if len(row.args) > max(position, 0) else None
    if position < 0:
        return row
    return row.elts[position] if isinstance(row, ast.Tuple | ast.List) and len(row.elts) > position else None


def _one(value: ast.expr, rng: random.Random) -> list[Edit]:
    """One wrong constant in a literal; none where it is no literal."""
    edits = _wrong(value, rng) if _is_value(value) else []
    return [rng.choice(edits)] if edits else []


def _is_value(node: ast.expr) -> bool:
    """Whether an expression is a literal, a display of literals, or a plain call on literals such as `Decimal("1")`."""
    match node:
        case ast.Constant(value=value):
            return value is not Ellipsis and value is not None
        case ast.UnaryOp(operand=operand):
            return _is_value(operand)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return bool(parts) and all(map(_is_part, parts))
        case ast.Dict(keys=keys, values=values):
            return bool(values) and all(key is not None and _is_part(key) for key in [*keys, *values])
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[_, *_] as parts, keywords=[]):
            return all(map(_is_value, parts))
    return False


def _is_part(node: ast.expr) -> bool:
    return _is_value(node) or isinstance(node, ast.Constant)


def _wrong(value: ast.expr, rng: random.Random) -> list[Edit]:
    """For each constant of a literal, an edit that makes it another one."""
    formatted = [part for part in ast.walk(value) if isinstance(part, ast.JoinedStr)]
    # Of the parts of a formatted text, older Pythons do not know where they stand.
    inside = {id(part) for text in formatted for part in ast.walk(text)}
    constants = [part for part in ast.walk(value) if isinstance(part, ast.Constant) and id(part) not in inside]
    return [_replace(constant, text) for constant in constants if (text := other_value(constant.value, rng))]


def _negations(condition: ast.expr) -> Iterator[Edit]:
    match condition:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _OPPOSITE:
            yield _between(left, right, _OPPOSITE[type(operator)])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Edit(condition.lineno, condition.col_offset, operand.lineno, operand.col_offset)
        case ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript():
            yield Edit(condition.lineno, condition.col_offset, condition.lineno, condition.col_offset, "not ")


def _replace(node: ast.expr, text: str, how: str = "replace") -> Edit:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Edit(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text, how)


def _wrap(node: ast.expr) -> Edit:
    return _replace(node, "", "wrap")


def _between(left: ast.expr, right: ast.expr, operator: str) -> Edit:
    assert left.end_lineno is not None
    assert left.end_col_offset is not None
    return Edit(left.end_lineno, left.end_col_offset, right.lineno, right.col_offset, operator, "operator")


def edited(source: str, edits: list[Edit]) -> str:
    """The source after these edits, which do not overlap."""
    content = source.encode("utf-8")
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        start, end = starts[edit.line - 1] + edit.column, starts[edit.end_line - 1] + edit.end_column
        piece = edit.text.encode("utf-8")
        if edit.how == "operator":
            piece = _OPERATOR.sub(piece, content[start:end], count=1)
        elif edit.how == "wrap":
            piece = b"[" + content[start:end] + b"]"
        content = content[:start] + piece + content[end:]
    return content.decode("utf-8")
