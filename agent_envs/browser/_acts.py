"""What a person does in a window: looks at it, clicks, types, waits. The synchronous face of `_eyes` and `_hands`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from agent_envs.browser import _hands as hands
from agent_envs.browser._desk import Desk, Done, Interrupted
from agent_envs.browser._eyes import drawn, look
from agent_envs.browser._hands import Button
from agent_envs.browser._marks import marked
from agent_envs.browser._snapshot import Snapshot
from agent_envs.browser._tab import Tab
from agent_envs.browser._tabs import describe
from agent_envs.errors import ToolFailed

T = TypeVar("T")
_BETWEEN_LOOKS_S = 0.05
_LONGEST_WAIT_S = 30.0


class Acting:
    """The part of a window that acts on the page in front. An element is a reference, or a role and a name."""

    def look(self) -> Snapshot:
        """What there is to see in the front tab, once it has come to rest."""
        return self._run(self._open_desk().view())

    def shown(self, act: Callable[[], Done]) -> Done:
        """Act in this window, and look where that ends: one question to the page instead of two."""
        desk = self._open_desk()
        desk.looking = True
        try:
            return act()
        finally:
            desk.looking = False

    def click(
        self, element: str, *, button: Button = "left", modifiers: Sequence[str] = (), double: bool = False
    ) -> Done:
        """Click an element with the mouse, holding keys such as `Shift`."""
        return self._act(lambda tab: hands.click(tab, element, button=button, modifiers=modifiers, double=double))

    def type(self, element: str, text: str, *, clear: bool = True, submit: bool = False) -> Done:
        """Type into a field, in place of what it holds or after it; then press Enter, where `submit` says so."""
        return self._act(lambda tab: hands.type_text(tab, element, text, clear=clear, submit=submit))

    def press(self, keys: str, element: str = "") -> Done:
        """Press a key or a chord, such as `Enter` or `Control+A`, on an element or on what has the focus."""
        return self._act(lambda tab: hands.press(tab, keys, element))

    def select_option(self, element: str, values: Sequence[str]) -> Done:
        """Choose options of a native list, by what they say or by their values."""
        return self._act(lambda tab: hands.select_option(tab, element, values))

    def set_checked(self, element: str, checked: bool) -> Done:
        """Check or uncheck a checkbox, radio button or switch."""
        return self._act(lambda tab: hands.set_checked(tab, element, checked))

    def hover(self, element: str) -> Done:
        """Move the mouse over an element."""
        return self._act(lambda tab: hands.hover(tab, element))

    def drag(self, element: str, *, to: str = "", dx: float = 0, dy: float = 0) -> Done:
        """Drag an element onto another one, or by a distance in pixels."""
        return self._act(lambda tab: hands.drag(tab, element, to=to, dx=dx, dy=dy))

    def scroll(self, direction: str, element: str = "", *, amount: float = 0.8) -> Done:
        """Scroll the page, or what scrolls around an element, by a share of what is visible."""
        return self._act(lambda tab: hands.scroll(tab, direction, element, amount=amount))

    def select_text(self, element: str, text: str = "") -> Done:
        """Select a text inside an element, or all of it."""
        return self._act(lambda tab: hands.select_text(tab, element, text))

    def upload_file(self, element: str, files: Mapping[str, bytes]) -> Done:
        """Give files, by name, to a file input."""
        return self._act(lambda tab: hands.upload_file(tab, element, files))

    def mouse_click(self, x: float, y: float, *, button: Button = "left") -> Done:
        """Click at a point of the window."""
        return self._act(lambda tab: hands.mouse_click(tab, x, y, button=button))

    def mouse_drag(self, x: float, y: float, to_x: float, to_y: float) -> Done:
        """Press at a point of the window, move to another one, and let go."""
        return self._act(lambda tab: hands.mouse_drag(tab, x, y, to_x, to_y))

    def wait_for(self, *, text: str = "", gone: str = "", seconds: float | None = None, frames: int = 0) -> Done:
        """Wait until a text is on the page, or is gone from it, or for a time; half a minute at most.

        Then wait until so many frames have been drawn: what moves has moved on by then, however busy the machine is.
        """
        desk = self._open_desk()
        patience = desk.options.timeout_s if text or gone else 0.0
        limit = min(patience if seconds is None else seconds, _LONGEST_WAIT_S)

        async def work() -> Done:
            loop = asyncio.get_running_loop()
            end = loop.time() + limit
            while text or gone:
                lines = (await desk.view()).lines
                if (not text or _holds(lines, text)) and not (gone and _holds(lines, gone)):
                    return await desk.done()
                if loop.time() >= end:
                    what = (
                        f"{text!r} has not appeared" if text and not _holds(lines, text) else f"{gone!r} is still there"
                    )
                    raise ToolFailed("; ".join(filter(None, (f"{what} after {limit:g} s", desk.tabs.told()))))
                await asyncio.sleep(_BETWEEN_LOOKS_S)
            await asyncio.sleep(limit)
            return await desk.act(lambda tab: drawn(tab, frames)) if frames else await desk.done()

        return self._run(work())

    def screenshot(self, *, marks: bool = False) -> bytes:
        """A PNG of what is visible; with `marks`, every element that can be acted on in a box with its reference."""
        desk = self._open_desk()

        async def work() -> bytes:
            await desk.tabs.ensure()
            tab = desk.tabs.front
            if tab.dialog is not None:
                raise ToolFailed(f"a dialog is open: {describe(tab.dialog)}; answer it with handle_dialog first")
            try:
                if marks:
                    await desk.guard(tab, look(tab))
                    return await desk.guard(tab, marked(tab, await hands.marks(tab)))
                return await desk.guard(tab, tab.page.screenshot())
            except Interrupted:
                raise ToolFailed("the page could not be photographed; look at it again") from None

        return self._run(work())

    def _act(self, work: Callable[[Tab], Awaitable[str | None]]) -> Done:
        return self._run(self._open_desk().act(work))

    def _open_desk(self) -> Desk:
        raise NotImplementedError

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError


def _holds(lines: tuple[str, ...], text: str) -> bool:
    wanted = " ".join(text.split()).lower()
    return any(wanted in line.lower() for line in lines)
