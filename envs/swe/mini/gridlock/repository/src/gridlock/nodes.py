"""The tree of a formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gridlock.refs import Ref, area
from gridlock.values import Value


@dataclass(frozen=True)
class Constant:
    value: Value


@dataclass(frozen=True)
class Cell:
    ref: Ref


@dataclass(frozen=True)
class Area:
    first: Ref
    last: Ref


@dataclass(frozen=True)
class Negative:
    operand: Node


@dataclass(frozen=True)
class Binary:
    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Node, ...]


Node = Constant | Cell | Area | Negative | Binary | Call


def inputs(node: Node) -> Iterator[Ref]:
    """Every cell that a formula reads."""
    match node:
        case Cell(ref):
            yield ref
        case Area(first, last):
            yield from area(first, last)
        case Negative(operand):
            yield from inputs(operand)
        case Binary(_, left, right):
            yield from inputs(left)
            yield from inputs(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from inputs(argument)
