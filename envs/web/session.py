"""The agent's tools in a browser. Each acts on what is shown, and shows what there is to see afterwards."""

from __future__ import annotations

from typing import Literal

from agent_envs.envs.web.window import WindowSession

from agent_envs.errors import ToolFailed
from agent_envs.tools import ToolResult, tool

Modifier = Literal["Alt", "Control", "Meta", "Shift"]
_LONGEST_WAIT_S = 30.0


class WebSession(WindowSession):
    """One agent in one browser window."""

    # --- Acting on an element ------------------------------------------------------------------------------------

    @tool
    def click(
        self,
        element_id: str,
        button: Literal["left", "middle", "right"] = "left",
        modifiers: tuple[Modifier, ...] = (),
        double: bool = False,
    ) -> ToolResult:
        """Click an element.

        Args:
            element_id: Its reference, such as `e12`, or its role and name, such as `button "Save"`.
            button: The mouse button.
            modifiers: Keys held down meanwhile.
            double: Whether to click twice.
        """
        return self._after(lambda: self._window.click(element_id, button=button, modifiers=modifiers, double=double))

    @tool
    def type(self, text: str, element_id: str = "", clear: bool = True, submit: bool = False) -> ToolResult:
        """Type text into a field.

        Args:
            text: What to type. Dates as 2026-03-10, times as 14:30, colours as #ff0000.
            element_id: The field, as in `click`; empty means the one that has the focus.
            clear: Whether the text replaces what is there, instead of following it.
            submit: Whether to press Enter afterwards.
        """
        return self._after(lambda: self._window.type(element_id, text, clear=clear, submit=submit))

    @tool
    def press(self, keys: str, element_id: str = "") -> ToolResult:
        """Press a key or a combination of keys.

        Args:
            keys: For instance `Enter`, `Escape`, `ArrowDown`, `Control+a`, `Shift+Tab`.
            element_id: The element that gets the focus first; empty means the one that has it.
        """
        return self._after(lambda: self._window.press(keys, element_id))

    @tool
    def select_option(self, element_id: str, options: tuple[str, ...]) -> ToolResult:
        """Choose in a list box.

        Args:
            element_id: The list box, as in `click`.
            options: The options as they are shown; more than one where the box takes several.
        """
        return self._after(lambda: self._window.select_option(element_id, options))

    @tool
    def check(self, element_id: str) -> ToolResult:
        """Check a check box, or choose a radio button; nothing changes where it is checked already.

        Args:
            element_id: The box, as in `click`.
        """
        return self._after(lambda: self._window.set_checked(element_id, checked=True))

    @tool
    def uncheck(self, element_id: str) -> ToolResult:
        """Uncheck a check box; nothing changes where it is unchecked already.

        Args:
            element_id: The box, as in `click`.
        """
        return self._after(lambda: self._window.set_checked(element_id, checked=False))

    @tool
    def hover(self, element_id: str) -> ToolResult:
        """Move the mouse onto an element.

        Args:
            element_id: The element, as in `click`.
        """
        return self._after(lambda: self._window.hover(element_id))

    @tool
    def drag(self, element_id: str, to: str = "", dx: int = 0, dy: int = 0) -> ToolResult:
        """Drag an element onto another one, or by a distance.

        Args:
            element_id: What is dragged, as in `click`.
            to: The element it is dropped on; empty where a distance is given.
            dx: Pixels to the right.
            dy: Pixels down.
        """
        return self._after(lambda: self._window.drag(element_id, to=to, dx=dx, dy=dy))

    @tool
    def scroll(self, direction: Literal["up", "down", "left", "right"], element_id: str = "") -> ToolResult:
        """Scroll by most of a screen. What is out of sight is shown to you all the same; some pages load more.

        Args:
            direction: Where to.
            element_id: The element that scrolls; empty means the page.
        """
        return self._after(lambda: self._window.scroll(direction, element_id))

    @tool
    def select_text(self, element_id: str, text: str = "") -> ToolResult:
        """Select the text of an element, as dragging the mouse over it does.

        Args:
            element_id: The element, as in `click`.
            text: The part to select; empty means all of it.
        """
        return self._after(lambda: self._window.select_text(element_id, text))

    @tool
    def upload_file(self, element_id: str, name: str, content: str) -> ToolResult:
        """Put a text file into a file field.

        Args:
            element_id: The field, as in `click`.
            name: The name of the file.
            content: Its text.
        """
        return self._after(lambda: self._window.upload_file(element_id, {name: content.encode()}))

    @tool
    def mouse_click(self, x: int, y: int, button: Literal["left", "middle", "right"] = "left") -> ToolResult:
        """Click at a point of the window.

        Args:
            x: Pixels from the left.
            y: Pixels from the top.
            button: The mouse button.
        """
        return self._after(lambda: self._window.mouse_click(x, y, button=button))

    @tool
    def mouse_drag(self, x: int, y: int, to_x: int, to_y: int) -> ToolResult:
        """Press the mouse at one point of the window, move it to another one and release it there.

        Args:
            x: Pixels from the left.
            y: Pixels from the top.
            to_x: The same of the other point.
            to_y: The same of the other point.
        """
        return self._after(lambda: self._window.mouse_drag(x, y, to_x, to_y))

    # --- Going somewhere -----------------------------------------------------------------------------------------

    @tool
    def navigate(self, url: str) -> ToolResult:
        """Go to an address. Only the sites of the task answer.

        Args:
            url: For instance `http://shop.test/cart`.
        """
        return self._after(lambda: self._window.navigate(url))

    @tool
    def go_back(self) -> ToolResult:
        """Go back to the page before this one."""
        return self._after(self._window.go_back)

    @tool
    def go_forward(self) -> ToolResult:
        """Go forward again."""
        return self._after(self._window.go_forward)

    @tool
    def tabs(self, action: Literal["new", "close", "switch"], number: int = 0, url: str = "") -> ToolResult:
        """Open, close or switch to a tab; their numbers are shown where there are several.

        Args:
            action: What to do.
            number: Which tab to close or to switch to, from 1 on; 0 means the present one.
            url: Where a new tab goes.
        """
        if action == "new":
            return self._after(lambda: self._window.new_tab(url))
        act = self._window.close_tab if action == "close" else self._window.switch_tab
        return self._after(lambda: act(number))

    @tool
    def handle_dialog(self, accept: bool, text: str = "") -> ToolResult:
        """Answer the dialog that the page has opened; until then nothing else can be done on it.

        Args:
            accept: Whether to press OK instead of Cancel.
            text: What to enter, where the dialog asks for something.
        """
        return self._after(lambda: self._window.handle_dialog(accept=accept, text=text))

    @tool
    def wait_for(self, text: str = "", gone: str = "", seconds: float = 5.0) -> ToolResult:
        """Wait until a text appears or is gone, or for some time. Pages are settled already when you see them.

        Args:
            text: The text that has to appear.
            gone: The text that has to go.
            seconds: The longest wait, up to 30.
        """
        if not 0 <= seconds <= _LONGEST_WAIT_S:
            raise ToolFailed(f"seconds is {seconds:g}; give a number from 0 to {_LONGEST_WAIT_S:g}")
        return self._after(lambda: self._window.wait_for(text=text, gone=gone, seconds=seconds))

    # --- Looking -------------------------------------------------------------------------------------------------

    @tool
    def find(self, text: str) -> ToolResult:
        """Show the lines of the page that contain a text, wherever on the page they are.

        Args:
            text: What to look for; upper and lower case are the same.
        """
        return self._look(lambda seen: seen.find(text))

    @tool
    def read_more(self, page: int = 1) -> ToolResult:
        """Show the whole page, or the next part of one that is too long to be shown at once.

        Args:
            page: Which part, from 1 on.
        """
        return self._look(lambda seen: seen.full(self._view.chars, page=page))

    # --- The end -------------------------------------------------------------------------------------------------

    @tool
    def submit(self, answer: str = "") -> ToolResult:
        """Say that the task is done. This ends the episode.

        Args:
            answer: The answer, where the task asks for one: the value alone.
        """
        self._answer, self._submitted = answer, True
        return ToolResult("submitted", ends=True)

    @tool
    def report_infeasible(self, reason: str) -> ToolResult:
        """Say that the task cannot be done on these sites. This ends the episode.

        Args:
            reason: Why not.
        """
        self._infeasible = reason or "(no reason given)"
        self._submitted = True
        return ToolResult("reported", ends=True)
