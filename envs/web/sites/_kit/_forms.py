"""What a form sent: text fields, read with their limits and with one list of what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.requests import Request


@dataclass(slots=True)
class Form:
    """The fields of a form, and by field name what is wrong with them, in words for the person who filled it in."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The last value of a field without the space around it; empty where there is none."""
        values = self.fields.get(name)
        return values[-1].strip() if values else ""

    def texts(self, name: str) -> list[str]:
        """All values of a field."""
        return self.fields.get(name, [])

    def number(self, name: str, default: int = 0) -> int:
        """The value as a whole number, or `default` where it is none."""
        text = self.text(name)
        return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else default

    def values(self) -> dict[str, str]:
        """The last value of every field, to fill the form in again."""
        return {name: values[-1] for name, values in self.fields.items()}

    def need(self, name: str, label: str, *, most: int = 100, matches: str = "", hint: str = "") -> str:
        """The value of a field that must be there; else an error is noted."""
        value = self.text(name)
        if not value:
            self.errors[name] = f"Enter {label}."
        elif len(value) > most:
            self.errors[name] = f"{label[:1].upper()}{label[1:]} can have at most {most} characters."
        elif matches and not re.fullmatch(matches, value):
            self.errors[name] = hint or f"Enter {label} in the right form."
        return value

    def choose(self, name: str, label: str, options: tuple[str, ...] | list[str]) -> str:
        """The value of a field that must be one of the options; else an error is noted."""
        value = self.text(name)
        if value not in options:
            self.errors[name] = f"Choose {label}."
        return value


async def read_form(request: Request) -> Form:
    """The fields of a URL-encoded form."""
    return form_of((await request.body()).decode("utf-8", "replace"))


def form_of(encoded: str) -> Form:
    """The fields of a query or of a form's body."""
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(encoded, keep_blank_values=True):
        fields.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\0", ""))
    return Form(fields)
