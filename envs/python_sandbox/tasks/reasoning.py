"""`reasoning-gym`: its procedural data sets as tasks, generated on demand; the package is imported by the first draw.

Left out are the data sets without a canonical answer, those that make other tasks in every process (their order hangs
on the hash seed), `arc_agi`, which needs seconds for a task, `coin_flip` and
`complex_arithmetic`, which pay for a constant answer, and `codeio`, which runs foreign programs unprotected:
our set of that name runs them in a sandbox.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from hashlib import sha256

import numpy as np
from agent_envs.envs.python_sandbox.tasks._calls import submit

from agent_envs.errors import ConfigError, MissingExtra, TaskError, UnknownTask
from agent_envs.tasks import GeneratedTaskSet, Task, TaskSet

_NAMES = """
ab acre advanced_geometry aiw arc_1d base_conversion basic_arithmetic bf binary_alternation binary_matrix
bitwise_arithmetic caesar_cipher calendar_arithmetic chain_sum circuit_logic color_cube_rotation
count_bits count_primes countdown course_schedule cryptarithm decimal_arithmetic
decimal_chain_sum dice emoji_mystery family_relationships figlet_font fraction_simplification futoshiki game_of_life
game_of_life_halting gcd group_anagrams gsm_symbolic jugs kakurasu knights_knaves largest_island lcm leg_counting
letter_counting letter_jumble mahjong_puzzle manipulate_matrix maze mini_sudoku modulo_grid n_queens needle_haystack
number_filtering number_format number_sequence number_sorting palindrome_generation palindrome_partitioning
path_star polynomial_equations pool_matrix power_function prime_factorization products puzzle24 quantum_lock rearc
rectangle_count rotate_matrix rotten_oranges self_reference sentence_reordering shortest_path simple_equations
simple_geometry simple_integration sokoban spell_backward spiral_matrix string_insertion string_manipulation
string_splitting string_synthesis sudoku survo syllogism time_intervals tower_of_hanoi tsumego
word_sequence_reversal word_sorting zebra_puzzles
"""
DATASETS = tuple(_NAMES.split())
"""The data sets that are offered."""
_COMPARED_AS_TEXT = frozenset({"rearc", "game_of_life_halting"})
"""Their own scorers need Python objects that JSON cannot carry, or accept any answer; the answer is one fixed text."""
_FORM = "Submit only the answer, in the form that the question asks for."


def load(dataset: str = "") -> TaskSet:
    """All offered data sets, or one of them; the id `reasoning-gym/<dataset>/<split>/<n>` names a task in either."""
    if dataset and dataset not in DATASETS:
        near = get_close_matches(dataset, DATASETS, n=3, cutoff=0.4) or DATASETS[:3]
        raise ConfigError(f"reasoning-gym offers no data set {dataset!r} here; the nearest are: {', '.join(near)}")
    return _one(dataset) if dataset else _AllDatasets({name: _one(name) for name in DATASETS})


def _one(dataset: str) -> GeneratedTaskSet:
    return GeneratedTaskSet(f"reasoning-gym/{dataset}", partial(_generated, dataset), by_content=True, version="1")


def _generated(dataset: str, seed: int) -> Task:
    entry = _entry(dataset, seed)
    question, answer = str(entry["question"]), str(entry["answer"])
    by_text = dataset in _COMPARED_AS_TEXT
    return Task(
        id=f"reasoning-gym/{dataset}/{seed}",
        prompt=f"{question.strip()}\n\n{_FORM}",
        kind="text" if by_text else "reasoning_gym",
        secret={"answer": answer} if by_text else {"dataset": dataset, "entry": entry},
        solution=(submit(answer),),
        wrong=((submit(""),),),
        tags=(dataset,),
    )


def _entry(dataset: str, seed: int) -> dict[str, object]:
    try:
        import reasoning_gym
    except ImportError as cause:
        raise MissingExtra("reasoning-gym", extra="tasks") from cause
    try:
        # Some generators print; that must not end up in the output of whoever draws a task.
        with redirect_stdout(io.StringIO()):
            made = reasoning_gym.create_dataset(dataset, size=1, seed=seed)[0]
    except ValueError as cause:
        raise TaskError(f"the installed reasoning-gym cannot make {dataset!r}: {cause}; upgrade it") from cause
    plain: dict[str, object] = json.loads(json.dumps(made, default=_builtin))
    return plain


def _builtin(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Fraction):  # only in notes on how a problem was made
        return str(value)
    raise TaskError(f"reasoning-gym made a {type(value).__name__}, which is no JSON data; choose another data set")


class _AllDatasets(TaskSet):
    """Every data set equally likely, whatever the number of its tasks."""

    def __init__(self, parts: dict[str, TaskSet]) -> None:
        super().__init__("reasoning-gym")
        self._parts = parts

    @property
    def splits(self) -> tuple[str, ...]:
        return next(iter(self._parts.values())).splits

    @property
    def size(self) -> int | None:
        return None

    @property
    def content_hash(self) -> str:
        """Made of every data set's own; takes seconds."""
        return sha256(" ".join(part.content_hash for part in self._parts.values()).encode()).hexdigest()

    def split(self, name: str) -> TaskSet:
        return _AllDatasets({dataset: part.split(name) for dataset, part in self._parts.items()})

    def draw(self, rng: np.random.Generator) -> Task:
        return list(self._parts.values())[int(rng.integers(len(self._parts)))].draw(rng)

    def task(self, id: str) -> Task:  # noqa: A002 - the field it looks up
        pieces = id.split("/")
        part = self._parts.get(pieces[1]) if len(pieces) == 4 and pieces[0] == self.name else None
        if part is None:
            near = get_close_matches("/".join(pieces[1:2]), self._parts, n=3, cutoff=0.4) or list(self._parts)[:3]
            raise UnknownTask(
                f"task set {self.name!r} has no task {id!r}; expected reasoning-gym/<dataset>/<split>/<n>, and the"
                f" nearest data sets are: {', '.join(near)}"
            )
        return part.task(id)

    def filter(self, *, difficulty: str | Collection[str] = (), tags: str | Collection[str] = ()) -> TaskSet:
        wanted = {tags} if isinstance(tags, str) else set(tags)
        kept = {dataset: part for dataset, part in self._parts.items() if wanted <= {dataset} and not difficulty}
        if not kept:
            raise TaskError(
                f"no data set fits difficulty {difficulty!r} and tags {tags!r}; the only tag is the data set"
            )
        return _AllDatasets(kept)

    def head(self, count: int) -> TaskSet:
        return TaskSet.of(self.name, {split: self._first(split, count) for split in self.splits})

    def _first(self, split: str, count: int) -> list[Task]:
        """One task of each data set in turn."""
        each = -(-count // len(self._parts))
        columns = [list(part.split(split).head(each)) for part in list(self._parts.values())[:count]]
        return [column[row] for row in range(each) for column in columns][:count]

    def __iter__(self) -> Iterator[Task]:
        raise TaskError(f"task set {self.name!r} has no end and cannot be iterated; take its first tasks with head(n)")
