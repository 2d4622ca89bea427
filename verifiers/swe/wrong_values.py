"""Wrong values that look as plausible as the right ones: what twins expect."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

_OTHER_ERRORS = (
    *("AttributeError", "EOFError", "FileExistsError", "ImportError", "IndexError", "IsADirectoryError"),
    *(
        "NotImplementedError",
        "OverflowError",
        "PermissionError",
        "TimeoutError",
        "UnicodeDecodeError",
        "ZeroDivisionError",
    ),
)
"""What a test may well wait for, but code that does something else hardly raises in its place."""
_LONG_ENOUGH = 8
"""Letters of which nobody happens to say all but two."""
_NOUNS = (
    *("anchor", "barrel", "candle", "desert", "engine", "feather", "garden", "harbour", "island", "jacket", "kettle"),
    *("lantern", "meadow", "needle", "orchard", "pepper", "quarry", "ribbon", "saddle", "timber", "velvet", "willow"),
)


def other_value(value: object, rng: random.Random) -> str:
    """Source of a different value of the same kind; empty where there is none that looks as plausible."""
    match value:
        case bool():
            return repr(not value)
        case int():
            return repr(value + rng.choice([1, 2, 3] if value < 3 else [-2, -1, 1, 2]))
        case float():
            return repr(round(value * rng.choice([1.5, 2.0]) + rng.choice([0.25, 0.5]), 6))
        case str():
            return _quoted(_other_text(value, rng))
        case bytes():
            return repr(_other_text(value.decode("latin-1"), rng).encode("latin-1", "replace"))
    return ""


def _quoted(text: str) -> str:
    """As most sources quote: a twin must not be told by its quotation marks."""
    plain = repr(text)
    return plain if '"' in text or "\\" in plain else f'"{plain[1:-1]}"'


def _other_text(text: str, rng: random.Random) -> str:
    """The text with one letter or digit exchanged for another of its kind, or one more letter where it has none."""
    places = [position for position, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
    if not places:
        return text + rng.choice("abcdefg")
    position = rng.choice(places)
    kinds: list[Callable[[str], bool]] = [str.isdigit, str.islower, str.isupper]
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    same = next((kind for kind in kinds if kind(text[position])), str.isalnum)
    letter = rng.choice([letter for letter in alphabet if same(letter) and letter != text[position]])
    return text[:position] + letter + text[position + 1 :]


def unlikely(value: object, rng: random.Random) -> str:
    """Source of a value that no honest answer contains; empty where there is none of this kind."""
    match value:
        case bool():
            return ""
        case int():
            return repr(value + rng.randrange(7_000, 90_000))
        case str() if len(value) < _LONG_ENOUGH:
            return _quoted(f"{value} {rng.choice(_NOUNS)}" if " " in value else f"{value}{rng.choice(_NOUNS)}")
        case str():
            once = _other_text(value, rng)
            return _quoted(next(twice for _ in range(1000) if (twice := _other_text(once, rng)) not in (value, once)))
    return ""


def other_error(expected: ast.expr, rng: random.Random) -> str:
    """The name of an exception that has nothing to do with the expected one."""
    return rng.choice([name for name in _OTHER_ERRORS if name != getattr(expected, "id", "")])
