"""Which cell depends on which. Nothing here recurses: a column of running totals is a chain of thousands."""

from __future__ import annotations

from collections.abc import Iterable

from gridlock.errors import CycleError
from gridlock.refs import Ref


class Graph:
    """Cells and the cells that they read; never a cycle."""

    def __init__(self) -> None:
        self._inputs: dict[Ref, frozenset[Ref]] = {}
        self._dependents: dict[Ref, set[Ref]] = {}

    def connect(self, cell: Ref, inputs: Iterable[Ref]) -> None:
        """Let a cell read these and no others, or raise `CycleError` and change nothing."""
        wanted = frozenset(inputs)
        self._refuse_cycle(cell, wanted)
        for ref in self._inputs.get(cell, frozenset()) - wanted:
            self._dependents[ref].discard(cell)
        for ref in wanted:
            self._dependents.setdefault(ref, set()).add(cell)
        self._inputs[cell] = wanted

    def dependents(self, cell: Ref) -> list[Ref]:
        """The cells that read this one directly, sorted."""
        return sorted(self._dependents.get(cell, ()))

    def affected(self, cell: Ref) -> list[Ref]:
        """The cell and all that depend on it, directly or not, each after everything that it reads."""
        waiting = dict.fromkeys(self._downstream(cell), 0)
        for ref in waiting:
            for dependent in self.dependents(ref):
                waiting[dependent] += 1
        order = [cell]
        for ref in order:
            for dependent in self.dependents(ref):
                waiting[dependent] -= 1
                if not waiting[dependent]:
                    order.append(dependent)
        return order

    def _downstream(self, cell: Ref) -> dict[Ref, Ref | None]:
        """All cells that depend on this one, itself included, each with the cell that it was reached from."""
        reached: dict[Ref, Ref | None] = {cell: None}
        stack = [cell]
        while stack:
            ref = stack.pop()
            for dependent in self.dependents(ref):
                if dependent not in reached:
                    reached[dependent] = ref
                    stack.append(dependent)
        return reached

    def _refuse_cycle(self, cell: Ref, wanted: frozenset[Ref]) -> None:
        reached = self._downstream(cell)
        culprits = sorted(wanted & reached.keys())
        if not culprits:
            return
        way = [str(cell)]
        ref: Ref | None = culprits[0]
        while ref is not None:
            way.append(str(ref))
            ref = reached[ref]
        raise CycleError(way)
