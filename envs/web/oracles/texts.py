"""Pages where something is read, changed and typed."""

from __future__ import annotations

import re
from itertools import pairwise

from agent_envs.envs.web.oracles.clicks import ordinal, quoted
from agent_envs.envs.web.oracles.playing import Player, solves


def _answer(player: Player, text: str) -> None:
    player.type(player.page.all("textbox")[-1], text)
    player.button("Submit")


@solves("enter-text", "enter-text-dynamic")
def enter(player: Player) -> None:
    """What is in quotes."""
    _answer(player, quoted(player))


@solves("enter-text-2")
def enter_in_case(player: Player) -> None:
    """In upper or in lower case."""
    text = quoted(player)
    _answer(player, text.upper() if "upper" in player.asked else text.lower())


@solves("enter-password")
def enter_twice(player: Player) -> None:
    """The same in both fields."""
    for field in player.page.all("textbox"):
        player.type(field, quoted(player))
    player.button("Submit")


@solves("login-user", "login-user-popup")
def log_in(player: Player) -> None:
    """Two fields; what pops up meanwhile is sent away."""
    for number in (0, 1):
        player.click(player.page.all("textbox")[number])
        _close_popup(player)
        player.type(player.page.all("textbox")[number], quoted(player, number))
    player.click(player.page.all("button")[0])


def _close_popup(player: Player) -> None:
    if player.page.all("button", "Cancel"):
        player.button("Cancel")


@solves("copy-paste")
def copy(player: Player) -> None:
    """From the area to the field, in whichever order they stand."""
    area, field = sorted(player.page.all("textbox"), key=lambda item: not item.value)
    player.type(field, area.value)
    player.button("Submit")


@solves("copy-paste-2")
def copy_one(player: Player) -> None:
    """From the nth area."""
    _answer(player, player.page.all("textbox")[ordinal(player.asked) - 1].value)


@solves("text-transform")
def type_the_shown(player: Player) -> None:
    """The text is drawn askew."""
    _answer(player, player.page.texts()[0])


@solves("find-word")
def find_the_word(player: Player) -> None:
    """Without what follows it."""
    words = player.page.texts()[0].split()
    _answer(player, re.sub(r"[.,]", "", words[ordinal(player.asked) - 1]))


@solves("scroll-text")
def last_word(player: Player) -> None:
    """Of an area that scrolls."""
    _answer(player, player.page.one("textbox").value.split()[-1])


@solves("scroll-text-2")
def scroll(player: Player) -> None:
    """To the end that is named."""
    end = "Control+End" if "bottom" in player.asked else "Control+Home"
    player.press(end, player.page.one("textbox"))
    player.button("Submit")


@solves("read-table", "read-table-2")
def read_the_table(player: Player) -> None:
    """Labels beside values."""
    cells = [(item.line, item.name) for item in player.page.all("text")]
    values = {label: value for (line, label), (also, value) in pairwise(cells) if line == also}
    asked = re.search(r"value of (.+?) into", player.asked)
    labels = [asked[1]] if asked else [text[:-1] for text in player.page.texts() if text.endswith(":")]
    for number, label in enumerate(labels):
        player.type(player.page.all("textbox")[number], values[label])
    player.button("Submit")


@solves("simple-arithmetic")
def calculate(player: Player) -> None:
    """Two numbers."""
    a, sign, b = player.page.texts()[0].split()[:3]
    _answer(player, str({"+": int(a) + int(b), "-": int(a) - int(b), "x": int(a) * int(b)}[sign]))


@solves("simple-algebra")
def solve(player: Player) -> None:
    """One unknown, on either side of the sign."""
    a, sign, b, _, result = player.page.texts()[0].split()
    total = int(result)
    if a == "x":
        answer = total - int(b) if sign == "+" else total + int(b)
    else:
        answer = total - int(a) if sign == "+" else int(a) - total
    _answer(player, str(answer))


@solves("guess-number")
def guess(player: Player) -> None:
    """By halves."""
    low, high = 0, 9
    while True:
        number = (low + high) // 2
        player.type(player.page.one("spinbutton"), str(number))
        player.button("Submit")
        if "higher" in player.observation:
            low = number + 1
        else:
            high = number - 1


@solves("multi-layouts", "multi-orderings")
def search_movies(player: Player) -> None:
    """Fields under labels that change, before or behind them."""
    found = re.search(r"Search for (.+) movies directed by (.+) from year (\d+)", player.asked)
    assert found
    wanted = {"genre": found[1], "director": found[2], "year": found[3], "date": found[3]}
    fields = player.page.all("textbox")
    labels = [field.name for field in fields]
    if not all(labels):
        labels = [text for text in player.page.texts() if any(key in text.lower() for key in wanted)][-3:]
    for field, label in zip(fields, labels, strict=True):
        player.type(field, next(text for key, text in wanted.items() if key in label.lower()))
    player.click(next(one for one in player.page.items if one.ref and one.name in ("Search", "Submit", "Go", "Go!")))


