"""The cells of a sheet, and keeping their values up to date; docs/recalculation.md says what is promised."""

from __future__ import annotations

from dataclasses import dataclass

from gridlock.evaluator import evaluate
from gridlock.graph import Graph
from gridlock.nodes import Constant, Node, inputs
from gridlock.parser import parse
from gridlock.refs import Ref, parse_area
from gridlock.rewrite import shift
from gridlock.values import Value, from_text


@dataclass(frozen=True)
class _Entry:
    """What was put into a cell, and what it means."""

    text: str
    node: Node
    is_formula: bool


class Sheet:
    """Cells by name, such as `B12`. An empty cell has the text `""` and the value None."""

    def __init__(self) -> None:
        self._entries: dict[Ref, _Entry] = {}
        self._values: dict[Ref, Value] = {}
        self._graph = Graph()
        self.evaluations = 0
        """How many times a formula was evaluated since the sheet was made."""

    def set(self, name: str, text: str) -> None:
        """Put a text into a cell and bring everything that depends on it up to date; an empty text clears it."""
        ref = Ref.parse(name)
        entry = _entry(text)
        self._graph.connect(ref, inputs(entry.node))
        if text:
            self._entries[ref] = entry
        else:
            self._entries.pop(ref, None)
        for affected in self._graph.affected(ref):
            self._evaluate(affected)

    def text(self, name: str) -> str:
        """What was put into a cell."""
        entry = self._entries.get(Ref.parse(name))
        return entry.text if entry else ""

    def value(self, name: str) -> Value:
        return self._values.get(Ref.parse(name))

    def names(self) -> list[str]:
        """The cells that are not empty, row by row."""
        return [str(ref) for ref in sorted(self._entries)]

    def size(self) -> tuple[int, int]:
        """The last row and the last column that are not empty."""
        return max((ref.row for ref in self._entries), default=0), max((ref.column for ref in self._entries), default=0)

    def copy(self, source: str, target: str) -> None:
        """Put the text of a cell into every cell of a range, with its references moved along."""
        start, text = Ref.parse(source), self.text(source)
        for ref in parse_area(target):
            self.set(str(ref), shift(text, columns=ref.column - start.column, rows=ref.row - start.row))

    def _evaluate(self, ref: Ref) -> None:
        entry = self._entries.get(ref)
        if entry is None:
            self._values.pop(ref, None)
            return
        self.evaluations += entry.is_formula
        self._values[ref] = evaluate(entry.node, self._values.get)


def _entry(text: str) -> _Entry:
    if text.startswith("="):
        return _Entry(text, parse(text[1:]), is_formula=True)
    return _Entry(text, Constant(from_text(text)), is_formula=False)
