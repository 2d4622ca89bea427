"""Task sets: one interface, a stable order, and splits that cannot overlap.

A set is checked as a whole when it is first used: an id that occurs twice, content shared by two splits, or a row that
is no task is an error that names it. Nothing is skipped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from agent_envs import json_lines
from agent_envs.errors import TaskError, UnknownTask
from agent_envs.tasks._files import Importer, load_files, load_folder
from agent_envs.tasks._task import Task

Source = Iterable[Task] | Mapping[str, Iterable[Task]]
"""Tasks of one split, or of several by name."""


class TaskSet(ABC):
    """Tasks by id and by chance. A set with several splits holds the tasks of all of them, in their order."""

    def __init__(self, name: str) -> None:
        self.name = name
        """What reports call it."""

    @staticmethod
    def of(name: str, tasks: Source, *, split: str = "train") -> TaskSet:
        """The tasks of a list, or of a mapping from split names to lists; checked at once."""
        listed = _ListedTaskSet(name, partial(_splits_of, tasks, split))
        listed.check()
        return listed

    @staticmethod
    def lazy(name: str, load: Callable[[], Source], *, split: str = "train") -> TaskSet:
        """The tasks that `load` returns, called once, when the first task is asked for."""
        return _ListedTaskSet(name, partial(_splits_from, load, split))

    @staticmethod
    def from_jsonl(
        path: str | Path, *, name: str = "", split: str = "train", importer: Importer | None = None
    ) -> TaskSet:
        """The tasks of a file with one JSON object per line: tasks, or whatever `importer` reads."""
        load = partial(load_files, {split: [Path(path)]}, importer)
        return _ListedTaskSet(name or Path(path).stem, load)

    @staticmethod
    def from_parquet(
        path: str | Path, *, name: str = "", split: str = "train", importer: Importer | None = None
    ) -> TaskSet:
        """The tasks of a Parquet file, one per row; needs the extra `parquet`."""
        load = partial(load_files, {split: [Path(path)]}, importer)
        return _ListedTaskSet(name or Path(path).stem, load)

    @staticmethod
    def from_folder(path: str | Path, *, name: str = "", importer: Importer | None = None) -> TaskSet:
        """The tasks of a Hugging Face dataset folder: files named by split, or what `save_to_disk` wrote."""
        return _ListedTaskSet(name or Path(path).resolve().name, partial(load_folder, Path(path), importer))

    @property
    @abstractmethod
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in order."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """How many tasks there are; None where they are generated without end."""

    @property
    @abstractmethod
    def content_hash(self) -> str:
        """SHA-256 (hex) that changes with any id, split, prompt, setup or secret."""

    @abstractmethod
    def split(self, name: str) -> TaskSet:
        """The tasks of one split."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Task:
        """One task, every one equally likely; the state of `rng` alone decides which."""

    @abstractmethod
    def task(self, id: str) -> Task:  # noqa: A002 - the field it looks up
        """The task with this id; raises `UnknownTask` naming the nearest ids."""

    @abstractmethod
    def filter(self, *, difficulty: str | Collection[str] = (), tags: str | Collection[str] = ()) -> TaskSet:
        """The tasks with one of these difficulties and with all of these tags."""

    @abstractmethod
    def head(self, count: int) -> TaskSet:
        """The first `count` tasks of every split, or all where there are fewer."""

    @abstractmethod
    def __iter__(self) -> Iterator[Task]: ...

    def __len__(self) -> int:
        if self.size is None:
            raise TypeError(f"task set {self.name!r} has no length: its tasks are generated; use head(n)")
        return self.size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lstrip('_')} {self.name!r}>"


