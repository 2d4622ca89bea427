"""Gives every row a place among those that are wanted, where there is a way to place them all."""

from __future__ import annotations

from collections.abc import Sequence


def assign(fits: Sequence[Sequence[int]], room: Sequence[int]) -> list[int | None]:
    """For each row the wanted entry it stands for, so that as many as possible have one; None for the others.

    `fits` says for each row which entries it could stand for, `room` how many rows each entry takes. Overlapping
    entries are no trap: a row moves on where that makes room for another (augmenting paths).
    """
    place: list[int | None] = [None] * len(fits)
    holders: list[list[int]] = [[] for _ in room]
    for row in range(len(fits)):
        _place(row, fits, room, place, holders)
    return place


def _place(
    row: int, fits: Sequence[Sequence[int]], room: Sequence[int], place: list[int | None], holders: list[list[int]]
) -> None:
    """Breadth first from a row over entries and their holders to an entry with room, then move everybody along."""
    came_from: dict[int, int] = {}
    waiting = [row]
    for mover in waiting:
        for entry in fits[mover]:
            if entry in came_from:
                continue
            came_from[entry] = mover
            if len(holders[entry]) < room[entry]:
                return _move(entry, came_from, place, holders)
            waiting.extend(holders[entry])
    return None


def _move(entry: int, came_from: dict[int, int], place: list[int | None], holders: list[list[int]]) -> None:
    while True:
        mover = came_from[entry]
        left = place[mover]
        place[mover] = entry
        holders[entry].append(mover)
        if left is None:
            return
        holders[left].remove(mover)
        entry = left
