"""Looking at a tab: our scripts in a world of their own in each frame, and what they say put together.

The world is isolated: it shares the document with the page and nothing else, so a page can neither see our scripts
nor lie to them by changing its own built-ins, and nothing is left in the page. Each frame is asked on its own, for
frames of other origins may live in other processes; what a frame says goes under the line of its element.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from agent_envs.browser._snapshot import Snapshot
from agent_envs.errors import SandboxDied

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession

    from agent_envs.browser._tab import Tab

T = TypeVar("T")
_PARTS = ("dom.js", "names.js", "states.js", "walk.js", "kinds.js", "look.js", "act.js", "rest.js")
_GONE = ("Cannot find context", "context was destroyed", "Inspected target navigated", "uniqueContextId not found")
_WORLD = "agent-envs"
_FRAME = "\x01"
_DEEPEST = 8
_MOST_FRAMES = 60


@dataclass(slots=True)
class Numbers:
    """Where the references of a window begin next; its tabs share one, so that no reference is ever given twice."""

    next: int = 1


@dataclass(slots=True, eq=False)
class View:
    """One frame: how to ask it, and which references are its own."""

    cdp: CDPSession
    frame: str
    parent: View | None = None
    holder: str = ""
    """The reference of its element in the parent."""
    context: int = 0
    """The world of ours in its present document; 0 before the first question."""
    document: int = 0
    """Counts the documents that were seen in it."""
    rested: int = -1
    """The latest of them that was seen to come to rest."""
    owned: list[range] = field(default_factory=list)
    children: dict[str, View] = field(default_factory=dict)
    """By the reference of the frame's element."""

    def owns(self, number: int) -> bool:
        """Whether the reference with this number was given in this frame."""
        return any(number in owned for owned in self.owned)


@dataclass(slots=True, eq=False)
class Sight:
    """What looking keeps of one tab."""

    numbers: Numbers
    main: View

    def views(self) -> list[View]:
        """Every frame that was seen, parents first."""
        found = [self.main]
        for view in found:
            found.extend(view.children.values())
        return found

    def forget(self, first: int) -> None:
        """Give the references from this number on again, as if they had not been given."""
        self.numbers.next = first
        for view in self.views():
            view.owned = [owned for owned in view.owned if owned.start < first]


@cache
def _names() -> tuple[str, str, str]:
    """The names of our object and of our two events, which no page can guess."""
    return tuple(f"{kind}{secrets.token_hex(12)}" for kind in "oat")  # type: ignore[return-value]


@cache
def _source() -> str:
    name, ask, tell = _names()
    here = files("agent_envs.browser")
    text = "\n".join(here.joinpath(part).read_text("utf-8") for part in _PARTS)
    return f"globalThis.{name} = (() => {{ 'use strict';\n{text}\nreturn eyes.start({ask!r}, {tell!r}); }})(); 1"


def init_script(*, seed: int | None, now_ms: int | None) -> str:
    """What runs first in every document of the page's own world: see `init.js`. None leaves chance or time alone."""
    _, ask, tell = _names()
    config = {"ask": ask, "tell": tell, "seed": None if seed is None else seed & 0x7FFFFFFF, "now": now_ms}
    here = files("agent_envs.browser")
    source, clock = (here.joinpath(part).read_text("utf-8") for part in ("init.js", "clock.js"))
    return source.replace("  CLOCK\n", clock).replace("(CONFIG)", f"({json.dumps(config)})")


async def prepare(context: BrowserContext, *, seed: int | None = None, now_ms: int | None = None) -> None:
    """Make every page of a context watchable, before its first page is opened."""
    await context.add_init_script(script=init_script(seed=seed, now_ms=now_ms))


async def follow(tab: Tab) -> None:
    """Have our scripts run in every document that the tab will show, as it is made, which saves asking for it."""
    seen = await sight(tab)

    def navigated(event: dict[str, Any]) -> None:
        for view in seen.views():
            if view.frame == event["frame"]["id"]:
                view.context = 0

    tab.cdp.on("Page.frameNavigated", navigated)
    await tab.cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": _source(), "worldName": _WORLD})


