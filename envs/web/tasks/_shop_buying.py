"""Tasks at the shop that fill a cart or place an order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from agent_envs.envs.web.sites.shop._categories import categories
from agent_envs.envs.web.sites.shop._shelf import Item, spec_field
from agent_envs.envs.web.tasks._shop_scene import (
    Row,
    Scene,
    changes,
    in_cart,
    narrowed,
    put,
    row,
    show,
    take,
)
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, click, fill, submit

from agent_envs.tools import ToolCall

Held = tuple[Item, Row, int]
"""A product in the cart, its version, and how many."""
Tidied = tuple[str, list[dict[str, Any]], Calls, list[Calls]]
"""What is asked, the rows that change, what to do in the cart, and what not."""
_ONE = "Put one of it (any version) into the cart, and nothing else."


def graphics_cards(random: Chance, level: str) -> Draft:
    """Compare three graphics cards by price and put the best value one into the cart."""
    scene = Scene(random)
    stocked = [one for one in scene.items("graphics-cards") if one.stock]
    three = scene.pick(stocked, 3)
    named = f"The three are {three[0].name}, {three[1].name} and {three[2].name}."
    if level == "hard":
        memory = scene.one(three).specs["Memory"]
        three = sorted((one for one in stocked if one.specs["Memory"] == memory), key=lambda one: one.cents)[:3]
        if len(three) < 3:
            raise Unsuitable
        named = f"The three are the cheapest ones with {memory} of memory that are in stock in at least one version."
    worths: dict[str, tuple[str, Callable[[Item], Fraction]]] = {
        "easy": ("the lowest price", lambda one: Fraction(one.cents)),
        "medium": (
            "the lowest price for a gigabyte of memory",
            lambda one: Fraction(one.cents, _number(one, "Memory")),
        ),
        "hard": (
            "the lowest price for a point of the “Benchmark score” in the specifications",
            lambda one: Fraction(one.cents, _number(one, "Benchmark score")),
        ),
    }
    part, worth = worths[level]
    best, second, third = sorted(three, key=worth)
    if worth(second) < worth(best) * Fraction(101, 100):
        raise Unsuitable
    prompt = (
        "Compare three graphics cards by price and put the best value one into the cart. "
        f"{named} The best value is {part}. {_ONE}"
    )
    compared = tuple(call for one in three for call in (*show(one), click("button", "Add to comparison")))
    calls = (*compared, click("link", "Compare (3)"), click("link", best.name), click("button", "Add to cart"))
    checks = [changes(in_cart(scene.me, [one["id"] for one in scene.versions(best)]))]
    wrong = [(*put(second), submit()), (*put(best), *put(third), submit()), (*compared, submit(best.name))]
    return scene.draft(prompt, checks, (*calls, submit()), wrong)


def cheapest(random: Chance, level: str) -> Draft:
    """Put the cheapest product with some properties into the cart."""
    scene = Scene(random)
    kind = scene.one([one for one in categories() if sum(spec.facet for spec in one.specs) > 1])
    shelf = scene.items(kind.slug)
    example = scene.one(shelf)
    facets = scene.pick([spec for spec in kind.specs if spec.facet], 1 if level == "easy" else 2)
    wanted = {spec.name: example.specs[spec.name] for spec in facets}
    fits = [one for one in shelf if one.stock and all(one.specs[name] == value for name, value in wanted.items())]
    words = " and ".join(f"“{name}: {value}”" for name, value in wanted.items())
    extra = ""
    if level == "hard":
        fits = [one for one in fits if one.stars >= 3.5]
        extra = " and a customer rating of at least 3.5 out of 5"
    fits.sort(key=lambda one: one.cents)
    others = [one for one in shelf if one.stock and one not in fits[:1]]
    if len(fits) < 2 or not others:
        raise Unsuitable
    prompt = (
        f"Find the cheapest of all {kind.name.lower()} with {words} in the specifications{extra} that is in stock in at"
        f" least one version. {_ONE}"
    )
    filters = [(spec_field(name), value) for name, value in wanted.items()]
    found = (*narrowed(scene, kind.slug, filters, sort="cheap"), click("link", fits[0].name))
    checks = [changes(in_cart(scene.me, [one["id"] for one in scene.versions(fits[0])]))]
    least = min(others, key=lambda one: one.cents)
    wrong = [(*put(fits[1]), submit()), (*put(least), submit()), (*put(fits[0], quantity=2), submit())]
    return scene.draft(prompt, checks, (*found, *take(fits[0]), submit()), wrong)


def tidy_cart(random: Chance, level: str) -> Draft:
    """Change what somebody has left in the cart."""
    scene = Scene(random)
    held = []
    for item in scene.pick([one for one in scene.items() if one.stock > 12], 4):
        version = scene.one([one for one in scene.versions(item) if one["stock"] > 4])
        held.append((item, version, random.randrange(1, 4)))
    start = click("link", f"Cart ({sum(quantity for *_, quantity in held)})")
    make = {"easy": _one_out, "medium": _one_more, "hard": _one_of_each}[level]
    prompt, wanted, calls, slips = make(scene, held)
    options = {"cart": [[scene.me, version["id"], quantity] for _, version, quantity in held]}
    solution, *wrong = ((start, *some, submit()) for some in (calls, *slips))
    return scene.draft(prompt, [changes(*wanted)], solution, wrong, options=options)


def _one_out(scene: Scene, held: list[Held]) -> Tidied:
    gone, other, *_ = held
    prompt = f"Remove the {gone[0].name} from the cart, and change nothing else in it."
    return prompt, [_gone(scene, gone)], (_remove(gone),), [(_remove(other),), ()]


def _one_more(scene: Scene, held: list[Held]) -> Tidied:
    more, gone, *_ = held
    quantity = more[2] + 1
    prompt = (
        f"Change the cart so that it has {quantity} x {more[0].name} and no {gone[0].name}; leave the rest as it is."
    )
    right, slip = ((_set(more, number), _remove(gone)) for number in (quantity, quantity + 1))
    return prompt, [_gone(scene, gone), _now(scene, more, quantity)], right, [right[:1], slip]


def _one_of_each(scene: Scene, held: list[Held]) -> Tidied:
    *_, second, first = sorted(held, key=lambda one: one[0].cents * one[2])
    if first[0].cents * first[2] == second[0].cents * second[2]:
        raise Unsuitable
    prompt = (
        "Tidy up my cart: remove the line with the highest sum (price times quantity), and set the quantity of every"
        " other line to 1."
    )

    def tidied(gone: Held) -> Calls:
        return (_remove(gone), *(_set(one, 1) for one in held if one is not gone and one[2] > 1))

    rest = [_now(scene, one, 1) for one in held if one is not first and one[2] > 1]
    if not rest:
        raise Unsuitable
    return prompt, [_gone(scene, first), *rest], tidied(first), [tidied(second), tidied(first)[:1]]


def _held(line: Held) -> str:
    item, version, _ = line
    return f"{item.name}, {version['name']}" if len(item.kind.variants) > 1 else item.name


def _remove(line: Held) -> ToolCall:
    return click("button", f"Remove {_held(line)}")


def _set(line: Held, quantity: int) -> ToolCall:
    return fill("spinbutton", f"Quantity of {_held(line)}", str(quantity), enter=True)


def _gone(scene: Scene, line: Held) -> dict[str, Any]:
    return row("cart_items", "removed", {"owner": scene.me, "variant": line[1]["id"]})


def _now(scene: Scene, line: Held, quantity: int) -> dict[str, Any]:
    return row("cart_items", "changed", {"owner": scene.me, "variant": line[1]["id"], "quantity": quantity})


def _number(item: Item, spec: str) -> int:
    return int(item.specs[spec].split()[0])


TEMPLATES = {
    "cheapest": cheapest,
    "graphics_cards": graphics_cards,
    "tidy_cart": tidy_cart,
}
"""By name."""
