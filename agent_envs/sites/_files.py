"""A site that serves the files of a folder and remembers nothing."""

from __future__ import annotations

import mimetypes
import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent_envs.errors import ConfigError
from agent_envs.sites._site import ASGIApp, Message, World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_LARGEST_KEPT = 256


class FolderSite:
    """The regular files below a folder, under one host name. They are read once and must not change."""

    unjudged: frozenset[str] = frozenset()

    def __init__(self, host: str, folder: Callable[[], Path]) -> None:
        """`folder` says where it is, once somebody visits."""
        if not isinstance(host, str) or not callable(folder):
            raise ConfigError(
                f"the host is {host!r} and the folder {folder!r}; expected a text, and a function of none"
            )
        self.host = host
        self._find = folder
        self._read = lru_cache(maxsize=_LARGEST_KEPT)(self._read_file)

    @property
    def app(self) -> ASGIApp:
        return self._answer

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        """Nothing: a folder has no database."""

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        """None: nobody signs in."""
        return {}

    async def _answer(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        content = self._read(scope["path"])
        kind = mimetypes.guess_type(scope["path"])[0] or "application/octet-stream"
        charset = "; charset=utf-8" if kind.startswith("text/") else ""
        status, body = (200, content) if content is not None else (404, b"There is no such file.")
        headers = [(b"content-type", f"{kind}{charset}".encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _folder(self) -> Path:
        found: object = self._find()
        if not isinstance(found, Path):
            raise ConfigError(f"the folder of {self.host} is {found!r}; expected a function that returns a Path")
        return found.resolve()

    def _read_file(self, path: str) -> bytes | None:
        folder = self._folder()
        try:
            file = (folder / unquote(path).lstrip("/")).resolve()
            return file.read_bytes() if file.is_relative_to(folder) and file.is_file() else None
        except (OSError, ValueError):
            return None
