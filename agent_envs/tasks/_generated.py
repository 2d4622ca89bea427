"""Task sets without end: task n of a split is made from one seed, so it is named and repeated, never stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import islice

import numpy as np

from agent_envs import json_lines
from agent_envs.errors import TaskError, UnknownTask
from agent_envs.tasks._task import Task
from agent_envs.tasks._task_set import Labels, TaskSet, at_least_one

_TRIES = 10_000
"""Seeds tried for one task that fits, before the set counts as one that holds none."""


class GeneratedTaskSet(TaskSet):
    """Tasks made on demand by a pure function of a seed. The id `name/split/n` names task n of a split for ever.

    Task n of a split comes from the n-th seed of the split's range. Ranges are disjoint, but two seeds may still make
    the same content, as they will where there are few different tasks. `by_content=True` rules that out: a task
    belongs to the split that its content hash picks, and a seed whose task belongs elsewhere is replaced by another
    that is derived from it.
    """

    def __init__(
        self,
        name: str,
        generate: Callable[[int], Task],
        *,
        splits: Mapping[str, range] | None = None,
        by_content: bool = False,
        version: str = "",
    ) -> None:
        """`generate` must depend on its seed alone; change `version` when it starts to make other tasks.

        The default splits are `train` (seeds below 2**31) and `test` (from there to 2**32).
        """
        super().__init__(name)
        self._generate = generate
        self._ranges = dict(splits or {"train": range(2**31), "test": range(2**31, 2**32)})
        self._owners = tuple(self._ranges) if by_content else ()
        self._version = version
        self._labels: tuple[Labels, ...] = ()
        _check_ranges(name, self._ranges)

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(self._ranges)

    @property
    def size(self) -> int | None:
        return None

    @property
    def content_hash(self) -> str:
        """Changes with name, version, splits, and the first tasks of every split, so that a changed generator shows."""
        ranges = {split: [seeds.start, seeds.stop, seeds.step] for split, seeds in self._ranges.items()}
        first = [task.content_hash for split in self._ranges for task in islice(self._matching(split), 8)]
        return sha256(json_lines.encode([self.name, self._version, ranges, list(self._owners), first])).hexdigest()

    def split(self, name: str) -> TaskSet:
        if name not in self._ranges:
            raise TaskError(f"task set {self.name!r} has no split {name!r}; it has: {', '.join(self._ranges)}")
        return self._part({name: self._ranges[name]})

    def draw(self, rng: np.random.Generator) -> Task:
        for _ in range(_TRIES):
            split = self.splits[int(rng.integers(len(self._ranges)))]
            task = self._make(split, int(rng.integers(len(self._ranges[split]))))
            if self._wanted(task):
                return task
        raise self._too_rare()

    def task(self, id: str) -> Task:  # noqa: A002 - the field it looks up
        name, split, number = _parts(id)
        if name != self.name or split not in self._ranges or not 0 <= number < len(self._ranges[split]):
            known = ", ".join(f"{self.name}/{split}/0 to {len(seeds) - 1}" for split, seeds in self._ranges.items())
            raise UnknownTask(f"task set {self.name!r} has no task {id!r}; its ids are: {known}")
        task = self._make(split, number)
        if not self._wanted(task):
            raise UnknownTask(f"task {id!r} is excluded by the filter of this task set; ask the unfiltered set for it")
        return task

    def filter(self, *, difficulty: str | Collection[str] = (), tags: str | Collection[str] = ()) -> TaskSet:
        part = self._part(self._ranges)
        part._labels = (*self._labels, Labels.of(difficulty, tags))
        return part

    def head(self, count: int) -> TaskSet:
        at_least_one(count)
        return TaskSet.of(self.name, {split: islice(self._matching(split), count) for split in self._ranges})

    def __iter__(self) -> Iterator[Task]:
        raise TaskError(f"task set {self.name!r} has no end and cannot be iterated; take its first tasks with head(n)")

    def _part(self, ranges: Mapping[str, range]) -> GeneratedTaskSet:
        part = GeneratedTaskSet(self.name, self._generate, splits=ranges, version=self._version)
        part._owners, part._labels = self._owners, self._labels
        return part

    def _matching(self, split: str) -> Iterator[Task]:
        found = tried = 0
        for number in range(len(self._ranges[split])):
            task = self._make(split, number)
            tried += 1
            if self._wanted(task):
                found, tried = found + 1, 0
                yield task
            elif tried >= _TRIES:
                raise self._too_rare()

    def _make(self, split: str, number: int) -> Task:
        seed = self._ranges[split][number]
        for attempt in range(_TRIES):
            task = self._generate(seed if attempt == 0 else _derived(seed, attempt))
            if not isinstance(task, Task):
                raise TaskError(f"the generator of {self.name!r} returned a {type(task).__name__}; expected a Task")
            task.check_plain()
            if not self._owners or self._owner(task) == split:
                return replace(task, id=f"{self.name}/{split}/{number}")
        raise TaskError(
            f"{_TRIES} seeds made no task for split {split!r} of {self.name!r}; there are too few to divide"
        )

    def _wanted(self, task: Task) -> bool:
        return all(labels.fit(task) for labels in self._labels)

    def _owner(self, task: Task) -> str:
        return self._owners[int(task.content_hash[:8], 16) % len(self._owners)]

    def _too_rare(self) -> TaskError:
        return TaskError(f"{_TRIES} seeds of {self.name!r} made no task that fits the filter; widen it")


def _derived(seed: int, attempt: int) -> int:
    return int.from_bytes(sha256(f"{seed}/{attempt}".encode()).digest()[:4], "big")


def _parts(id: str) -> tuple[str, str, int]:  # noqa: A002 - the field it takes apart
    name, _, rest = id.rpartition("/")
    name, _, split = name.rpartition("/")
    # Only the canonical spelling: "007" would be a second name of task 7.
    return name, split, int(rest) if rest.isascii() and rest.isdigit() and str(int(rest)) == rest else -1


def _check_ranges(name: str, ranges: Mapping[str, range]) -> None:
    seen: list[tuple[str, range]] = []
    for split, seeds in ranges.items():
        if len(seeds) == 0 or seeds.step != 1 or seeds.start < 0 or "/" in split:
            raise TaskError(
                f"split {split!r} of {name!r} has the seeds {seeds}; expected a range(start, stop) of numbers from 0"
                " on, and a name without '/'"
            )
        for other, taken in seen:
            if seeds.start < taken.stop and taken.start < seeds.stop:
                raise TaskError(f"splits {other!r} and {split!r} of {name!r} share seeds; give them disjoint ranges")
        seen.append((split, seeds))