class _ListedTaskSet(TaskSet):
    """Tasks that are all there, once they are loaded."""

    def __init__(self, name: str, load: Callable[[], dict[str, tuple[Task, ...]]]) -> None:
        super().__init__(name)
        self._load: Callable[[], dict[str, tuple[Task, ...]]] | None = load
        self._splits: dict[str, tuple[Task, ...]] = {}
        self._tasks: tuple[Task, ...] = ()
        self._index: dict[str, int] = {}

    def check(self) -> None:
        """Load what is not loaded yet; raises `TaskError` where the set contradicts itself."""
        if self._load is None:
            return
        splits = self._load()
        tasks = tuple(task for part in splits.values() for task in part)
        if not tasks:
            raise TaskError(f"task set {self.name!r} is empty; expected at least one task")
        index = _unique_ids(self.name, splits)
        _check_content(self.name, splits)
        self._splits, self._tasks, self._index, self._load = splits, tasks, index, None

    @property
    def splits(self) -> tuple[str, ...]:
        self.check()
        return tuple(self._splits)

    @property
    def size(self) -> int:
        self.check()
        return len(self._tasks)

    @property
    def content_hash(self) -> str:
        self.check()
        digest = sha256()
        for split, tasks in self._splits.items():
            for task in tasks:
                digest.update(json_lines.encode([split, task.id, task.content_hash]))
        return digest.hexdigest()

    def split(self, name: str) -> TaskSet:
        if name not in self.splits:
            raise TaskError(f"task set {self.name!r} has no split {name!r}; it has: {', '.join(self.splits)}")
        return self._part({name: self._splits[name]})

    def draw(self, rng: np.random.Generator) -> Task:
        self.check()
        return self._tasks[int(rng.integers(len(self._tasks)))]

    def task(self, id: str) -> Task:  # noqa: A002 - the field it looks up
        self.check()
        if id not in self._index:
            near = get_close_matches(id, self._index, n=3, cutoff=0.5) or list(self._index)[:3]
            raise UnknownTask(f"task set {self.name!r} has no task {id!r}; the nearest ids are: {', '.join(near)}")
        return self._tasks[self._index[id]]

    def filter(self, *, difficulty: str | Collection[str] = (), tags: str | Collection[str] = ()) -> TaskSet:
        self.check()
        wanted = Labels.of(difficulty, tags).fit
        kept = {split: tuple(filter(wanted, tasks)) for split, tasks in self._splits.items()}
        if not any(kept.values()):
            raise TaskError(
                f"no task of {self.name!r} has difficulty {difficulty!r} and tags {tags!r}; {self._labels()}"
            )
        return self._part({split: tasks for split, tasks in kept.items() if tasks})

    def head(self, count: int) -> TaskSet:
        self.check()
        return self._part({split: tasks[: at_least_one(count)] for split, tasks in self._splits.items()})

    def __getitem__(self, position: int) -> Task:
        self.check()
        return self._tasks[position]

    def __iter__(self) -> Iterator[Task]:
        self.check()
        return iter(self._tasks)

    def _part(self, splits: dict[str, tuple[Task, ...]]) -> TaskSet:
        part = _ListedTaskSet(self.name, dict)
        part._splits, part._load = splits, None
        part._tasks = tuple(task for tasks in splits.values() for task in tasks)
        part._index = {task.id: position for position, task in enumerate(part._tasks)}
        return part

    def _labels(self) -> str:
        difficulties = sorted({task.difficulty for task in self._tasks if task.difficulty})
        tags = sorted({tag for task in self._tasks for tag in task.tags})
        return f"there are the difficulties {difficulties} and the tags {tags[:20]}"


@dataclass(frozen=True, slots=True)
class Labels:
    """The condition that `TaskSet.filter` describes."""

    difficulties: frozenset[str]
    tags: frozenset[str]

    @classmethod
    def of(cls, difficulty: str | Collection[str], tags: str | Collection[str]) -> Labels:
        """One word or several for each; none means that it does not matter."""
        return cls(*(frozenset([words] if isinstance(words, str) else words) for words in (difficulty, tags)))

    def fit(self, task: Task) -> bool:
        """Whether the task has one of the difficulties and all of the tags."""
        return (not self.difficulties or task.difficulty in self.difficulties) and self.tags.issubset(task.tags)


def at_least_one(count: int) -> int:
    """`count`, which must be a number of tasks."""
    if count < 1:
        raise TaskError(f"head({count}) would be empty; expected a number of at least 1")
    return count


def _splits_of(tasks: Source, split: str) -> dict[str, tuple[Task, ...]]:
    splits = tasks if isinstance(tasks, Mapping) else {split: tasks}
    checked = {name: tuple(part) for name, part in splits.items()}
    for name, part in checked.items():
        for position, task in enumerate(part):
            if not isinstance(task, Task):
                raise TaskError(f"item {position} of split {name!r} is a {type(task).__name__}; expected a Task")
            task.check_plain()
    return checked


def _splits_from(load: Callable[[], Source], split: str) -> dict[str, tuple[Task, ...]]:
    return _splits_of(load(), split)


def _unique_ids(name: str, splits: Mapping[str, tuple[Task, ...]]) -> dict[str, int]:
    index: dict[str, int] = {}
    for split, tasks in splits.items():
        for task in tasks:
            if not task.id or task.id in index:
                problem = f"the id {task.id!r} twice" if task.id else "a task without an id"
                raise TaskError(
                    f"split {split!r} of task set {name!r} has {problem}; every task needs an id of its own"
                )
            index[task.id] = len(index)
    return index


def _check_content(name: str, splits: Mapping[str, tuple[Task, ...]]) -> None:
    """Refuse content that two splits share."""
    if len(splits) == 1:
        return
    owner: dict[str, tuple[str, str]] = {}
    for split, tasks in splits.items():
        for task in tasks:
            first_split, first_id = owner.setdefault(task.content_hash, (split, task.id))
            if first_split != split:
                raise TaskError(
                    f"splits of {name!r} overlap: {first_id!r} ({first_split}) and {task.id!r} ({split}) have the same"
                    " content; remove one of them, or a model is tested on what it was trained on"
                )
