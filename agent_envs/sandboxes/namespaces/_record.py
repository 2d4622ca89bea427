"""What a Python session must repeat to come back to its present: the cells since the base, and which base that is."""

from __future__ import annotations

from dataclasses import dataclass, field

_LONGEST_REPLAY_S = 2.0
_LARGEST_RECORD = 16 << 20


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell that ran to its end."""

    number: int
    code: bytes
    seconds: float = 0.0


@dataclass(slots=True)
class Record:
    """The cells that have to be repeated on a base: an interpreter that has run nothing, or a snapshot."""

    snapshot: int = 0
    """The pid of the snapshot; 0 for an interpreter that has run nothing."""
    cells: list[Cell] = field(default_factory=list)
    based: bool = True
    """Whether there is a base at all: there is none while a woken snapshot has not saved itself again."""
    _seen: int = 0
    """The last cell that the base has seen."""
    _forgotten: int = 0
    """The last cell that was not kept, because the record had become too long."""
    _bytes: int = 0
    _seconds: float = 0.0

    def add(self, cell: Cell) -> None:
        """Note a cell that has ended well."""
        self.cells.append(cell)
        self._bytes += len(cell.code)
        self._seconds += cell.seconds
        if self._bytes > _LARGEST_RECORD:
            self._forgotten = cell.number
            self._replace([])

    def rebase(self, snapshot: int, through: int) -> None:
        """Start from a newer snapshot, which has seen the cells up to this one."""
        self.snapshot, self._seen, self.based = snapshot, through, True
        self._replace([cell for cell in self.cells if cell.number > through])

    def consume_base(self) -> None:
        """The snapshot goes on as the interpreter: there is nothing to go back to until it has saved itself."""
        self.snapshot, self.based = 0, False

    @property
    def repeatable(self) -> bool:
        """Whether repeating the cells leads back to the present in reasonable time."""
        return self.based and self._forgotten <= self._seen and self._seconds <= _LONGEST_REPLAY_S

    def _replace(self, cells: list[Cell]) -> None:
        self.cells = cells
        self._bytes = sum(len(cell.code) for cell in cells)
        self._seconds = sum(cell.seconds for cell in cells)
