"""Acting on a tab: what is asked is checked in the page first and answered at once; then comes trusted input.

An element is named by its reference (`e12`) or by role and name (`button "Buy"`), where exactly one fits. These
coroutines neither settle nor look; where a dialog opens, the page stops, and whoever waits for one may be cancelled.
"""

from __future__ import annotations

import asyncio
import base64
import math
import mimetypes
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agent_envs.browser._eyes import Sight, View, ask, ask_numbered, look, sight
from agent_envs.browser._keys import chord, modifiers_of, no_key
from agent_envs.errors import ToolFailed

if TYPE_CHECKING:
    from agent_envs.browser._tab import Tab

Button = Literal["left", "middle", "right"]
_REFERENCE = re.compile(r"\s*\[?(e([0-9]{1,15}))\]?(?:\s|$)")
_NAMED = re.compile(r'\s*([A-Za-z]+)\s+"((?:[^"\\]|\\.)*)"')
_SPELLED = re.compile(r'\\(?:u\{((?:10|0?[0-9a-f])?[0-9a-f]{1,4})\}|(["\\nt]))')
_PLAIN = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_KEYS_AT_MOST = 300
"""A longer text is put in at once, as if pasted; keys are pressed for a shorter one."""
_HOVER_PAUSES_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_BEYOND_PX = 2.0
_DIRECTIONS = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}


class Found:
    """An element, in the frame that it is in."""

    def __init__(self, seen: Sight, view: View, ref: str, called: str) -> None:
        self.seen, self.view, self.ref, self.called = seen, view, ref, called

    async def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Ask the frame about the element; what is wrong with it is raised for the agent to read."""
        answer = await ask_numbered(self.view, self.seen.numbers, method, self.ref, *arguments)
        _refuse(answer, self.called)
        return answer


def _refuse(answer: Mapping[str, Any], called: str) -> None:
    if why := answer.get("why"):
        raise ToolFailed(f"cannot act on {called}: {why}")
    if not (bad := answer.get("bad")):
        return
    near = f"; what is there now: {', '.join(answer['near'])}" if answer.get("near") else "; look at the page again"
    was = f" ({answer['was']})" if answer.get("was") else ""
    raise ToolFailed(f"{called}{was} is {'no longer on the page' if bad == 'gone' else 'not on the page'}{near}")


async def locate(tab: Tab, element: str) -> Found:
    """The one element that is meant; raises `ToolFailed` where there is none, or more than one."""
    seen = await sight(tab)
    if reference := _REFERENCE.match(element):
        ref, number = reference[1], int(reference[2])
        view = next((view for view in seen.views() if view.owns(number)), None)
        if view is None and number >= seen.numbers.next:
            raise ToolFailed(f"there is no element {ref}: {_range(seen)}; look at the page, or name a role and a name")
        return Found(seen, view or seen.main, ref, f"[{ref}]")
    named = _NAMED.match(element)
    if not named:
        raise ToolFailed(
            f"{element[:200]!r} names no element; expected a reference such as e12, "
            'or a role and a name such as button "Buy"'
        )
    return await _by_name(tab, seen, named[1].lower(), _unspelled(named[2]))


def _range(seen: Sight) -> str:
    return f"references end at e{seen.numbers.next - 1}" if seen.numbers.next > 1 else "nothing was looked at yet"


def _unspelled(text: str) -> str:
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN[found[2]], text)


async def _by_name(tab: Tab, seen: Sight, role: str, name: str) -> Found:
    called = f'{role} "{name}"'
    first = await ask_numbered(seen.main, seen.numbers, "match", role, name)
    if first["frames"] and len(seen.views()) == 1:
        await look(tab)  # Frames are known once they were looked at.
    fits: list[tuple[View, list[str]]] = []
    near: list[str] = []
    for view in seen.views():
        answer = first if view is seen.main else await ask_numbered(view, seen.numbers, "match", role, name)
        fits += [(view, one) for one in answer["exact"]]
        near += [" ".join([f"[{ref}]", kind, said]).strip() for ref, kind, said in answer["near"]]
    if len(fits) == 1:
        view, (ref, _, _) = fits[0]
        return Found(seen, view, ref, f"[{ref}] {called}")
    if fits:
        refs = ", ".join(f"[{ref}]" for _, (ref, _, _) in fits)
        raise ToolFailed(f"{len(fits)} elements are {called}: {refs}; name one of them by its reference")
    raise ToolFailed(f"there is no {called} on the page{'; similar: ' + ', '.join(near[:5]) if near else ''}")


async def _point(found: Found, *, able: bool = True) -> tuple[float, float]:
    """Where to press, in the window's coordinates."""
    answer = await found.ask("aim", able)
    return await _outwards(found, answer["x"], answer["y"])


