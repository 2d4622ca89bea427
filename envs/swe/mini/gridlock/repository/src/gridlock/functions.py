"""The functions of formulas. Each takes lists of values, one for each argument, and returns a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gridlock.values import DIVISION, WRONG_KIND, Fault, Value, to_number, to_text

Arguments = Sequence[Sequence[Value]]


def _numbers(arguments: Arguments) -> list[float]:
    """The numbers among the values; texts, truth values and empty cells are passed over."""
    return [value for argument in arguments for value in argument if type(value) is float]


def _average(arguments: Arguments) -> Value:
    numbers = _numbers(arguments)
    return sum(numbers) / len(numbers) if numbers else DIVISION


def _round(arguments: Arguments) -> Value:
    number, digits = (to_number(argument[0]) for argument in arguments)
    if isinstance(number, Fault):
        return number
    return digits if isinstance(digits, Fault) else float(round(number, int(digits)))


def _abs(arguments: Arguments) -> Value:
    number = to_number(arguments[0][0])
    return number if isinstance(number, Fault) else abs(number)


FUNCTIONS: dict[str, tuple[range, Callable[[Arguments], Value]]] = {
    "SUM": (range(1, 256), lambda arguments: float(sum(_numbers(arguments)))),
    "AVERAGE": (range(1, 256), _average),
    "MIN": (range(1, 256), lambda arguments: min(_numbers(arguments), default=0.0)),
    "MAX": (range(1, 256), lambda arguments: max(_numbers(arguments), default=0.0)),
    "COUNT": (range(1, 256), lambda arguments: float(len(_numbers(arguments)))),
    "ROUND": (range(2, 3), _round),
    "ABS": (range(1, 2), _abs),
    "LEN": (range(1, 2), lambda arguments: float(len(to_text(arguments[0][0])))),
    "UPPER": (range(1, 2), lambda arguments: to_text(arguments[0][0]).upper()),
}
"""How many arguments each takes, and what it does with them."""


def call(name: str, arguments: Arguments) -> Value:
    """The value of a function that exists; a fault among the arguments is the result."""
    counts, function = FUNCTIONS[name]
    if len(arguments) not in counts:
        return WRONG_KIND
    return next(_faults(arguments), None) or function(arguments)


def _faults(arguments: Arguments) -> Iterator[Fault]:
    return (value for argument in arguments for value in argument if isinstance(value, Fault))
