"""How long to wait before the next attempt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that grow by a factor up to a limit."""

    first_s: float = 5.0
    factor: float = 2.0
    limit_s: float = 3600.0

    def pause(self, attempts: int) -> float:
        """The pause after this many failed attempts, counted from 1."""
        if attempts < 1:
            raise ValueError(f"there is no pause after {attempts} attempts; expected at least 1")
        try:
            return min(self.limit_s, self.first_s * self.factor ** (attempts - 1))
        except OverflowError:
            return self.limit_s