async def sight(tab: Tab) -> Sight:
    """What is kept of this tab, begun where nothing is."""
    found = tab.seen.get("sight")
    if isinstance(found, Sight):
        return found
    numbers = tab.seen.setdefault("numbers", Numbers())
    tree = await tab.cdp.send("Page.getFrameTree")
    tab.seen["sight"] = made = Sight(numbers, View(tab.cdp, tree["frameTree"]["frame"]["id"]))
    return made


async def _evaluate(view: View, expression: str) -> Any:
    answer = await view.cdp.send(
        "Runtime.evaluate",
        {"expression": expression, "contextId": view.context, "returnByValue": True, "awaitPromise": True},
    )
    if "exceptionDetails" in answer:
        what = answer["exceptionDetails"].get("exception", {}).get("description") or answer["exceptionDetails"]["text"]
        raise SandboxDied(f"the page could not be read: {what[:2000]}")
    return answer["result"].get("value")


async def _enter(view: View) -> None:
    """Find the world of ours in the present document of the frame, where our scripts run already or soon will."""
    before = view.context
    world = {"frameId": view.frame, "worldName": _WORLD, "grantUniveralAccess": False}
    view.context = (await view.cdp.send("Page.createIsolatedWorld", world))["executionContextId"]
    if view.context != before:
        view.document += 1
        view.children.clear()


async def ask(view: View, method: str, *arguments: Any) -> Any:
    """Call a method of our object in a frame, in whatever document is there now."""
    from playwright.async_api import Error

    name = _names()[0]
    call = f"{name}.{method}({','.join(json.dumps(argument) for argument in arguments)})"
    for attempt in range(4):
        try:
            if not view.context or attempt:
                await _enter(view)
            answer = await _evaluate(view, f"globalThis.{name} === undefined ? '{name}' : {call}")
            # A document that was there before it could be followed has none of our scripts yet.
            return answer if answer != name else await _evaluate(view, f"{_source()}; {call}")
        except Error as error:
            if attempt == 3 or not any(sign in error.message for sign in _GONE):
                raise
    raise AssertionError("unreachable")


async def ask_numbered(view: View, numbers: Numbers, method: str, *arguments: Any) -> dict[str, Any]:
    """`ask` of a method that may give references: it is told where to begin, and says where it ended.

    It is told as well which of those that it gave have arrived here, since an answer may have been lost or forgotten.
    """
    before = numbers.next
    known = view.owned[-1].stop if view.owned else 0
    answer: dict[str, Any] = await ask(view, method, [before, known], *arguments)
    numbers.next = max(before, int(answer.get("next", before)))
    if numbers.next > before:
        view.owned.append(range(before, numbers.next))
    return answer


async def look(tab: Tab, *, rest_s: float = 0) -> Snapshot:
    """Everything that a reader of the tab can know, in its text form: now, or once the main frame rests.

    Raises `TimeoutError` where that takes longer than `rest_s`.
    """
    seen = await sight(tab)
    how = ("rested", rest_s * 1000) if rest_s else ("look",)
    answer = await ask_numbered(seen.main, seen.numbers, *how)
    if (said := answer.get("said", "quiet")) != "quiet":
        raise TimeoutError(said)
    lines = answer["text"].split("\n") if answer["text"] else []
    if answer["frames"]:
        budget = [_MOST_FRAMES]
        lines = await _with_frames(tab, seen, seen.main, lines, budget)
    scroll = answer["scroll"]
    return Snapshot(
        url=answer["url"],
        title=answer["title"],
        lines=tuple(lines),
        scroll=(scroll[0], scroll[1]) if scroll else None,
        document=seen.main.document,
    )


