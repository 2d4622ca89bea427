"""Values as the types that callers ask for; `ValueError` says what was expected."""

from __future__ import annotations

from typing import Any

from confetti.interpolate import text_of

WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def to_str(value: Any) -> str:
    if isinstance(value, (str, int, float)):
        return text_of(value)
    raise ValueError("a text")


def to_int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    raise ValueError("an integer")


def to_float(value: Any) -> float:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    raise ValueError("a number")


def to_bool(value: Any) -> bool:
    if isinstance(value, (str, int)):
        word = text_of(value).strip().lower()
        if word in WORDS:
            return WORDS[word]
    raise ValueError(f"one of {', '.join(WORDS)}")


def to_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")] if value.strip() else []
    raise ValueError("a list")
