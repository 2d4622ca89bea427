"""Pages where the right thing has to be found and clicked."""

from __future__ import annotations

import re

from agent_envs.envs.web.oracles.playing import Player, solves
from agent_envs.envs.web.oracles.reading import Item


def quoted(player: Player, number: int = 0) -> str:
    """What stands in quotes in the task."""
    return str(re.findall(r'"([^"]*)"', player.asked)[number])


@solves("click-button", "unicode-test", "click-dialog-2")
def press_the_named_button(player: Player) -> None:
    """The name is in quotes; `x` is what closes a dialog."""
    name = quoted(player)
    player.button("Close" if name == "x" else name)


@solves("click-dialog")
def close_the_dialog(player: Player) -> None:
    """By its x."""
    player.button("Close")


@solves("click-test")
def press_the_button(player: Player) -> None:
    """There is only one."""
    player.click(player.page.one("button"))


@solves("click-test-2", "click-test-transfer", "click-button-sequence")
def press_capitals(player: Player) -> None:
    """Buttons named ONE and TWO, in the order of the task."""
    for name in re.findall(r"\b(ONE|TWO)\b", player.asked):
        player.button(name)


@solves("click-link")
def click_the_link(player: Player) -> None:
    """A span that says it is a link by its looks."""
    player.click(player.page.one("clickable", quoted(player)))


@solves("focus-text")
def focus(player: Player) -> None:
    """The only field."""
    player.click(player.page.one("textbox"))


@solves("focus-text-2")
def focus_one(player: Player) -> None:
    """The nth field."""
    player.click(player.page.all("textbox")[ordinal(player.asked) - 1])


def ordinal(text: str, number: int = 0) -> int:
    """A number such as 3rd."""
    return int(re.findall(r"(\d+)(?:st|nd|rd|th)\b", text)[number])


@solves("click-tab")
def open_the_tab(player: Player) -> None:
    """By its label."""
    wanted = re.search(r"Tab #\d+", player.asked)
    assert wanted
    player.click(player.page.one("tab", wanted[0]))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def find_the_link_behind_a_tab(player: Player) -> None:
    """Look behind each tab until the link is there."""
    wanted = quoted(player)
    for tab in player.page.all("tab"):
        player.click(tab)
        if _click_if_there(player, wanted):
            return


def _click_if_there(player: Player, name: str) -> bool:
    found = player.page.all("clickable", name)
    if found:
        player.click(found[0])
    return bool(found)


@solves("click-collapsible", "click-collapsible-nodelay")
def expand_and_submit(player: Player) -> None:
    """One section."""
    player.click(next(tab for tab in player.page.all("tab") if tab.name))
    player.button("Submit")


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def find_the_link_in_a_section(player: Player) -> None:
    """Expand each section until the link is there."""
    wanted = quoted(player)
    for section in [tab.name for tab in player.page.all("tab") if tab.name]:
        player.click(player.page.one("tab", section))
        if _click_if_there(player, wanted):
            return


@solves("click-menu")
def follow_the_menu(player: Player) -> None:
    """Each level opens the next when the mouse is over it."""
    *way, last = player.asked.removeprefix("Select ").split(">")
    for name in way:
        player.act("hover", element_id=player.page.one("menuitem", name).ref)
        player.act("wait_for", text=last if name == way[-1] else "", seconds=1)
    player.click(player.page.one("menuitem", last))


@solves("click-color")
def click_the_colour(player: Player) -> None:
    """Boxes are described by their colour."""
    wanted = player.asked.removeprefix("Click on the ").partition(" ")[0]
    player.click(next(box for box in player.page.all("clickable") if box.has(wanted)))


@solves("click-shades")
def click_the_shades(player: Player) -> None:
    """The channel that is strongest gives a shade its name."""
    wanted = ["red", "green", "blue"].index(player.asked.removeprefix("Select all the shades of ").partition(" ")[0])
    for box in [box for box in player.page.all("clickable") if _strongest(box) == wanted]:
        player.click(box)
    player.button("Submit")


def _strongest(box: Item) -> int:
    code = re.search(r"#([0-9a-f]{6})", box.said)
    channels = [int(code[1][i : i + 2], 16) for i in (0, 2, 4)] if code else [0, 0, 0]
    return channels.index(max(channels))


@solves("navigate-tree")
def walk_the_tree(player: Player) -> None:
    """Open folders until the name is there."""
    wanted = quoted(player)
    opened: set[str] = set()
    while not player.page.all("clickable", wanted):
        folder = next(
            one for one in player.page.all("clickable") if "expandable-hitarea" in one.said and one.ref not in opened
        )
        opened.add(folder.ref)
        player.click(folder)
    player.click(player.page.one("clickable", wanted))


@solves("buy-ticket")
def buy(player: Player) -> None:
    """The price stands on the button; what else is said of a ticket stands before it."""
    offers = []
    before: list[str] = []
    for item in player.page.items:
        if item.role == "text":
            before.append(item.name)
        elif item.name.startswith("Book"):
            offers.append((_measure(player.asked, before, item), item))
            before = []
    pick_least = not re.search(r"longest|most expensive|latest", player.asked)
    player.click((min if pick_least else max)(offers, key=lambda offer: offer[0])[1])


def _measure(asked: str, said: list[str], button: Item) -> int:
    """What the offers are compared by: the price, or the minutes that it takes."""
    if re.search(r"cheap|expensive", asked):
        return int(re.sub(r"\D", "", button.name))
    time = next(found for text in said if (found := re.search(r"(\d+)h (\d+)m", text)))
    return int(time[1]) * 60 + int(time[2])


@solves("find-greatest")
def pick_the_greatest(player: Player) -> None:
    """Cards with numbers."""
    cards = [card for card in player.page.all("clickable") if card.name.lstrip("-").isdigit()]
    player.click(max(cards, key=lambda card: int(card.name)))
    player.button("Submit")


@solves("generate-number")
def generate(player: Player) -> None:
    """Until the number fits."""
    found = re.search(r"(greater|less|even|odd)(?: than (-?\d+))?", player.asked)
    assert found
    for _ in range(200):
        player.button("Generate")
        number = int(player.page.texts()[0])
        bound = int(found[2] or 0)
        fits = {"greater": number > bound, "less": number < bound, "even": number % 2 == 0, "odd": number % 2 == 1}
        if fits[found[1]]:
            break
    player.button("Submit")


@solves("phone-book")
def find_the_contact(player: Player) -> None:
    """Turn the pages of the book."""
    found = re.search(r"Find (.+) in the contact book and click on their (.+)\.", player.asked)
    assert found
    while not player.page.all("h2", found[1]):
        player.click(player.page.one("link", ">"))
    label = {"phone number": "Phone:", "email": "Email:", "address": "Address:"}[found[2]]
    player.click(player.page.after(label, "clickable"))


@solves("stock-market")
def buy_low(player: Player) -> None:
    """Wait until the price has come down."""
    bound = float(player.asked.rpartition("$")[2].rstrip("."))
    for _ in range(400):
        price = next((text.rpartition("$")[2] for text in player.page.texts() if "$" in text), "")
        if price == "undefined0":
            # The page has no more of them after ten seconds.
            return
        if price and float(price) < bound:
            player.button("Buy")
        player.act("wait_for", seconds=0.2)
