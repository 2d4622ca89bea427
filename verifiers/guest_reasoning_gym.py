"""Runs in a sandbox: scores one answer by the dataset's own rule. Some of these rules evaluate the answer."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

import reasoning_gym.games.n_queens  # noqa: F401 - loads every dataset
from agent_envs.verifiers.literals import decode, encode
from reasoning_gym.factory import create_dataset

_EVALUATING = (
    "reasoning_gym.algorithmic.binary_matrix",
    "reasoning_gym.algorithmic.spiral_matrix",
    "reasoning_gym.algorithmic.string_insertion",
    "reasoning_gym.games.n_queens",
)

_GRIDS = ("arc_agi", "rearc")


def serve(receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Score one answer."""
    for name in _EVALUATING:  # these mean a literal where they say `eval`; a module's own name hides the builtin
        vars(sys.modules[name])["eval"] = ast.literal_eval
    send(encode("ready"))
    name, config = decode(receive())
    dataset = create_dataset(name, **config)
    send(encode("made"))
    entry, answer = decode(receive())
    if name in _GRIDS:
        entry["metadata"] = _rows(entry["metadata"])
    send(encode(float(dataset.score_answer(answer, entry))))


def _rows(grid: object) -> object:
    """The tuples that JSON had turned into lists; the scorers of grids compare tuples."""
    if isinstance(grid, list):
        return tuple(_rows(item) for item in grid)
    return {key: _rows(item) for key, item in grid.items()} if isinstance(grid, dict) else grid
