"""A template of computed tasks: a question and a program over the same values, so that they cannot disagree.

The answer is what the program computes, and a wrong answer is what the program computes with one slip in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random

Value = int | str | list[int] | list[str] | list[list[int]]
Values = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Template:
    """One family of questions."""

    name: str
    topic: str
    """The tag of its tasks besides its name."""
    ask: str
    """The question, with the values in braces."""
    body: str
    """A program that sets `answer` from the values; about 10 ms at most, because it runs for every task drawn."""
    slips: tuple[tuple[str, str], ...]
    """Pairs of a text in `body` and the plausible mistake that replaces it."""
    draw: Callable[[Random, int], dict[str, Value]]
    """The values for a level from 1 (easy) to 3 (hard)."""

    def answer(self, values: Values) -> str:
        """The right answer."""
        return _computed(self._right, values)

    def mistakes(self, values: Values, right: str) -> tuple[str, ...]:
        """The different wrong answers that the slips lead to; at least one."""
        found = dict.fromkeys(_computed(code, values) for code in self._slipped)
        return tuple(answer for answer in found if answer != right) or (str(int(right) + 1),)

    def program(self, values: Values) -> str:
        """A complete program that prints the right answer."""
        given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        return f"{given}{self.body.strip()}\nprint(answer)\n"

    @cached_property
    def _right(self) -> Callable[[dict[str, object]], None]:
        return _compiled(self.body, self.name)

    @cached_property
    def _slipped(self) -> tuple[Callable[[dict[str, object]], None], ...]:
        for text, _ in self.slips:
            if self.body.count(text) != 1:
                raise ValueError(f"template {self.name!r}: {text!r} must stand once in the program")
        return tuple(_compiled(self.body.replace(old, new), self.name) for old, new in self.slips)


def _compiled(body: str, name: str) -> Callable[[dict[str, object]], None]:
    code = compile(body.strip(), f"<{name}>", "exec", dont_inherit=True)
    return lambda namespace: exec(code, namespace)


def _computed(run: Callable[[dict[str, object]], None], values: Values) -> str:
    namespace: dict[str, object] = dict(values)
    run(namespace)
    return str(namespace["answer"])
