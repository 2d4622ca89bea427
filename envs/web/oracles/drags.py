"""Pages where something is dragged."""

from __future__ import annotations

import re

from agent_envs.envs.web.oracles.clicks import ordinal
from agent_envs.envs.web.oracles.playing import Player, solves
from agent_envs.envs.web.oracles.reading import Item


def _items(player: Player) -> list[Item]:
    return [item for item in player.page.all("clickable") if item.name and item.ref]


@solves("drag-items")
def drag_up_or_down(player: Player) -> None:
    """An item of a list onto the place of another one."""
    items = _items(player)
    name, _, where = player.asked.removeprefix("Drag ").partition(" ")
    index = next(i for i, item in enumerate(items) if item.name == name)
    ways = {"to the top.": -index, "to the bottom.": len(items) - 1 - index, "down by": 1, "up by": -1}
    steps = next((steps for way, steps in ways.items() if where.startswith(way)), None)
    _drop(player, items, index, ordinal(where) - 1 if steps is None else index + steps)


def _drop(player: Player, items: list[Item], index: int, target: int) -> None:
    player.act("drag", element_id=items[index].ref, to=items[target].ref)


@solves("drag-items-grid")
def drag_in_a_grid(player: Player) -> None:
    """Three rows of three."""
    items = _items(player)
    name, _, where = player.asked.removeprefix("Drag ").rstrip(".").partition(" ")
    index = next(i for i, item in enumerate(items) if item.name == name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    if where in steps:
        target = index + steps[where]
    else:
        words = where.removeprefix("to the ").split()
        row = 0 if "top" in words else 2 if "bottom" in words else 1
        column = 0 if "left" in words else 2 if "right" in words else 1
        target = row * 3 + column
    _drop(player, items, index, target)


@solves("drag-sort-numbers")
def sort_numbers(player: Player) -> None:
    """Each number from the least on to its place."""
    count = len(_items(player))
    for place in range(count):
        items = _items(player)
        numbers = [int(item.name) for item in items]
        least = numbers.index(min(numbers[place:]), place)
        if least != place:
            _drop(player, items, least, place)
    player.button("Submit")


@solves("drag-box")
def drag_into_the_box(player: Player) -> None:
    """The small one onto the large one."""
    player.act("drag", element_id=player.page.one("clickable", "s").ref, to=player.page.one("clickable", "L").ref)
    player.button("Submit")


_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


@solves("drag-circle", "drag-single-shape")
def drag_a_shape(player: Player) -> None:
    """Some way to one side."""
    way = re.search(r"\b(up|down|left|right)\b", player.asked)
    assert way
    dx, dy = _WAYS[way[1]]
    shape = next(item for item in player.page.items if item.role in ("circle", "rect", "polygon", "text") and item.ref)
    player.act("drag", element_id=shape.ref, dx=25 * dx, dy=25 * dy)
    player.button("Submit")


@solves("drag-shapes")
def drag_shapes(player: Player) -> None:
    """Those of a kind into the box."""
    kind = re.search(r"all (\w+)s into", player.asked)
    assert kind
    role = {"rectangle": "rect", "circle": "circle", "triangle": "polygon"}[kind[1]]
    box = max(player.page.all("rect"), key=lambda item: item.size)
    for shape in [item for item in player.page.all(role) if item.ref != box.ref]:
        _move(player, shape, box)
    player.button("Submit")


def _move(player: Player, shape: Item, box: Item) -> None:
    dx, dy = (int(to - at) for at, to in zip(shape.centre, box.centre, strict=True))
    player.act("drag", element_id=shape.ref, dx=dx, dy=dy)


@solves("drag-shapes-2")
def drag_shapes_apart(player: Player) -> None:
    """Those that are described into one box, all others into the other one."""
    found = re.search(r"Drag all (.+?) into the (left|right) box", player.asked)
    assert found
    boxes = sorted((item for item in player.page.all("rect") if item.size[0] > 40), key=lambda item: item.at)
    shapes = [item for item in player.page.items if item.role in ("rect", "circle", "polygon") and item.ref]
    for shape in [item for item in shapes if item not in boxes]:
        left = _fits(shape, found[1]) == (found[2] == "left")
        box = boxes[0 if left else 1]
        _move(player, shape, box)
    player.button("Submit")


def _fits(shape: Item, said: str) -> bool:
    kind = {"rect": "rectangles", "circle": "circles", "polygon": "triangles"}[shape.role]
    return kind in said.split() or shape.has(said.split()[0])
