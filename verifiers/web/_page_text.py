"""What a page holds, read from the text of a snapshot, in which the words of a page can never be our own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from agent_envs.verifiers.web._matchers import contradictions, matches

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)",?|(\S+)')
_REFERENCE = re.compile(r"\[e\d+\]")
_WORD = re.compile(r"[a-z][a-z0-9]*")
_COMMA = '",'
_HEADING = re.compile(r"h[1-6]")
_SPELLED = re.compile(r'\\(?:u\{([0-9a-f]{1,6})\}|(["\\nt]))')
_PLAIN = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


@dataclass(slots=True)
class Element:
    """One element of a line: `[e4] checkbox "ok" = "value" checked`."""

    role: str
    name: str = ""
    value: str | None = None
    states: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Line:
    """What one line of a snapshot says."""

    elements: tuple[Element, ...]
    texts: tuple[str, ...]
    """Everything in quotes, and at the end all of it together."""


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Something that a page holds: a text, or an element by role and name."""

    text: Any = None
    """Whole words of one line, or a matcher of all that one line says."""
    role: str = ""
    """As snapshots write it; `heading` is any of h1 to h6."""
    name: Any = None
    value: Any = None
    """What is typed or chosen in it."""
    states: list[str] = []
    """Words such as `checked` or `disabled` that it must have."""

    def contradictions(self) -> Iterator[str]:
        """Everything about it that cannot be meant."""
        if (self.text is None) == (not self.role):
            yield 'it needs either `text` or `role`, such as {"role": "link", "name": "Orders"}'
        elif self.text is not None and (self.name is not None or self.value is not None or self.states):
            yield "`name`, `value` and `states` go with `role`, not with `text`"
        for field_ in ("text", "name", "value"):
            wish = getattr(self, field_)
            if wish is not None and not isinstance(wish, dict) and not (isinstance(wish, str) and wish.strip()):
                yield f"`{field_}` is {wish!r}; expected text or a matcher"
            yield from (f"`{field_}` {problem}" for problem in contradictions(wish))

    def is_on(self, lines: Sequence[Line]) -> bool:
        """Whether a page that says these lines holds it."""
        if self.text is not None:
            return any(_holds(text, self.text) for line in lines for text in line.texts)
        return any(self._is(element) for line in lines for element in line.elements)

    def _is(self, element: Element) -> bool:
        heading = self.role == "heading" and _HEADING.fullmatch(element.role)
        return (
            (element.role == self.role or bool(heading))
            and (self.name is None or matches(self.name, element.name))
            and (self.value is None or matches(self.value, element.value))
            and set(self.states) <= set(element.states)
        )


def read_line(line: str) -> Line:
    """The elements and texts of a line."""
    elements: list[Element] = []
    texts: list[str] = []
    before = option = ""
    for token in _TOKEN.finditer(line):
        said, word = token[1], token[2]
        if said is None:
            if _REFERENCE.fullmatch(before):
                elements.append(Element(word))
            elif elements and word == "selected" and option:
                elements[-1].value = option
            elif elements and before != "->" and _WORD.fullmatch(word):
                elements[-1].states.append(word)
            before = word
            continue
        texts.append(said := _unspelled(said))
        if elements and before == "=":
            elements[-1].value = said
        elif before in ("options", _COMMA):
            option = said
        elif elements and before == elements[-1].role and not elements[-1].states:
            elements[-1].name = said
        elif _WORD.fullmatch(before):
            elements.append(Element(before, said))
        before = _COMMA if token[0].endswith(",") else '"'
    return Line(tuple(elements), (*texts, " ".join(texts)))


def _holds(said: str, wish: object) -> bool:
    if isinstance(wish, dict):
        return matches(wish, said)
    words = " ".join(str(wish).split())
    line = " ".join(said.split())
    # Whole words, and whole numbers: 12.5 is not in 12.50, nor 2.5 in 12.5.
    return re.search(rf"(?<!\w)(?<![0-9][.,]){re.escape(words)}(?!\w|[.,][0-9])", line) is not None


def _unspelled(text: str) -> str:
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN[found[2]], text)
