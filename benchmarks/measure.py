"""Timing that survives a noisy machine: the compared things take turns in one run, and medians are compared.

A `Report` collects what was measured; it prints a table with the target beside each figure, or JSON.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Once = Callable[[], float | None]
"""Does the thing once; returns the seconds it took where it measures itself (another process), else None."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What many samples of one thing say."""

    median: float
    p95: float
    samples: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """The spread of `samples`, which must not be empty."""
        ordered = sorted(samples)
        return cls(statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))], len(ordered))


def interleave(contenders: Mapping[str, Once], *, rounds: int, warmups: int = 2) -> dict[str, Spread]:
    """Let every contender run once a round, in an order that rotates, and return seconds by name."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(-warmups, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            began = time.perf_counter()
            own = contenders[name]()
            took = time.perf_counter() - began if own is None else own
            if number >= 0:
                samples[name].append(took)
    return {name: Spread.of(taken) for name, taken in samples.items()}


def repeat(once: Once, *, rounds: int, warmups: int = 2) -> Spread:
    """The same for one thing alone."""
    return interleave({"": once}, rounds=rounds, warmups=warmups)[""]


def per_call(once: Callable[[], object], *, batch: int = 200, rounds: int = 15) -> float:
    """Processor seconds of one call of something that never waits: the median of the means of batches.

    Processor time, because other programs on a busy machine lengthen the wall time of such a call, but not its work.
    """

    def run_batch() -> float:
        began = time.process_time()
        for _ in range(batch):
            once()
        return (time.process_time() - began) / batch

    return repeat(run_batch, rounds=rounds).median


def spawned(*command: str) -> Once:
    """A program that is started, and waited for, in the cheapest way there is; raises where it fails."""
    quiet = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in (0, 1, 2)]

    def once() -> None:
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
        if os.waitpid(pid, 0)[1] != 0:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")

    return once


class Stopwatch:
    """Notes the time spent below chosen functions while it runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def medians(self) -> dict[str, float]:
        """Seconds of the usual call, by label; the first call of an episode, which starts things, is not the usual."""
        return {label: statistics.median(taken) for label, taken in self.seconds.items()}

    @contextlib.contextmanager
    def on(self, *stations: tuple[str, object, str]) -> Iterator[None]:
        """Time `(label, owner, attribute)`: functions of a class, a module or an object, put back afterwards."""
        with contextlib.ExitStack() as undo:
            for label, owner, attribute in stations:
                original = vars(owner).get(attribute)
                setattr(owner, attribute, self._timed(label, original or getattr(owner, attribute)))
                undo.callback(_put_back, owner, attribute, original)
            yield

    def _timed(self, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        clock, taken = time.perf_counter, self.seconds[label]

        @functools.wraps(function)
        def timed(*args: object, **kwargs: object) -> object:
            began = clock()
            try:
                return function(*args, **kwargs)
            finally:
                taken.append(clock() - began)

        return timed


def _put_back(owner: object, attribute: str, original: object) -> None:
    if original is None:
        delattr(owner, attribute)
    else:
        setattr(owner, attribute, original)


Unit = Literal["s", "ms", "us", "per s", "MB", "x", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number, with the target it has to meet where there is one."""

    name: str
    value: float
    unit: Unit
    target: float | None = None
    at_least: bool = False
    """Whether the target is a floor; else it is a ceiling."""
    note: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `MISS`, or empty where there is no target."""
        if self.target is None:
            return ""
        return "ok" if (self.value >= self.target if self.at_least else self.value <= self.target) else "MISS"


class Report:
    """The figures of one run, in sections."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.sections: dict[str, list[Figure]] = {}
        self.remarks: list[str] = []
        self._section = ""

    def section(self, name: str) -> None:
        """Begin a section; figures that follow belong to it."""
        print(f"  measuring: {name}", file=sys.stderr, flush=True)
        self._section = name
        self.sections[name] = []

    def add(
        self,
        name: str,
        value: float,
        unit: Unit,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        note: str = "",
    ) -> None:
        """Add a figure, with a ceiling or a floor it has to meet."""
        target = at_most if at_most is not None else at_least
        self.sections[self._section].append(
            Figure(name=name, value=value, unit=unit, target=target, at_least=at_least is not None, note=note)
        )

    def remark(self, line: str) -> None:
        """Add a line below the table."""
        self.remarks.append(line)

    def show(self, *, as_json: bool) -> int:
        """Print everything; the exit status says whether every target was met."""
        figures = [figure for section in self.sections.values() for figure in section]
        if as_json:
            print(json.dumps(self._data(), indent=2))
        else:
            self._print_table()
        return int(any(figure.verdict == "MISS" for figure in figures))

    def _data(self) -> dict[str, Any]:
        sections = {
            name: [{**asdict(figure), "verdict": figure.verdict} for figure in figures]
            for name, figures in self.sections.items()
        }
        return {"title": self.title, "machine": machine(), "sections": sections, "remarks": self.remarks}

    def _print_table(self) -> None:
        print(f"{self.title}\n{machine()}")
        for name, figures in self.sections.items():
            print(f"\n{name}")
            width = max([50, *(len(figure.name) for figure in figures)])
            for figure in figures:
                bound = "" if figure.target is None else f"{'>=' if figure.at_least else '<='} {figure.target:,g}"
                print(
                    f"  {figure.name:<{width}} {figure.value:>12,.{_digits(figure.value)}f} {figure.unit:<5}"
                    f" {bound:>9} {figure.verdict:<4}  {figure.note}".rstrip()
                )
        print("".join(f"\n{remark}" for remark in self.remarks))


def _digits(value: float) -> int:
    return 0 if value == int(value) or abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3


def machine() -> str:
    """What the figures were measured on."""
    load = os.getloadavg()[0]
    return (
        f"Python {platform.python_version()}, Linux {platform.release()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, load {load:.1f}"
    )
