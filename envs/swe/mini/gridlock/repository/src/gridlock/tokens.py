"""The words of a formula, each with its place, so that a formula can also be rewritten word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gridlock.errors import FormulaError

_WORDS = {
    "space": r"\s+",
    "number": r"\d+(?:\.\d*)?|\.\d+",
    "text": r'"(?:[^"]|"")*"',
    "fault": r"#(?:DIV/0!|VALUE!|NAME\?|REF!)",
    "cell": r"\$?[A-Za-z]{1,3}\$?[1-9][0-9]{0,5}(?![A-Za-z0-9_(])",
    "name": r"[A-Za-z_][A-Za-z0-9_]*",
    "sign": r"<>|<=|>=|[-+*/^&=<>(),:]",
}
_WORD = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _WORDS.items()))


@dataclass(frozen=True)
class Token:
    """A word of a formula: its kind, its text, and where it starts."""

    kind: str
    text: str
    position: int


def tokens(formula: str) -> Iterator[Token]:
    """Every word of a formula without its `=`, spaces included, and one of kind `end`."""
    position = 0
    while position < len(formula):
        match = _WORD.match(formula, position)
        if match is None:
            raise FormulaError(f"unexpected {formula[position]!r}", position)
        yield Token(match.lastgroup or "", match[0], position)
        position = match.end()
    yield Token("end", "", position)