async def _outwards(found: Found, x: float, y: float) -> tuple[float, float]:
    view = found.view
    while view.parent is not None:
        answer = await ask_numbered(view.parent, found.seen.numbers, "through", view.holder, x, y)
        _refuse(answer, found.called)
        x, y, view = answer["x"], answer["y"], view.parent
    return x, y


async def click(
    tab: Tab, element: str, *, button: Button = "left", modifiers: Sequence[str] = (), double: bool = False
) -> None:
    """Click an element with the mouse."""
    held = modifiers_of(modifiers)
    x, y = await _hovered(tab, await locate(tab, element))
    for key in held:
        await tab.page.keyboard.down(key)
    try:
        await tab.page.mouse.click(x, y, button=button, click_count=2 if double else 1)
    finally:
        for key in held:
            await tab.page.keyboard.up(key)


async def _hovered(tab: Tab, found: Found) -> tuple[float, float]:
    """Where to press once the mouse is there: what it hovers over may move, or be covered, or load another picture.

    A document in which nothing of that can be is not asked twice: the mouse is seen to come at the next frame of the
    display, and a frame takes 17 ms.
    """
    answer = await found.ask("aim", True)
    at = await _outwards(found, answer["x"], answer["y"])
    if answer["calm"] and found.view.parent is None:
        return at
    first = found.seen.numbers.next
    for pause in _HOVER_PAUSES_S:
        await tab.page.mouse.move(*at)
        await asyncio.sleep(pause)
        try:
            now = await _point(found)
        except ToolFailed:
            if pause == _HOVER_PAUSES_S[-1]:
                raise
            found.seen.forget(first)
            continue
        if now == at:
            return at
        at = now
    return at


async def hover(tab: Tab, element: str) -> None:
    """Move the mouse over an element."""
    x, y = await _point(await locate(tab, element), able=False)
    await tab.page.mouse.move(x, y)


async def type_text(tab: Tab, element: str, text: str, *, clear: bool = True, submit: bool = False) -> None:
    """Type into an element, or into what has the focus; in place of what is there or after it; then perhaps Enter."""
    keyboard = tab.page.keyboard
    if element:
        ready = await (await locate(tab, element)).ask("ready", text, clear)
    else:
        ready = {"keys": text, "empty": False}
        if clear:
            await keyboard.press("ControlOrMeta+a")
    if "keys" in ready:
        text = ready["keys"]
        if clear and not text and not ready["empty"]:
            await keyboard.press("Delete")
        elif len(text) <= _KEYS_AT_MOST:
            await keyboard.type(text)
        else:
            await keyboard.insert_text(text)
    if submit:
        await keyboard.press("Enter")


async def press(tab: Tab, keys: str, element: str = "") -> None:
    """Press a key or a chord (`Enter`, `Control+A`), on an element or on what has the focus."""
    from playwright.async_api import Error

    pressed = chord(keys)
    if element:
        await (await locate(tab, element)).ask("focus")
    try:
        await tab.page.keyboard.press(pressed)
    except Error as error:
        if "Unknown key" not in error.message:
            raise
        raise no_key(keys) from None


async def select_option(tab: Tab, element: str, values: Sequence[str]) -> None:
    """Choose options of a native list by what they say, or by their values."""
    await (await locate(tab, element)).ask("choose", list(values))


