"""Pages where boxes are checked, options chosen, sliders moved, dates picked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_envs.envs.web.oracles.clicks import ordinal, quoted
from agent_envs.envs.web.oracles.playing import Player, solves
from agent_envs.envs.web.oracles.reading import Item


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def check_boxes(player: Player) -> None:
    """The names are listed; nothing means none of them."""
    wanted = player.asked.removeprefix("Select ").removesuffix(" and click Submit.")
    for name in [] if wanted == "nothing" else wanted.split(", "):
        player.act("check", element_id=player.page.one("checkbox", name).ref)
    player.button("Submit")


@solves("click-option")
def choose_one(player: Player) -> None:
    """A radio button."""
    name = player.asked.removeprefix("Select ").removesuffix(" and click Submit.")
    player.act("check", element_id=player.page.one("radio", name).ref)
    player.button("Submit")


@solves("choose-list")
def choose_from_list(player: Player) -> None:
    """One option."""
    name = player.asked.removeprefix("Select ").removesuffix(" from the list and click Submit.")
    player.act("select_option", element_id=player.page.one("combobox").ref, options=[name])
    player.button("Submit")


@solves("click-scroll-list")
def choose_several(player: Player) -> None:
    """Several options."""
    names = player.asked.removeprefix("Select ").removesuffix(" from the scroll list and click Submit.").split(", ")
    player.act("select_option", element_id=player.page.one("listbox").ref, options=names)
    player.button("Submit")


@solves("click-widget")
def click_a_widget(player: Player) -> None:
    """Kinds of widgets."""
    wanted = quoted(player)
    if wanted in ("button", "radio", "checkbox"):
        player.click(player.page.one(wanted))
    multiline = wanted == "textarea"
    player.click(next(field for field in player.page.all("textbox") if field.has("multiline") == multiline))


@solves("use-slider", "use-slider-2")
def slide(player: Player) -> None:
    """Arrow keys move the handle by one."""
    wanted = [int(number) for number in re.findall(r"-?\d+", player.asked)]
    for index, number in enumerate(wanted):
        move_slider(player, index, number)
    player.button("Submit")


def move_slider(player: Player, index: int, wanted: int) -> None:
    """Move the nth slider, whose value stands after it, to a value."""
    for _ in range(200):
        handle = _handles(player)[index]
        now = int(_texts_after(player, handle)[0])
        if now == wanted:
            return
        player.press("ArrowRight" if now < wanted else "ArrowLeft", handle, times=abs(wanted - now))


def _handles(player: Player) -> list[Item]:
    return [item for item in player.page.items if "ui-slider-handle" in item.said]


def _texts_after(player: Player, item: Item) -> list[str]:
    at = player.page.items.index(item)
    return [one.name for one in player.page.items[at:] if one.role == "text"]


@solves("use-spinner")
def spin(player: Player) -> None:
    """A number field that takes no keys but the arrows."""
    found = re.search(r"-?\d+", player.asked)
    assert found
    number = int(found[0])
    player.press("ArrowUp" if number > 0 else "ArrowDown", player.page.one("spinbutton"), times=abs(number))
    player.button("Submit")


@solves("form-sequence")
def sequence_1(player: Player) -> None:
    """A slider and a check box."""
    number = re.search(r"Select (-?\d+)", player.asked)
    assert number
    move_slider(player, 0, int(number[1]))
    player.act("check", element_id=player.page.all("checkbox")[ordinal(player.asked) - 1].ref)
    player.button("Submit")


@solves("form-sequence-2")
def sequence_2(player: Player) -> None:
    """A radio button and a field."""
    player.act("check", element_id=player.page.all("radio")[ordinal(player.asked) - 1].ref)
    player.type(player.page.all("textbox")[ordinal(player.asked, 1) - 1], quoted(player))
    player.button("Submit")


@solves("form-sequence-3")
def sequence_3(player: Player) -> None:
    """A list that is made of parts, and a button."""
    found = re.search(r"Choose (.+) from the dropdown", player.asked)
    assert found
    player.click(player.page.one("clickable", "▾"))
    player.click(player.page.one("clickable", found[1]))
    player.button(quoted(player))


@solves("odd-or-even")
def odd_or_even(player: Player) -> None:
    """Two buttons beside each number."""
    items = list(player.page.items)
    for index, item in enumerate(items):
        if item.role == "text" and item.name.lstrip("-").isdigit():
            player.click(items[index - 1 if int(item.name) % 2 else index + 1])
    player.button("Submit")


@solves("order-food")
def order(player: Player) -> None:
    """A plus for each dish, by its name or by its label."""
    found = re.search(r"Order (\d+) items that are (.+)", player.asked)
    names = player.asked.partition("item: ")[2].split(", ")
    pluses = [plus for name, labels, plus in _dishes(player) if (found[2] in labels if found else name in names)]
    for index in range(int(found[1]) if found else len(pluses)):
        player.click(pluses[index % len(pluses)])
    player.button("Order!")


def _dishes(player: Player) -> Iterator[tuple[str, list[str], Item]]:
    name = ""
    labels: list[str] = []
    for item in player.page.items:
        if item.role == "text" and not item.name.isdigit():
            name, labels = item.name, []
        elif item.role == "img":
            labels.append(item.name)
        elif item.name == "+":
            yield name, labels, item


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def pick_a_date(player: Player) -> None:
    """Turn the months back until the one is there."""
    found = re.search(r"(\d+)/(\d+)/(\d+)", player.asked)
    assert found
    player.click(player.page.one("textbox"))
    pick(player, int(found[1]), int(found[2]), int(found[3]))
    player.button("Submit")


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def pick(player: Player, month: int, day: int, year: int) -> None:
    """Pick a day in the calendar that is open."""
    for _ in range(40):
        shown = re.search(rf"\b({'|'.join(_MONTHS)})\W+(\d{{4}})", player.observation)
        assert shown, player.observation
        ahead = (year * 12 + month) - (int(shown[2]) * 12 + _MONTHS.index(shown[1]) + 1)
        if ahead == 0:
            break
        wanted = "Next" if ahead > 0 else "Prev"
        player.click(next(one for one in player.page.items if one.ref and one.name == wanted))
    player.click(next(one for one in player.page.items if one.ref and one.name == str(day)))


@solves("enter-date")
def enter_a_date(player: Player) -> None:
    """A date field takes the order of ISO 8601."""
    found = re.search(r"(\d+)/(\d+)/(\d+)", player.asked)
    assert found
    player.type(player.page.one("date"), f"{found[3]}-{found[1]:0>2}-{found[2]:0>2}")
    player.button("Submit")


@solves("enter-time")
def enter_a_time(player: Player) -> None:
    """A time field takes 24 hours."""
    found = re.search(r"(\d+):(\d+) ([AP])M", player.asked)
    assert found
    hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
    player.type(player.page.one("time"), f"{hour:02}:{found[2]}")
    player.button("Submit")
