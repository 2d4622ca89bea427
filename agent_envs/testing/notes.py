"""A site of one page, for tests of what visits sites: notes that can be written, ticked and thrown away."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from html import escape
from urllib.parse import parse_qsl

from agent_envs.sites import VISIT, ASGIApp, Message, Visit, World
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import ToolCall


class NotesSite:
    """`http://notes.test/`: a list of notes and a form; as many notes as the world's seed says are there at first."""

    host = "notes.test"
    unjudged = frozenset({"sessions"})

    @property
    def app(self) -> ASGIApp:
        return _answer

    def populate(self, database: sqlite3.Connection, world: World) -> None:
        """The notes, and nobody signed in."""
        database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, done INTEGER DEFAULT 0)")
        database.execute("CREATE TABLE sessions (token TEXT PRIMARY KEY, user TEXT)")
        notes = [(f"note {number}",) for number in range(1, world.seed + 1)]
        database.executemany("INSERT INTO notes (text) VALUES (?)", notes)

    def cookies(self, database: sqlite3.Connection, world: World) -> dict[str, str]:
        """One session for the user of the world."""
        if not world.user:
            return {}
        database.execute("INSERT INTO sessions VALUES ('token', ?)", [world.user])
        return {"session": "token"}


async def _answer(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    visit = scope[VISIT]
    assert isinstance(visit, Visit)
    body = (await receive())["body"]
    fields = dict(parse_qsl(body.decode() if isinstance(body, bytes) else ""))
    path = str(scope["path"])
    status, headers, page = 200, [(b"content-type", b"text/html; charset=utf-8")], ""
    if path == "/fault":
        raise ZeroDivisionError("the site has a mistake")
    if scope["method"] == "POST":
        _change(visit.database, path, fields)
        status, headers = 303, [(b"location", b"/")]
    else:
        page = _page(visit)
    content = page.encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, (b"content-length", b"%d" % len(content))],
        }
    )
    await send({"type": "http.response.body", "body": content})


def _change(database: sqlite3.Connection, path: str, fields: dict[str, str]) -> None:
    if path == "/add" and fields.get("text"):
        database.execute("INSERT INTO notes (text) VALUES (?)", [fields["text"]])
    elif path == "/tick":
        database.execute("UPDATE notes SET done = 1 WHERE id = ?", [fields.get("id")])
    elif path == "/delete":
        database.execute("DELETE FROM notes WHERE id = ?", [fields.get("id")])


def _page(visit: Visit) -> str:
    rows = visit.database.execute("SELECT id, text, done FROM notes ORDER BY id")
    user = visit.database.execute("SELECT user FROM sessions").fetchone()
    items = "".join(
        f"<li>{escape(text)}{' (done)' if done else ''} "
        + "".join(
            f"<form method=post action=/{act}><input type=hidden name=id value={number}>"
            f"<button aria-label='{act.title()} {escape(text, quote=True)}'>{act}</button></form>"
            for act in ("tick", "delete")
        )
        for number, text, done in rows
    )
    return (
        "<!doctype html><html lang=en><title>Notes</title><main><h1>Notes</h1>"
        f"<p>{escape(user[0]) if user else 'nobody'}, {visit.now:%A %d %B %Y}<ul aria-label=Notes>{items}</ul>"
        "<form method=post action=/add><label>New note <input name=text></label><button>Add</button></form>"
    )


NOTES = NotesSite()


def notes_tasks(count: int = 3) -> TaskSet:
    """Tasks on `NOTES`, numbered from 1: write a note, with so many others there."""
    return TaskSet.of("notes", [_task(number) for number in range(1, count + 1)])


def _task(number: int) -> Task:
    text = f"buy {number} eggs"
    add = (
        ToolCall("type", {"text": text, "element_id": 'textbox "New note"'}),
        ToolCall("click", {"element_id": 'button "Add"'}),
    )
    tick = ToolCall("click", {"element_id": 'button "Tick note 1"'})
    done = ToolCall("submit", {})
    return Task(
        id=f"notes/{number}",
        prompt=f"Write a note that says: {text}",
        kind="web",
        setup={"sites": [f"{__name__}:NOTES"], "start": "http://notes.test/", "world": {"seed": number, "user": "Ada"}},
        secret={
            "checks": [
                {
                    "check": "rows",
                    "host": "notes.test",
                    "wanted": [{"table": "notes", "kind": "added", "count": 1, "where": {"text": text, "done": 0}}],
                }
            ]
        },
        solution=(*add, done),
        wrong=((done,), (*add, tick, done), (*add, *add, done)),
    )
