"""What a cell can hold: a number, a text, a truth value, nothing, or a fault."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Why a formula has no value, in the words of spreadsheets."""

    code: str

    def __str__(self) -> str:
        return self.code


DIVISION = Fault("#DIV/0!")
WRONG_KIND = Fault("#VALUE!")
NO_FUNCTION = Fault("#NAME?")

Value = float | str | bool | Fault | None


def from_text(text: str) -> Value:
    """What a text without a leading `=` stands for."""
    if text.startswith("'"):
        return text[1:]
    if text.strip().upper() in ("TRUE", "FALSE"):
        return text.strip().upper() == "TRUE"
    try:
        number = float(text)
    except ValueError:
        return text or None
    # float() also reads "nan", "infinity" and "1_000", which are words to everybody else.
    return number if text.strip().strip("+-")[:1] in set(".0123456789") and "_" not in text else text


def to_number(value: Value) -> float | Fault:
    """The value as an operand of arithmetic."""
    if isinstance(value, str):
        found = from_text(value)
        return found if type(found) is float else WRONG_KIND
    if isinstance(value, Fault):
        return value
    return float(value or 0)


def to_text(value: Value) -> str:
    """The value as people read it: whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
