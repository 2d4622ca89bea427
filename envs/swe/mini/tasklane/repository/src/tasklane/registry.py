"""Handlers by kind of job."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from tasklane.errors import UnknownHandler

Handler = Callable[[Any], Any]


class Registry:
    """Which function does which kind of job."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    def handler(self, kind: str) -> Callable[[Handler], Handler]:
        """Register the decorated function; `ValueError` where the kind is taken."""

        def register(function: Handler) -> Handler:
            if kind in self._handlers:
                raise ValueError(f"{kind!r} has a handler already")
            self._handlers[kind] = function
            return function

        return register

    def __getitem__(self, kind: str) -> Handler:
        if kind not in self._handlers:
            near = get_close_matches(kind, self._handlers, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownHandler(f"no handler for {kind!r}{hint}")
        return self._handlers[kind]
