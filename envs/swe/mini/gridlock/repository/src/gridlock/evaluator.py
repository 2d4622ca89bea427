"""From the tree of a formula to its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gridlock.functions import FUNCTIONS, call
from gridlock.nodes import Area, Binary, Call, Cell, Constant, Negative, Node
from gridlock.refs import Ref, area
from gridlock.values import DIVISION, NO_FUNCTION, WRONG_KIND, Fault, Value, to_number, to_text

Lookup = Callable[[Ref], Value]


def evaluate(node: Node, lookup: Lookup) -> Value:
    """The value of a formula; `lookup` tells the values of cells."""
    match node:
        case Constant(value):
            return value
        case Cell(ref):
            return lookup(ref)
        case Area():
            return WRONG_KIND
        case Negative(operand):
            number = to_number(evaluate(operand, lookup))
            return number if isinstance(number, Fault) else -number
        case Binary(sign, left, right):
            return _binary(sign, evaluate(left, lookup), evaluate(right, lookup))
        case Call(name, arguments):
            return _call(name, arguments, lookup)


def _call(name: str, arguments: Sequence[Node], lookup: Lookup) -> Value:
    if name == "IF":
        return _if(arguments, lookup)
    if name not in FUNCTIONS:
        return NO_FUNCTION
    return call(name, [_spread(argument, lookup) for argument in arguments])


def _if(arguments: Sequence[Node], lookup: Lookup) -> Value:
    """Only the branch that is taken is evaluated, so that the other one may be a fault."""
    if len(arguments) not in (2, 3):
        return WRONG_KIND
    condition = evaluate(arguments[0], lookup)
    if isinstance(condition, Fault | str):
        return condition if isinstance(condition, Fault) else WRONG_KIND
    if condition:
        return evaluate(arguments[1], lookup)
    return evaluate(arguments[2], lookup) if len(arguments) == 3 else False


def _spread(node: Node, lookup: Lookup) -> list[Value]:
    if isinstance(node, Area):
        return [lookup(ref) for ref in area(node.first, node.last)]
    return [evaluate(node, lookup)]


def _binary(sign: str, left: Value, right: Value) -> Value:
    for operand in (left, right):
        if isinstance(operand, Fault):
            return operand
    if sign == "&":
        return to_text(left) + to_text(right)
    if sign in _COMPARE:
        return _COMPARE[sign](*_comparable(left, right))
    numbers = to_number(left), to_number(right)
    for number in numbers:
        if isinstance(number, Fault):
            return number
    try:
        result = _ARITHMETIC[sign](*numbers)
    except ZeroDivisionError:
        return DIVISION
    except OverflowError:
        return WRONG_KIND
    # A root of a negative number is complex in Python, and no number in a sheet.
    return float(result) if isinstance(result, float) else WRONG_KIND


def _comparable(left: Value, right: Value) -> tuple[tuple[int, object], tuple[int, object]]:
    """Numbers come before texts, texts before truth values, as in other spreadsheets; texts ignore case."""
    empty: dict[type, Value] = {float: 0.0, str: "", bool: False}
    left = empty.get(type(right), 0.0) if left is None else left
    right = empty.get(type(left), 0.0) if right is None else right
    kinds = (float, str, bool)
    first, second = (
        (kinds.index(type(value)), value.lower() if isinstance(value, str) else value) for value in (left, right)
    )
    return first, second


_COMPARE: dict[str, Callable[..., bool]] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_ARITHMETIC: dict[str, Callable[..., object]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "^": lambda left, right: left**right,
}