async def set_checked(tab: Tab, element: str, checked: bool) -> None:
    """Click a checkbox, radio button or switch, unless it is as wanted already."""
    found = await locate(tab, element)
    state = await found.ask("checked")
    if state["on"] == checked:
        return
    if state["radio"] and not checked:
        raise ToolFailed(f"cannot uncheck {found.called}: of radio buttons, check another one instead")
    await tab.page.mouse.click(*await _point(found))
    first = found.seen.numbers.next
    try:
        after = await found.ask("checked")
    except ToolFailed:
        # The click has sent the form or redrawn the list: the box that was clicked is gone. What was numbered to say
        # so is there in one run and not in another.
        found.seen.forget(first)
        return
    if after["on"] != checked:
        raise ToolFailed(f"{found.called} was clicked, and is {'checked' if after['on'] else 'unchecked'} still")


async def drag(tab: Tab, element: str, *, to: str = "", dx: float = 0, dy: float = 0) -> None:
    """Drag an element onto another one, or by a distance in pixels."""
    found = await locate(tab, element)
    if not to:
        x, y = await _point(found, able=False)
        await mouse_drag(tab, x, y, x + dx, y + dy)
        return
    target = await locate(tab, to)
    await _point(found, able=False)
    # Where one of them was scrolled into view, the other one has moved.
    end = await _point(target, able=False)
    start = await _point(found, able=False)
    await mouse_drag(tab, *start, _beyond(start[0], end[0]), _beyond(start[1], end[1]))


def _beyond(start: float, end: float) -> float:
    """A little further than to there: lists that sort themselves want more than the middle to be passed."""
    return end + math.copysign(min(_BEYOND_PX, abs(end - start)), end - start)


async def mouse_click(tab: Tab, x: float, y: float, *, button: Button = "left") -> None:
    """Click at a point of the window."""
    await tab.page.mouse.click(x, y, button=button)


async def mouse_drag(tab: Tab, x: float, y: float, to_x: float, to_y: float) -> None:
    """Press at a point of the window, move to another one in steps, and let go."""
    mouse = tab.page.mouse
    await mouse.move(x, y)
    await mouse.down()
    try:
        await mouse.move(to_x, to_y, steps=8)
    finally:
        await mouse.up()


async def scroll(tab: Tab, direction: str, element: str = "", *, amount: float = 0.8) -> str:
    """Scroll the page, or what scrolls around an element, by a share of what is visible; says where it is now."""
    if direction not in _DIRECTIONS:
        raise ToolFailed(f"{direction!r} is no direction; there are {', '.join(_DIRECTIONS)}")
    dx, dy = (step * amount for step in _DIRECTIONS[direction])
    if element:
        answer = await (await locate(tab, element)).ask("scroll", dx, dy)
    else:
        seen = await sight(tab)
        answer = await ask_numbered(seen.main, seen.numbers, "scroll", "", dx, dy)
    if answer["after"] == answer["before"]:
        raise ToolFailed(f"it cannot be scrolled {direction}: it is at {answer['after']} of {answer['most']} px")
    return f"scrolled to {answer['after']} of {answer['most']} px"


async def select_text(tab: Tab, element: str, text: str = "") -> None:
    """Select a text inside an element, or all that it holds."""
    await (await locate(tab, element)).ask("select", text)


async def upload_file(tab: Tab, element: str, contents: Mapping[str, bytes]) -> None:
    """Give files to a file input, as if they had been chosen."""
    sent = [
        (name, mimetypes.guess_type(name)[0] or "application/octet-stream", base64.b64encode(content).decode())
        for name, content in contents.items()
    ]
    await (await locate(tab, element)).ask("files", sent)


async def marks(tab: Tab) -> dict[str, tuple[float, float, float, float]]:
    """Where each reference that can be seen is: left, top, width and height in the window."""
    seen = await sight(tab)
    found: dict[str, tuple[float, float, float, float]] = {}
    begins = {seen.main: (0.0, 0.0)}
    for view in seen.views():
        if view.parent is not None:
            x, y = await ask(view.parent, "inside", view.holder)
            begins[view] = (begins[view.parent][0] + x, begins[view.parent][1] + y)
        left, top = begins[view]
        for ref, x, y, width, height in await ask(view, "marks"):
            found[ref] = (left + x, top + y, width, height)
    return found