async def drawn(tab: Tab, frames: int) -> None:
    """Wait until the main frame has been drawn so many times."""
    await ask((await sight(tab)).main, "drawn", frames)


async def _with_frames(tab: Tab, seen: Sight, view: View, lines: list[str], budget: list[int]) -> list[str]:
    """The lines of a frame, those of its inner frames put in their places."""
    found: list[str] = []
    for line in lines:
        said, mark, holder = line.partition(_FRAME)
        found.append(said)
        if not mark:
            continue
        budget[0] -= 1
        inner = await child(tab, view, holder) if budget[0] >= 0 else None
        indent = " " * (len(said) - len(said.lstrip(" ")) + 2)
        inside = await _inside(tab, seen, inner, budget) if inner else None
        if inside is None:
            inside = ["(what is in this frame is not shown)"]
        found.extend(indent + one.partition(_FRAME)[0] for one in inside)
    return found


async def _inside(tab: Tab, seen: Sight, view: View, budget: list[int]) -> list[str] | None:
    """The lines of an inner frame; None where it goes away meanwhile."""
    from playwright.async_api import Error

    try:
        answer = await ask_numbered(view, seen.numbers, "look")
    except Error:
        if tab.page.is_closed():
            raise
        if view.parent is not None:
            view.parent.children.pop(view.holder, None)
        return None
    lines = answer["text"].split("\n") if answer["text"] else []
    if answer["frames"] and depth(view) < _DEEPEST:
        return await _with_frames(tab, seen, view, lines, budget)
    return lines


def depth(view: View) -> int:
    """How many frames a frame is in."""
    return 0 if view.parent is None else 1 + depth(view.parent)


async def child(tab: Tab, view: View, holder: str) -> View | None:
    """The frame in an element of another frame; None while it has no document that can be asked."""
    if holder not in view.children:
        await _find_children(tab, view)
    return view.children.get(holder)


async def _find_children(tab: Tab, view: View) -> None:
    """Match the frames that the browser knows with the elements that hold them."""
    from playwright.async_api import Error

    known = {inner.frame for inner in view.children.values()}
    for frame, cdp in [*await _local_frames(view), *await _foreign_frames(tab)]:
        if frame in known:
            continue
        try:
            owner = await view.cdp.send("DOM.getFrameOwner", {"frameId": frame})
            where = {"backendNodeId": owner["backendNodeId"], "executionContextId": view.context}
            node = (await view.cdp.send("DOM.resolveNode", where))["object"]["objectId"]
            code = f"function() {{ return {_names()[0]}.registry.refs.get(this) || '' }}"
            said = await view.cdp.send(
                "Runtime.callFunctionOn", {"objectId": node, "functionDeclaration": code, "returnByValue": True}
            )
        except Error:
            continue  # An element of another frame, or one that has gone meanwhile.
        if holder := said["result"].get("value"):
            view.children[holder] = View(cdp, frame, view, holder)


async def _local_frames(view: View) -> list[tuple[str, CDPSession]]:
    """The frames inside of this one that live in the same process."""
    tree = (await view.cdp.send("Page.getFrameTree"))["frameTree"]
    found = [tree]
    for one in found:
        found.extend(one.get("childFrames", []))
    return [(one["frame"]["id"], view.cdp) for one in found if one["frame"].get("parentId") == view.frame]


async def _foreign_frames(tab: Tab) -> list[tuple[str, CDPSession]]:
    """The frames of the tab that live in processes of their own."""
    from playwright.async_api import Error

    sessions = tab.seen.setdefault("foreign", {})
    for frame in tab.page.frames[1:]:
        if frame in sessions:
            continue
        try:
            cdp = await tab.page.context.new_cdp_session(frame)
            tree = await cdp.send("Page.getFrameTree")
        except Error:
            continue  # It lives in the process of its parent, or has gone.
        sessions[frame] = (tree["frameTree"]["frame"]["id"], cdp)
    return list(sessions.values())
