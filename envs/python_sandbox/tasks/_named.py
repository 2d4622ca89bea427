"""A task set without end, with a few tasks of fixed names beside the generated ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import sha256

import numpy as np

from agent_envs.tasks import Task, TaskSet


class NamedTaskSet(TaskSet):
    """A task set from which some more tasks can be had by name; they belong to no split and are never drawn."""

    def __init__(self, base: TaskSet, *named: Task) -> None:
        super().__init__(base.name)
        self._base = base
        self._named = {task.id: task for task in named}

    @property
    def splits(self) -> tuple[str, ...]:
        return self._base.splits

    @property
    def size(self) -> int | None:
        return self._base.size

    @property
    def content_hash(self) -> str:
        hashes = [self._base.content_hash, *(task.content_hash for task in self._named.values())]
        return sha256(" ".join(hashes).encode()).hexdigest()

    def split(self, name: str) -> TaskSet:
        return NamedTaskSet(self._base.split(name), *self._named.values())

    def draw(self, rng: np.random.Generator) -> Task:
        return self._base.draw(rng)

    def task(self, id: str) -> Task:  # noqa: A002 - the field it looks up
        return self._named[id] if id in self._named else self._base.task(id)

    def filter(self, *, difficulty: str | Collection[str] = (), tags: str | Collection[str] = ()) -> TaskSet:
        return NamedTaskSet(self._base.filter(difficulty=difficulty, tags=tags), *self._named.values())

    def head(self, count: int) -> TaskSet:
        return self._base.head(count)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._base)
