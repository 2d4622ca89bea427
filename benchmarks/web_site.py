"""The pages that browsers look at in the benchmark, as a site of ours, and a way to it for browsers of others."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from agent_envs.sites import FolderSite, Gateway, World, begin
from agent_envs.tasks import Task

HOST = "pages.test"
SIZES = (50, 500, 5000)
SAMPLE = "sample.html"
_KEPT = Path(__file__).parents[1] / "tests" / "browser" / "pages"
_ROW = (
    '<tr><td>Item {0}</td><td><a href="/item/{0}">View item {0}</a></td>'
    '<td><input aria-label="Qty {0}" value="{1}"></td><td><button>Buy {0}</button></td></tr>'
)


def listing(size: int) -> str:
    """A table of about `size` elements, four of a row's eight for a person to act on or to read."""
    rows = "".join(_ROW.format(number, number % 7) for number in range((size - 2) // 8))
    return f"<!doctype html><title>P{size}</title><body><h1>List {size}</h1><table>{rows}</table></body>"


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="benchmark-pages-")
    for file in _KEPT.iterdir():
        (Path(folder.name) / file.name).write_bytes(file.read_bytes())
    for size in SIZES:
        (Path(folder.name) / name(size)).write_text(listing(size), encoding="utf-8")
    return folder


PAGES = FolderSite(HOST, lambda: Path(_folder().name))
ADS = FolderSite("b.test", lambda: _KEPT)
"""Another origin, for a frame that lives in a process of its own."""


def name(size: int) -> str:
    """The file of a listing."""
    return f"p{size}.html"


def url(page: str) -> str:
    """The address of a page, the same for every browser."""
    return f"http://{HOST}/{page}"


def page_task(page: str) -> Task:
    """A task that begins on a page, and asks for nothing."""
    return Task(
        id=page,
        prompt="Look.",
        kind="web",
        setup={"sites": [f"{__name__}:PAGES", f"{__name__}:ADS"], "start": url(page)},
        secret={"checks": [{"check": "infeasible"}]},
    )


@contextmanager
def proxy() -> Iterator[str]:
    """The address of a proxy that answers for these pages, for as long as the block lasts."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    visits = {site.host: begin(site, World()) for site in (PAGES, ADS)}
    gateway = asyncio.run_coroutine_threadsafe(Gateway().open(), loop).result(timeout=10)
    gateway.serve(visits)
    try:
        yield f"http://127.0.0.1:{gateway.port}"
    finally:
        asyncio.run_coroutine_threadsafe(gateway.close(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()
