"""Pages with drawings: shapes have a kind, a colour, a size and a place."""

from __future__ import annotations

import re

from agent_envs.envs.web.oracles.playing import Player, solves
from agent_envs.envs.web.oracles.reading import Item


@solves("ascending-numbers")
def count_up(player: Player) -> None:
    """The first click covers the numbers: the places have to be remembered."""
    numbers = [item for item in player.page.all("text") if item.ref and item.name.isdigit()]
    first, *rest = sorted(numbers, key=lambda item: int(item.name))
    player.click(first)
    for number in rest:
        player.click(min(player.page.all("rect"), key=lambda cover: _distance(cover, number)))


def _distance(a: Item, b: Item) -> float:
    return abs(a.centre[0] - b.centre[0]) + abs(a.centre[1] - b.centre[1])


@solves("click-shape")
def click_a_shape(player: Player) -> None:
    """By kind, colour and size; any that fits."""
    wanted = re.sub(r"^Click on an? ", "", player.asked)
    player.click(_shapes(player, wanted)[0])


@solves("count-shape")
def count_shapes(player: Player) -> None:
    """The number is on a button."""
    found = re.search(r"How many (.+?)s? are there", player.asked)
    assert found
    player.button(str(len(_shapes(player, found[1]))))


_KINDS = {
    "rectangle": ("rect",),
    "circle": ("circle",),
    "triangle": ("polygon",),
    "letter": ("text",),
    "digit": ("text",),
}
_LARGE = 15


def _shapes(player: Player, wanted: str) -> list[Item]:
    words = wanted.split()
    return [item for item in player.page.items if item.at != (0, 0) or item.size != (0, 0) if _fits(item, words)]


def _fits(item: Item, words: list[str]) -> bool:
    if item.role not in ("rect", "circle", "polygon", "text") or not item.ref:
        return False
    large = max(item.size) >= (18 if item.role == "text" else _LARGE)
    for word in words:
        kind = word.rstrip("s")
        if word in ("small", "large") and (word == "large") != large:
            return False
        if kind in _KINDS and item.role not in _KINDS[kind]:
            return False
        if kind in ("digit", "letter") and item.name.isdigit() != (kind == "digit"):
            return False
        if word in _COLOURS and not item.has(word):
            return False
        if len(word) == 1 and item.name != word:
            return False
    return True


_COLOURS = {"red", "green", "blue", "aqua", "black", "magenta", "yellow", "cyan", "orange", "purple", "lime", "pink"}


@solves("identify-shape")
def name_a_shape(player: Player) -> None:
    """By its kind."""
    shape = next(item for item in player.page.items if item.role in ("rect", "circle", "polygon", "text") and item.ref)
    letter = "Number" if shape.name.isdigit() else "Letter"
    player.button({"rect": "Rectangle", "circle": "Circle", "polygon": "Triangle", "text": letter}[shape.role])


@solves("grid-coordinate")
def click_the_grid(player: Player) -> None:
    """The middle of the circles is the origin."""
    found = re.search(r"\((-?\d+),(-?\d+)\)", player.asked)
    assert found
    columns = sorted({circle.at[0] for circle in player.page.all("circle")})
    rows = sorted({circle.at[1] for circle in player.page.all("circle")}, reverse=True)
    wanted = columns[int(found[1]) + 2], rows[int(found[2]) + 2]
    player.click(next(circle for circle in player.page.all("circle") if circle.at == wanted))