@solves("search-engine")
def search(player: Player) -> None:
    """The nth result, three of them to a page."""
    player.type(player.page.one("textbox"), quoted(player))
    player.button("Search")
    page, number = divmod(ordinal(player.asked) - 1, 3)
    if page:
        player.click(player.page.one("link", str(page + 1)))
    player.click(player.page.all("link")[number])


@solves("use-autocomplete", "use-autocomplete-nodelay")
def complete(player: Player) -> None:
    """Choose the suggestion with the right end."""
    start, *end = re.findall(r'"([^"]*)"', player.asked)
    player.type(player.page.one("textbox"), start)
    player.act("wait_for", text="available", seconds=2)
    fits = [
        one
        for one in player.page.all("text")
        if one.name.startswith(start) and one.name.endswith(end[0] if end else "")
    ]
    name = next(one for one in fits if one.name != start)
    player.click(f'text "{name.name}"')
    player.button("Submit")


@solves("terminal")
def delete_a_file(player: Player) -> None:
    """By its extension."""
    player.type(player.page.one("textbox"), "ls", submit=True)
    player.act("wait_for", seconds=0.5)
    screen = next(one.name for one in player.page.items if "user$" in one.name)
    files = screen.rpartition("user$ ls")[2].partition("user$")[0].split()
    found = re.search(r"ending with the extension (\.\w+)", player.asked)
    name = next(file for file in files if (file.endswith(found[1]) if found else "." not in file))
    player.type(player.page.one("textbox"), f"rm {name}", submit=True)


@solves("text-editor")
def style_a_text(player: Player) -> None:
    """Select it, and press what styles it."""
    found = re.search(r"(?:give|make) (?:the text )?(.+) the (?:style|color) (\w+)", player.asked)
    assert found, player.asked
    style, text = found[2], "" if found[1] == "everything" else found[1]
    player.act("select_text", element_id=player.page.one("textbox").ref, text=text)
    if style in ("bold", "italic", "italics", "underline", "underlined"):
        mark = "ql-" + {"italics": "italic", "underlined": "underline"}.get(style, style)
        player.click(next(one for one in player.page.items if mark in one.said))
    else:
        player.click(next(one for one in player.page.items if "ql-picker-label" in one.said))
        player.click(
            next(
                one for one in player.page.items if "ql-picker-item" in one.said and one.has(_SHADES.get(style, style))
            )
        )
    player.button("Submit")


_SHADES = {"red": "#e60000", "orange": "#ff9900", "green": "#008a00", "blue": "#0066cc", "purple": "#9933ff"}


@solves("highlight-text", "highlight-text-2")
def highlight(player: Player) -> None:
    """A paragraph, by its text."""
    number = ordinal(player.asked) if "1st" in player.asked or re.search(r"\d(nd|rd|th)", player.asked) else 1
    player.act("select_text", element_id=f'text "{player.page.texts()[number - 1]}"')
    player.button("Submit")


@solves("use-colorwheel")
def type_a_colour(player: Player) -> None:
    """The field takes the code of the colour."""
    name = player.asked.removeprefix("Select ").partition(" ")[0]
    player.type(player.page.one("textbox"), _CODES[name])
    player.press("Tab")
    player.button("Submit")


_CODES = {
    "aqua": "00FFFF",
    "black": "000000",
    "blue": "0000FF",
    "cyan": "00FFFF",
    "gold": "FFD700",
    "gray": "808080",
    "green": "008000",
    "grey": "808080",
    "lime": "00FF00",
    "magenta": "FF00FF",
    "maroon": "800000",
    "navy": "000080",
    "olive": "808000",
    "orange": "FFA500",
    "pink": "FFC0CB",
    "purple": "800080",
    "red": "FF0000",
    "silver": "C0C0C0",
    "teal": "008080",
    "violet": "EE82EE",
    "white": "FFFFFF",
    "yellow": "FFFF00",
}


@solves("sign-agreement")
def sign(player: Player) -> None:
    """Read to the end, sign, and agree; or cancel."""
    if "Click the cancel button" in player.asked:
        player.button("Cancel")
    area = player.page.one("textbox")
    for _ in range(100):
        if not player.page.all("textbox")[1].has("disabled"):
            break
        player.act("scroll", direction="down", element_id=area.ref)
    player.type(player.page.all("textbox")[1], quoted(player))
    player.button(quoted(player, 1))
